//! Integers of arguments that the numbers of scripts cannot hold.
//!
//! Numbers are doubles, so a script has an integer beyond 2^53 as a string of digits. Such a string becomes a JSON integer where the schema
//! says so. A number that has lost digits is rejected there.

use super::document::{Document, Node};
use serde_json::{Number, Value};

/// The number of schemas to look at for one value. Nested alternatives multiply.
const MAX_SCHEMAS: usize = 50_000;

/// The depth of nested `allOf`, `anyOf` and `oneOf`.
const MAX_DEPTH: usize = 6;

/// The number of digits of a 64-bit integer, with its sign.
const MAX_DIGITS: usize = 20;

/// Replaces strings of digits with integers wherever the schema at a pointer accepts numbers but no strings. Returns `true` if it replaced one.
pub fn convert_digits(document: &Document, pointer: &str, value: &mut Value) -> bool {
    let Some(schema) = document.at(pointer) else { return false };
    let mut converted = false;
    let mut convert = |kinds: Kinds, value: &mut Value, _: &str| {
        if let Value::String(text) = value
            && kinds.number
            && !kinds.string
            && let Some(number) = parse_digits(text)
        {
            *value = Value::Number(number);
            converted = true;
        }
        Ok(())
    };
    let walk = Walk { schemas_left: MAX_SCHEMAS, path: String::new(), visits_alternatives: true, visit: &mut convert };
    // The visitor returns no error.
    walk.run(schema, value).is_ok() && converted
}

/// Returns an error if the value has an inexact number where the schema at a pointer accepts integers only. The path in it starts with `root`.
pub fn check_exact(document: &Document, pointer: &str, value: &mut Value, root: &str) -> Result<(), String> {
    let Some(schema) = document.at(pointer).filter(|_| has_inexact(value)) else { return Ok(()) };
    let mut check = |kinds: Kinds, value: &mut Value, path: &str| {
        if kinds.integer_only && is_inexact(value) {
            return Err(format!(
                "{path}: {value} has lost digits, because numbers are exact up to 2^53 only; pass the integer as a string"
            ));
        }
        Ok(())
    };
    Walk { schemas_left: MAX_SCHEMAS, path: root.to_owned(), visits_alternatives: false, visit: &mut check }.run(schema, value)
}

/// Returns the integer of a text as JSON writes it, if it fits into 64 bits.
fn parse_digits(text: &str) -> Option<Number> {
    if text.len() > MAX_DIGITS {
        return None;
    }
    let number = text.parse::<i64>().map(Number::from).or_else(|_| text.parse::<u64>().map(Number::from)).ok()?;
    (number.to_string() == text).then_some(number)
}

/// Returns `true` for an integer that no double equals. A script has no such number, so this one was rounded when it was written.
fn is_inexact(value: &Value) -> bool {
    let Value::Number(number) = value else { return false };
    let magnitude = number.as_u64().or_else(|| number.as_i64().map(i64::unsigned_abs)).unwrap_or(0);
    magnitude != 0 && magnitude.leading_zeros() + magnitude.trailing_zeros() + f64::MANTISSA_DIGITS < u64::BITS
}

fn has_inexact(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(has_inexact),
        Value::Object(fields) => fields.values().any(has_inexact),
        other => is_inexact(other),
    }
}

/// The kinds of scalars that a schema accepts.
#[derive(Clone, Copy)]
struct Kinds {
    number: bool,
    string: bool,
    integer_only: bool,
}

impl Kinds {
    const ANY: Self = Self { number: true, string: true, integer_only: false };

    fn of_types(types: &[&str]) -> Self {
        let has = |kind: &str| types.contains(&kind);
        Self { number: has("integer") || has("number"), string: has("string"), integer_only: has("integer") && !has("number") }
    }

