//! JSON of a script's as values, which take many times the memory of their text.

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Value, value::RawValue};
use std::fmt;

/// Bytes that the values of one argument may take in memory.
const MOST: usize = 48 << 20;

/// Bytes of a text whose values can't take that much, whatever they are.
const SMALL: usize = 256 << 10;

/// What a value takes, and what an object takes for its first fields, with what is around them.
const VALUE: usize = 80;
const OBJECT: usize = 640;

/// The value, unless it would take too much memory.
pub fn parse(json: &RawValue) -> Result<Value, String> {
    let is_small = json.get().len() < SMALL;
    let Weight(weight) =
        if is_small { Weight(0) } else { serde_json::from_str(json.get()).map_err(|error| format!("it is not JSON: {error}"))? };
    if weight > MOST {
        return Err(format!("it has too many values: they would take {} MiB, and at most {} are allowed", weight >> 20, MOST >> 20));
    }
    serde_json::from_str(json.get()).map_err(|error| format!("it is not JSON: {error}"))
}

/// Bytes that a value would take.
struct Weight(usize);

impl<'de> Deserialize<'de> for Weight {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Scale).map(Self)
    }
}

struct Scale;

impl<'de> Visitor<'de> for Scale {
    type Value = usize;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<usize, E> {
        Ok(VALUE)
    }

    fn visit_bool<E>(self, _: bool) -> Result<usize, E> {
        Ok(VALUE)
    }

    fn visit_i64<E>(self, _: i64) -> Result<usize, E> {
        Ok(VALUE)
    }

    fn visit_u64<E>(self, _: u64) -> Result<usize, E> {
        Ok(VALUE)
    }

    fn visit_f64<E>(self, _: f64) -> Result<usize, E> {
        Ok(VALUE)
    }

    fn visit_str<E>(self, text: &str) -> Result<usize, E> {
        Ok(VALUE + text.len())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<usize, A::Error> {
        let mut weight = VALUE;
        while let Some(Weight(item)) = list.next_element()? {
            weight += item;
            if weight > MOST {
                while list.next_element::<IgnoredAny>()?.is_some() {}
            }
        }
        Ok(weight)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<usize, A::Error> {
        let mut weight = OBJECT;
        while let Some((Weight(key), Weight(value))) = fields.next_entry()? {
            weight += key + value;
        }
        Ok(weight)
    }
}

#[cfg(test)]
mod tests {
    use super::parse;
    use serde_json::value::RawValue;

    #[test]
    fn many_small_values_are_refused_and_large_texts_are_not() {
        let raw = |text: String| RawValue::from_string(text).unwrap();
        assert!(parse(&raw(format!("\"{}\"", "x,{[".repeat(2_000_000)))).is_ok());
        assert!(parse(&raw(format!("[{}0]", "0,".repeat(100_000)))).is_ok());
        let heavy = parse(&raw(format!("[{}0]", "{\"\":0},".repeat(1_000_000)))).unwrap_err();
        assert_eq!(heavy, "it has too many values: they would take 48 MiB, and at most 48 are allowed");
        assert!(parse(&raw("1e999".into())).is_err());
    }
}
