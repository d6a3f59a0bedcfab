//! The arguments of tool calls, decoded by serde. An error names the argument and the reason.
//!
//! The protocol reports invalid arguments as a failed result, so that the model reads the error and corrects its call.

use rmcp::{
    ErrorData,
    model::{CallToolResult, ContentBlock, JsonObject},
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, Error, Unexpected, Visitor},
    forward_to_deserialize_any,
};
use serde_json::Value;
use std::{borrow::Cow, fmt};

/// The maximum length of an error message in bytes. A message repeats values that the client sent, which may be large.
const MAX_MESSAGE: usize = 400;

/// An invalid argument of a tool call.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error("Invalid params: {0}")]
pub struct InvalidArgument(pub String);

impl InvalidArgument {
    /// Returns the failed result for the model.
    pub fn into_result(self) -> CallToolResult {
        CallToolResult::error(vec![ContentBlock::text(self.to_string())])
    }
}

/// Returns the protocol error for a request with invalid parameters.
pub fn invalid_params(message: &str) -> ErrorData {
    ErrorData::invalid_params(InvalidArgument(message.into()).to_string(), None)
}

/// Decodes the arguments of a tool call. `null` counts as absent for a known argument; an unknown one is rejected, whatever its value.
///
/// # Errors
///
/// When an argument is missing, unknown or has the wrong type.
pub fn parse<T: DeserializeOwned>(arguments: Option<JsonObject>) -> Result<T, InvalidArgument> {
    let are_absent = arguments.is_none();
    serde_path_to_error::deserialize(WithoutNulls(arguments.unwrap_or_default())).map_err(|error| {
        let mut reason = shorten_middle(&error.inner().to_string());
        if are_absent {
            reason.push_str("; the request has no `params.arguments`, the object with the arguments of the tool");
        }
        // The reason itself names a missing or unknown argument.
        let names_argument = reason.starts_with("missing field") || reason.starts_with("unknown field");
        InvalidArgument(if names_argument { reason } else { format!("`{}`: {reason}", error.path()) })
    })
}

/// Removes `null` values before a struct is decoded, but only those of its fields: an unknown field must still be rejected.
struct WithoutNulls(JsonObject);

impl WithoutNulls {
    /// Returns an unknown field that contains a known one, and the known one.
    fn nested_argument(&self, fields: &'static [&'static str]) -> Option<(&str, &'static str)> {
        let is_absent = |field: &&&str| !self.0.contains_key(**field);
        self.0.iter().filter(|(key, _)| !fields.contains(&key.as_str())).find_map(|(key, value)| {
            let object = value.as_object()?;
            let inner = fields.iter().filter(is_absent).find(|field| object.contains_key(**field))?;
            Some((truncate(key), *inner))
        })
    }
}

impl<'de> Deserializer<'de> for WithoutNulls {
    type Error = serde_json::Error;

    fn deserialize_struct<V: Visitor<'de>>(
        mut self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        if let Some((outer, inner)) = self.nested_argument(fields) {
            return Err(Error::custom(format_args!("unknown field `{outer}`; put `{inner}` directly into `params.arguments`")));
        }
        self.0.retain(|key, value| !value.is_null() || !fields.contains(&key.as_str()));
        Value::Object(self.0).deserialize_struct(name, fields, visitor)
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        Value::Object(self.0).deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct newtype_struct seq
        tuple tuple_struct map enum identifier ignored_any
    }
}

/// A whole number of at least `MIN`. JSON has one number type, so `1000.0` is a whole number too. A number above the maximum of
/// `u64` counts as that maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WholeNumber<const MIN: u64>(pub u64);

impl<'de, const MIN: u64> Deserialize<'de> for WholeNumber<MIN> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberVisitor<const MIN: u64>;

        impl<const MIN: u64> Visitor<'_> for NumberVisitor<MIN> {
            type Value = WholeNumber<MIN>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, "a whole number, at least {MIN}")
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
                if number >= MIN { Ok(WholeNumber(number)) } else { Err(E::invalid_value(Unexpected::Unsigned(number), &self)) }
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
                let unsigned = u64::try_from(number).map_err(|_| E::invalid_value(Unexpected::Signed(number), &self))?;
                self.visit_u64(unsigned)
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
                if number >= MIN as f64 && number.fract() == 0.0 {
                    // The cast saturates.
                    Ok(WholeNumber(number as u64))
                } else {
                    Err(E::invalid_value(Unexpected::Float(number), &self))
                }
            }
        }

        deserializer.deserialize_any(NumberVisitor)
    }
}

impl<const MIN: u64> JsonSchema for WholeNumber<MIN> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("WholeNumber{MIN}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": MIN })
    }
}

/// Returns the first 64 bytes of a name that a client sent, for an error message.
pub fn truncate(name: &str) -> &str {
    &name[..name.floor_char_boundary(64)]
}

