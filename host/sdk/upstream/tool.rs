//! A tool of another MCP server, as a function.

use crate::functions::FunctionValue;
use crate::sdk::{
    check::{Checks, checked},
    docs::Shape,
    document::Document,
    frozen::Frozen,
    luau::Types,
    weight,
};
use rmcp::model::{JsonObject, Tool};
use serde_json::{Map, Value};
use std::sync::Arc;

/// A tool.
pub struct RemoteTool {
    /// What scripts call it by.
    pub name: String,
    /// What its server calls it.
    pub remote: String,
    pub title: String,
    pub description: String,
    /// Whether a call may be made twice.
    pub is_repeatable: bool,
    input: Arc<Document>,
    output: Option<Document>,
    checks: Checks,
    frozen: Frozen,
}

/// Whether a tool says of itself that it changes nothing.
pub fn is_safe(tool: &Tool) -> bool {
    tool.annotations.as_ref().and_then(|annotations| annotations.read_only_hint) == Some(true)
}

impl RemoteTool {
    pub fn new(name: String, tool: &Tool, frozen: Frozen) -> Self {
        let annotations = tool.annotations.as_ref();
        let input = Arc::new(Document::new(Value::Object(tool.input_schema.as_ref().clone())));
        let title = tool.title.clone().or_else(|| annotations?.title.clone());
        Self {
            name,
            remote: tool.name.clone().into_owned(),
            title: title.unwrap_or_default(),
            description: tool.description.as_deref().unwrap_or_default().to_owned(),
            is_repeatable: is_safe(tool) || annotations.and_then(|annotations| annotations.idempotent_hint) == Some(true),
            checks: Checks::new(Arc::clone(&input)),
            input,
            output: tool.output_schema.as_ref().map(|schema| Document::new(Value::Object(schema.as_ref().clone()))),
            frozen,
        }
    }

    /// The one argument, a table, if it fits the tool's schema.
    pub fn arguments(&self, arguments: Vec<FunctionValue>) -> Result<JsonObject, String> {
        let mut arguments = arguments.into_iter();
        let (first, None) = (arguments.next(), arguments.next()) else { return Err("it takes one argument, a table".into()) };
        let value = match first {
            None => Value::Object(Map::new()),
            Some(FunctionValue::Json(json)) => weight::parse(&json).map_err(|error| format!("the argument: {error}"))?,
            Some(FunctionValue::Bytes(_)) => return Err("the argument must be a table".into()),
        };
        let mut value = match value {
            Value::Null => Value::Object(Map::new()),
            Value::Array(values) if values.is_empty() => Value::Object(Map::new()),
            other => other,
        };
        if let Value::Object(fields) = &mut value {
            self.frozen.put_into(fields, Some(&self.input.root()))?;
        }
        // A schema that can't be used is left to the server, which checks too.
        let value = if self.checks.are_usable() { checked(&self.checks, "", value, "arguments")? } else { value };
        match value {
            Value::Object(arguments) => Ok(arguments),
            _ => Err("the argument must be a table with names".into()),
        }
    }

    /// What it takes and gives, and the types in there.
    pub fn shape(&self, prefix: &str, most: usize) -> (Shape, String) {
        let mut input = Types::new(&self.input, prefix.to_owned());
        let hidden: Vec<&str> = self.frozen.names().collect();
        let is_visible = |name: &&str| !hidden.contains(name);
        let required = self.input.value().get("required").and_then(Value::as_array);
        let is_needed = required.is_some_and(|required| required.iter().filter_map(Value::as_str).any(|name| is_visible(&name)));
        let fields = self.input.value().get("properties").and_then(Value::as_object);
        let has_fields = fields.is_some_and(|fields| fields.keys().any(|name| is_visible(&name.as_str())));
        let arguments =
            if has_fields { format!("arguments: {}", input.without(Some(""), &hidden).needed(is_needed)) } else { String::new() };
        let mut output = self.output.as_ref().map(|output| Types::new(output, format!("{prefix}Result")));
        let results = output.as_mut().map_or_else(|| "any".into(), |output| output.at(Some("")).whole());
        let definitions = input.definitions(most) + &output.map(|mut output| output.definitions(most)).unwrap_or_default();
        (Shape { arguments, results }, definitions)
    }

    /// All else that is known of it.
    pub fn describe(&self) -> String {
        let mut text = format!("a tool of another MCP server, which calls it {}", self.remote);
        for part in [&self.title, &self.description] {
            if !part.trim().is_empty() {
                text.push_str("\n\n");
                text.push_str(part.trim());
            }
        }
        text
    }
}
