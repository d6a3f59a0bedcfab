//! The arguments of `execute_script`, checked by hand so that an error names the field.
//!
//! What is wrong with them is a result that failed, as the protocol wants it: the model reads it and mends its call.

use rmcp::{
    ErrorData,
    model::{JsonObject, object},
};
use serde_json::{Value, json};
use std::time::Duration;

/// What a client asks for.
#[derive(Debug, PartialEq)]
pub struct Arguments {
    pub script: String,
    pub timeout: Option<Duration>,
}

/// What the tool takes, as JSON Schema.
pub fn schema() -> JsonObject {
    object(json!({
        "type": "object",
        "properties": {
            "script": { "type": "string", "description": "Luau source text" },
            "timeout_ms": { "type": "integer", "minimum": 1, "description": "Wall time in milliseconds; it only lowers the limit" },
        },
        "required": ["script"],
        "additionalProperties": false,
    }))
}

/// What is wrong with arguments, by their names.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error("Invalid params: {0}")]
pub struct Wrong(pub String);

/// An answer to a request whose parameters are wrong.
pub fn invalid(message: &str) -> ErrorData {
    ErrorData::invalid_params(Wrong(message.into()).to_string(), None)
}

impl Arguments {
    /// Checks what came.
    pub fn parse(arguments: Option<JsonObject>) -> Result<Self, Wrong> {
        let wrong = |message: &str| Wrong(message.into());
        let mut arguments = arguments.unwrap_or_default();
        let script = match arguments.remove("script") {
            Some(Value::String(script)) => script,
            Some(_) => return Err(wrong("`script` must be a string")),
            None => return Err(wrong("`script` is required")),
        };
        let timeout = match arguments.remove("timeout_ms") {
            None | Some(Value::Null) => None,
            // In JSON, 1000.0 is a whole number too; what is huge is no limit.
            Some(value) => match value.as_f64().filter(|milliseconds| *milliseconds >= 1.0 && milliseconds.fract() == 0.0) {
                Some(milliseconds) => Some(Duration::from_millis(milliseconds as u64)),
                None => return Err(wrong("`timeout_ms` must be a whole number of milliseconds, at least 1")),
            },
        };
        match arguments.keys().next() {
            Some(name) => Err(wrong(&format!("`{}` is not a parameter; there are `script` and `timeout_ms`", shortened(name)))),
            None => Ok(Self { script, timeout }),
        }
    }
}

/// A name of the client's, for an answer to it.
fn shortened(name: &str) -> &str {
    &name[..name.floor_char_boundary(64)]
}

#[cfg(test)]
mod tests {
    use super::Arguments;
    use rmcp::model::object;
    use serde_json::{Value, json};
    use std::time::Duration;

    fn refused(arguments: Value) -> String {
        Arguments::parse(Some(object(arguments))).unwrap_err().to_string()
    }

    #[test]
    fn wrong_arguments_are_named() {
        assert_eq!(Arguments::parse(None).unwrap_err().to_string(), "Invalid params: `script` is required");
        assert_eq!(refused(json!({ "script": 1 })), "Invalid params: `script` must be a string");
        for timeout in [json!(0), json!(-1), json!(1.5), json!("1"), json!([])] {
            let message = "Invalid params: `timeout_ms` must be a whole number of milliseconds, at least 1";
            assert_eq!(refused(json!({ "script": "", "timeout_ms": timeout })), message);
        }
        let message = "Invalid params: `code` is not a parameter; there are `script` and `timeout_ms`";
        assert_eq!(refused(json!({ "script": "", "code": "" })), message);
    }

    #[test]
    fn right_arguments_are_taken() {
        let parsed = Arguments::parse(Some(object(json!({ "script": "return 1", "timeout_ms": 250 })))).unwrap();
        assert_eq!(parsed, Arguments { script: "return 1".into(), timeout: Some(Duration::from_millis(250)) });
        for (timeout, milliseconds) in [(json!(1000.0), 1000), (json!(1e18), 1_000_000_000_000_000_000), (json!(1e300), u64::MAX)] {
            let parsed = Arguments::parse(Some(object(json!({ "script": "", "timeout_ms": timeout })))).unwrap();
            assert_eq!(parsed.timeout, Some(Duration::from_millis(milliseconds)));
        }
    }
}