/// Removes the middle of a long message. The start names the problem and the end says what was expected.
fn shorten_middle(message: &str) -> String {
    if message.len() <= MAX_MESSAGE {
        return message.to_owned();
    }
    let start = message.floor_char_boundary(MAX_MESSAGE / 2);
    let end = message.ceil_char_boundary(message.len() - MAX_MESSAGE / 2);
    format!("{}…{}", &message[..start], &message[end..])
}

#[cfg(test)]
mod tests {
    use super::{InvalidArgument, WholeNumber, parse};
    use rmcp::model::object;
    use serde::Deserialize;
    use serde_json::{Value, json};

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Arguments {
        path: String,
        #[serde(default)]
        all: bool,
        limit: Option<WholeNumber<1>>,
        from: Option<WholeNumber<0>>,
    }

    fn parsed(arguments: Value) -> Result<Arguments, InvalidArgument> {
        parse(Some(object(arguments)))
    }

    fn message(arguments: Value) -> String {
        parsed(arguments).unwrap_err().to_string()
    }

    #[test]
    fn an_error_names_the_argument_and_the_reason() {
        let absent =
            "Invalid params: missing field `path`; the request has no `params.arguments`, the object with the arguments of the tool";
        assert_eq!(parse::<Arguments>(None).unwrap_err().to_string(), absent);
        assert_eq!(message(json!({ "path": null })), "Invalid params: missing field `path`");
        assert_eq!(message(json!({ "path": 1 })), "Invalid params: `path`: invalid type: integer `1`, expected a string");
        let flag = "Invalid params: `all`: invalid type: string \"yes\", expected a boolean";
        assert_eq!(message(json!({ "path": "a", "all": "yes" })), flag);
        for (limit, found) in [
            (json!(0), "invalid value: integer `0`"),
            (json!(-1), "invalid value: integer `-1`"),
            (json!(1.5), "invalid value: floating point `1.5`"),
            (json!("1"), "invalid type: string \"1\""),
            (json!([]), "invalid type: sequence"),
        ] {
            let expected = format!("Invalid params: `limit`: {found}, expected a whole number, at least 1");
            assert_eq!(message(json!({ "path": "a", "limit": limit })), expected);
        }
        let unknown = "Invalid params: unknown field `file`, expected one of `path`, `all`, `limit`, `from`";
        assert_eq!(message(json!({ "path": "a", "file": "b" })), unknown);
    }

    #[test]
    fn an_unknown_argument_is_rejected_even_if_it_is_null() {
        let unknown = "Invalid params: unknown field `file`, expected one of `path`, `all`, `limit`, `from`";
        assert_eq!(message(json!({ "path": "a", "file": null })), unknown);
        assert_eq!(message(json!({ "path": "a", "all": null, "file": null })), unknown);

        #[derive(Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        struct NoArguments {}

        let error = parse::<NoArguments>(Some(object(json!({ "file": null })))).unwrap_err();
        assert_eq!(error.to_string(), "Invalid params: unknown field `file`, there are no fields");
    }

    #[test]
    fn an_argument_that_is_nested_too_deep_is_named_with_its_position() {
        let nested = "Invalid params: unknown field `input`; put `path` directly into `params.arguments`";
        assert_eq!(message(json!({ "input": { "path": "a" } })), nested);
        assert_eq!(message(json!({ "limit": 1, "input": { "path": "a" } })), nested);
        let unknown = "Invalid params: unknown field `input`, expected one of `path`, `all`, `limit`, `from`";
        assert_eq!(message(json!({ "path": "a", "input": { "path": "a" } })), unknown);
        assert_eq!(message(json!({ "path": "a", "input": { "x": 1 } })), unknown);
    }

    #[test]
    fn null_counts_as_absent() {
        let absent = Arguments { path: "a".into(), all: false, limit: None, from: None };
        assert_eq!(parsed(json!({ "path": "a", "all": null, "limit": null, "from": null })), Ok(absent));
    }

    #[test]
    fn numbers_may_be_written_as_floats_and_saturate() {
        for (number, expected) in
            [(json!(250), 250), (json!(1000.0), 1000), (json!(1e18), 1_000_000_000_000_000_000), (json!(1e300), u64::MAX)]
        {
            assert_eq!(parsed(json!({ "path": "a", "from": number })).unwrap().from, Some(WholeNumber(expected)));
        }
    }

    #[test]
    fn large_values_are_not_repeated_in_an_error() {
        let long = message(json!({ "path": "a", "limit": "é".repeat(1 << 20) }));
        assert!(long.len() < 500, "{}", long.len());
        assert!(long.starts_with("Invalid params: `limit`: invalid type: string \"éé"), "{long}");
        assert!(long.ends_with("éé\", expected a whole number, at least 1"), "{long}");
        let name = message(json!({ "path": "a", "x".repeat(1 << 20): 1 }));
        assert!(name.len() < 500 && name.ends_with("x`, expected one of `path`, `all`, `limit`, `from`"), "{name}");
    }
}
