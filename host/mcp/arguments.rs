//! The arguments of tools, checked by hand so that an error names the field.
//!
//! What is wrong with them is a result that failed, as the protocol wants it: the model reads it and mends its call.

use rmcp::{ErrorData, model::JsonObject};
use serde_json::Value;

/// What is wrong with arguments, by their names.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error("Invalid params: {0}")]
pub struct Wrong(pub String);

/// An answer to a request whose parameters are wrong.
pub fn invalid(message: &str) -> ErrorData {
    ErrorData::invalid_params(Wrong(message.into()).to_string(), None)
}

/// The arguments of one call, taken one by one. An argument that is null is one that is not there.
pub struct Fields {
    given: JsonObject,
    /// The names that were asked for.
    known: Vec<&'static str>,
}

impl Fields {
    pub fn new(arguments: Option<JsonObject>) -> Self {
        Self { given: arguments.unwrap_or_default(), known: Vec::new() }
    }

    fn take(&mut self, name: &'static str) -> Option<Value> {
        self.known.push(name);
        self.given.remove(name).filter(|value| !value.is_null())
    }

    /// A text that must be there.
    pub fn text(&mut self, name: &'static str) -> Result<String, Wrong> {
        self.optional_text(name)?.ok_or_else(|| Wrong(format!("`{name}` is required")))
    }

    /// A text.
    pub fn optional_text(&mut self, name: &'static str) -> Result<Option<String>, Wrong> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(Wrong(format!("`{name}` must be a string"))),
        }
    }

    /// Yes or no; no if it is not there.
    pub fn flag(&mut self, name: &'static str) -> Result<bool, Wrong> {
        match self.take(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(_) => Err(Wrong(format!("`{name}` must be true or false"))),
        }
    }

    /// A whole number. In JSON, 1000.0 is one too; what is huge is as much as there can be.
    pub fn whole_number(&mut self, name: &'static str, least: u64, of: &str) -> Result<Option<u64>, Wrong> {
        let Some(value) = self.take(name) else { return Ok(None) };
        match value.as_f64().filter(|number| *number >= least as f64 && number.fract() == 0.0) {
            Some(number) => Ok(Some(number as u64)),
            None => Err(Wrong(format!("`{name}` must be a whole number{of}, at least {least}"))),
        }
    }

    /// Refuses what was not asked for.
    pub fn finish(self) -> Result<(), Wrong> {
        let Some(name) = self.given.keys().next() else { return Ok(()) };
        let known: Vec<String> = self.known.iter().map(|name| format!("`{name}`")).collect();
        let known = match known.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
            _ => known.join(""),
        };
        Err(Wrong(format!("`{}` is not a parameter; there are {known}", shortened(name))))
    }
}

/// A name of the client's, for an answer to it.
pub fn shortened(name: &str) -> &str {
    &name[..name.floor_char_boundary(64)]
}

#[cfg(test)]
mod tests {
    use super::Fields;
    use rmcp::model::object;
    use serde_json::{Value, json};

    fn fields(arguments: Value) -> Fields {
        Fields::new(Some(object(arguments)))
    }

    fn message<T: std::fmt::Debug>(result: Result<T, super::Wrong>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn wrong_arguments_are_named() {
        assert_eq!(message(Fields::new(None).text("path")), "Invalid params: `path` is required");
        assert_eq!(message(fields(json!({ "path": null })).text("path")), "Invalid params: `path` is required");
        assert_eq!(message(fields(json!({ "path": 1 })).text("path")), "Invalid params: `path` must be a string");
        assert_eq!(message(fields(json!({ "all": "yes" })).flag("all")), "Invalid params: `all` must be true or false");
        for limit in [json!(0), json!(-1), json!(1.5), json!("1"), json!([])] {
            let wrong = fields(json!({ "limit": limit })).whole_number("limit", 1, " of lines");
            assert_eq!(message(wrong), "Invalid params: `limit` must be a whole number of lines, at least 1");
        }
        let mut unknown = fields(json!({ "path": "a", "file": "b" }));
        unknown.text("path").unwrap();
        unknown.flag("all").unwrap();
        assert_eq!(message(unknown.finish()), "Invalid params: `file` is not a parameter; there are `path` and `all`");
    }

    #[test]
    fn numbers_are_whole_however_they_are_written() {
        for (number, expected) in
            [(json!(250), 250), (json!(1000.0), 1000), (json!(1e18), 1_000_000_000_000_000_000), (json!(1e300), u64::MAX)]
        {
            assert_eq!(fields(json!({ "n": number })).whole_number("n", 0, ""), Ok(Some(expected)));
        }
    }
}
