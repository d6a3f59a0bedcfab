//! Parses JSON arguments of scripts within a memory limit.
//!
//! Parsed values need many times the memory of their text, so the size is computed before a value is built.

use super::validation::luau_path;
use crate::functions::{Attachment, JsonValue};
use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Value, value::RawValue};
use std::fmt;

/// The memory in bytes that the values of one argument may need.
const MAX_MEMORY: usize = 48 << 20;

/// The size of a text in bytes below which its values can't exceed the limit.
const SMALL_TEXT: usize = 256 << 10;

/// The memory in bytes of a value, and of an object with its first fields, including the allocator's overhead.
const VALUE_MEMORY: usize = 80;
const OBJECT_MEMORY: usize = 640;

/// Parses a value that must not contain bytes, because it is sent as text. `root` is its name in errors.
pub fn parse_text(json: &JsonValue, root: &str) -> Result<Value, String> {
    let value = parse(&json.text).map_err(|error| format!("{root}: {error}"))?;
    match json.attachments.first() {
        Some(attachment) => Err(contains_bytes(root, attachment, &value)),
        None => Ok(value),
    }
}

/// The error for bytes where only text can be sent.
pub fn contains_bytes(root: &str, attachment: &Attachment, value: &Value) -> String {
    format!(
        "{root}{}: the bytes are not UTF-8; pass base64.encode(bytes) if the function expects base64",
        luau_path(&attachment.pointer, value)
    )
}

/// Parses a value. Returns an error if it would need too much memory.
pub fn parse(json: &RawValue) -> Result<Value, String> {
    let is_small = json.get().len() < SMALL_TEXT;
    let invalid = |error: serde_json::Error| format!("invalid JSON: {error}");
    let Memory(memory) = if is_small { Memory(0) } else { serde_json::from_str(json.get()).map_err(invalid)? };
    if memory > MAX_MEMORY {
        return Err(format!("too many values: they need {} MiB of memory; the limit is {} MiB", memory >> 20, MAX_MEMORY >> 20));
    }
    serde_json::from_str(json.get()).map_err(invalid)
}

/// The memory in bytes that a value would need.
struct Memory(usize);

impl<'de> Deserialize<'de> for Memory {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MemoryVisitor).map(Self)
    }
}

struct MemoryVisitor;

impl<'de> Visitor<'de> for MemoryVisitor {
    type Value = usize;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<usize, E> {
        Ok(VALUE_MEMORY)
    }

    fn visit_bool<E>(self, _: bool) -> Result<usize, E> {
        Ok(VALUE_MEMORY)
    }

    fn visit_i64<E>(self, _: i64) -> Result<usize, E> {
        Ok(VALUE_MEMORY)
    }

    fn visit_u64<E>(self, _: u64) -> Result<usize, E> {
        Ok(VALUE_MEMORY)
    }

    fn visit_f64<E>(self, _: f64) -> Result<usize, E> {
        Ok(VALUE_MEMORY)
    }

    fn visit_str<E>(self, text: &str) -> Result<usize, E> {
        Ok(VALUE_MEMORY + text.len())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<usize, A::Error> {
        let mut memory = VALUE_MEMORY;
        while let Some(Memory(item)) = list.next_element()? {
            memory += item;
            if memory > MAX_MEMORY {
                while list.next_element::<IgnoredAny>()?.is_some() {}
            }
        }
        Ok(memory)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<usize, A::Error> {
        let mut memory = OBJECT_MEMORY;
        while let Some((Memory(key), Memory(value))) = fields.next_entry()? {
            memory += key + value;
        }
        Ok(memory)
    }
}

#[cfg(test)]
mod tests {
    use super::parse;
    use serde_json::value::RawValue;

    #[test]
    fn many_small_values_are_rejected_and_long_texts_are_not() {
        let raw = |text: String| RawValue::from_string(text).unwrap();
        assert!(parse(&raw(format!("\"{}\"", "x,{[".repeat(2_000_000)))).is_ok());
        assert!(parse(&raw(format!("[{}0]", "0,".repeat(100_000)))).is_ok());
        let error = parse(&raw(format!("[{}0]", "{\"\":0},".repeat(1_000_000)))).unwrap_err();
        assert_eq!(error, "too many values: they need 48 MiB of memory; the limit is 48 MiB");
        assert!(parse(&raw("1e999".into())).is_err());
    }
}