    fn or(self, other: Self) -> Self {
        Self {
            number: self.number || other.number,
            string: self.string || other.string,
            integer_only: (self.integer_only || !self.number) && (other.integer_only || !other.number),
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            number: self.number && other.number,
            string: self.string && other.string,
            integer_only: self.integer_only || other.integer_only,
        }
    }
}

/// Visits the scalars of a value with the schemas that describe them.
struct Walk<'v> {
    schemas_left: usize,
    path: String,
    /// Visits tables with each of the alternatives that could describe them.
    visits_alternatives: bool,
    visit: &'v mut dyn FnMut(Kinds, &mut Value, &str) -> Result<(), String>,
}

impl Walk<'_> {
    fn run(mut self, schema: Node<'_>, value: &mut Value) -> Result<(), String> {
        self.walk(schema, value, MAX_DEPTH)
    }

    fn walk(&mut self, schema: Node<'_>, value: &mut Value, depth: usize) -> Result<(), String> {
        let Some(schema) = self.enter(schema) else { return Ok(()) };
        if !value.is_array() && !value.is_object() {
            let kinds = self.kinds(&schema, depth);
            return (self.visit)(kinds, value, &self.path);
        }
        if depth > 0 {
            let keywords: &[&str] = if self.visits_alternatives { &["allOf", "anyOf", "oneOf"] } else { &["allOf"] };
            for part in keywords.iter().filter_map(|keyword| schema.get(keyword)).flat_map(|parts| parts.members()) {
                self.walk(part.1, value, depth - 1)?;
            }
        }
        let length = self.path.len();
        match value {
            Value::Array(items) => {
                let (prefix, rest) = (schema.get("prefixItems"), schema.get("items"));
                for (index, item) in items.iter_mut().enumerate() {
                    let own = prefix.as_ref().and_then(|prefix| prefix.get(&index.to_string()));
                    let Some(schema) = own.or_else(|| rest.clone()) else { break };
                    self.path.push_str(&format!("[{}]", index + 1));
                    self.walk(schema, item, MAX_DEPTH)?;
                    self.path.truncate(length);
                }
            }
            Value::Object(fields) => {
                let (properties, others) = (schema.get("properties"), schema.get("additionalProperties"));
                for (name, field) in fields {
                    let own = properties.as_ref().and_then(|properties| properties.get(name));
                    let Some(schema) = own.or_else(|| others.clone()) else { continue };
                    self.path.push('.');
                    self.path.push_str(name);
                    self.walk(schema, field, MAX_DEPTH)?;
                    self.path.truncate(length);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Follows references. Returns `None` after too many schemas.
    fn enter<'a>(&mut self, schema: Node<'a>) -> Option<Node<'a>> {
        self.schemas_left = self.schemas_left.checked_sub(1)?;
        schema.resolve().ok()
    }

    fn kinds(&mut self, schema: &Node<'_>, depth: usize) -> Kinds {
        match schema.value.get("type") {
            Some(Value::String(kind)) => return Kinds::of_types(&[kind.as_str()]),
            Some(Value::Array(kinds)) => return Kinds::of_types(&kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>()),
            _ => {}
        }
        let mut kinds = Kinds::ANY;
        for keyword in ["allOf", "anyOf", "oneOf"].iter().filter(|_| depth > 0) {
            let Some(parts) = schema.get(keyword) else { continue };
            let parts: Vec<Kinds> = parts
                .members()
                .into_iter()
                .map(|(_, part)| self.enter(part).map_or(Kinds::ANY, |part| self.kinds(&part, depth - 1)))
                .collect();
            let combine = if *keyword == "allOf" { Kinds::and } else { Kinds::or };
            kinds = parts.into_iter().reduce(combine).map_or(kinds, |parts| kinds.and(parts));
        }
        kinds
    }
}

#[cfg(test)]
mod tests {
    use super::{check_exact, convert_digits};
    use crate::sdk::document::Document;
    use serde_json::{Value, json};

    fn converted(schema: Value, mut value: Value) -> Value {
        convert_digits(&Document::new(schema), "", &mut value);
        value
    }

    #[test]
    fn strings_of_digits_become_integers_where_the_schema_has_no_string() {
        let integer = || json!({ "type": "integer" });
        for (text, expected) in [
            ("9007199254740993", json!(9_007_199_254_740_993_u64)),
            ("-9223372036854775808", json!(i64::MIN)),
            ("18446744073709551615", json!(u64::MAX)),
            ("0", json!(0)),
        ] {
            assert_eq!(converted(integer(), json!(text)), expected);
        }
        for text in ["", "-", "-0", "+1", "007", "1.0", "1e3", " 1", "18446744073709551616", "99999999999999999999999999", "0x10"] {
            assert_eq!(converted(integer(), json!(text)), json!(text));
        }
        for schema in
            [json!({}), json!({ "type": ["integer", "string"] }), json!({ "anyOf": [integer(), { "type": "string" }] }), json!(true)]
        {
            assert_eq!(converted(schema, json!("1")), json!("1"));
        }
        for schema in [
            json!({ "type": ["integer", "null"] }),
            json!({ "type": "number" }),
            json!({ "oneOf": [integer(), { "type": "null" }] }),
            json!({ "allOf": [{ "description": "An id" }, { "$ref": "#/$defs/Id" }], "$defs": { "Id": integer() } }),
        ] {
            assert_eq!(converted(schema, json!("1")), json!(1));
        }
    }

    #[test]
    fn nested_values_are_converted_by_their_own_schemas() {
        let schema = json!({
            "properties": { "ids": { "items": { "$ref": "#/$defs/Id" } }, "zip": { "type": "string" }, "pair": { "prefixItems": [{ "type": "string" }, { "$ref": "#/$defs/Id" }] }, "next": { "$ref": "#" } },
            "additionalProperties": { "type": "integer" },
            "allOf": [{ "properties": { "more": { "type": "integer" } } }],
            "$defs": { "Id": { "type": "integer" } },
        });
        let value = json!({ "ids": ["1", 2], "zip": "12345", "pair": ["1", "2", "3"], "next": { "zip": "1", "x": "5" }, "more": "7" });
        let expected = json!({ "ids": [1, 2], "zip": "12345", "pair": ["1", 2, "3"], "next": { "zip": "1", "x": 5 }, "more": 7 });
        assert_eq!(converted(schema, value), expected);
    }

    #[test]
    fn the_work_for_one_value_is_bounded() {
        let schema = json!({ "anyOf": vec![json!({ "$ref": "#" }); 50] });
        assert_eq!(converted(schema.clone(), json!("1")), json!("1"));
        assert_eq!(converted(schema, json!([["1"]])), json!([["1"]]));
        let circular = json!({ "$ref": "#/$defs/A", "$defs": { "A": { "$ref": "#/$defs/A" } } });
        assert_eq!(converted(circular, json!("1")), json!("1"));
    }

    #[test]
    fn a_number_that_lost_digits_is_no_integer() {
        let schema = Document::new(json!({ "properties": { "id": { "type": "integer" }, "size": { "type": "number" }, "any": {} } }));
        let check = |value: Value| check_exact(&schema, "", &mut value.clone(), "body");
        assert_eq!(
            check(
                json!({ "id": 1_700_000_001_000_000_000_u64, "size": 1_234_567_890_123_456_800_u64, "any": 1_234_567_890_123_456_800_u64 })
            ),
            Ok(())
        );
        let error = "body.id: 1234567890123456800 has lost digits, because numbers are exact up to 2^53 only; pass the integer as a string";
        assert_eq!(check(json!({ "id": 1_234_567_890_123_456_800_u64 })), Err(error.into()));
        assert!(check(json!({ "id": -1_234_567_890_123_456_800_i64 })).is_err());
        assert_eq!(check(json!({ "id": 9_007_199_254_740_992_u64 })), Ok(()));
    }
}
