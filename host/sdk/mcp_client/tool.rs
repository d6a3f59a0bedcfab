//! A tool of an upstream MCP server.

use crate::functions::FunctionValue;
use crate::sdk::{
    argument_size,
    docs::Signature,
    document::Document,
    field_notes::field_lines,
    frozen_params::FrozenParams,
    luau_types::{Definition, Types},
    validation::{Schemas, validated},
};
use rmcp::model::{JsonObject, Tool};
use serde_json::{Map, Value};
use std::sync::Arc;

/// A tool of a server.
pub struct UpstreamTool {
    /// The name of the function.
    pub name: String,
    /// The name on the server.
    pub upstream_name: String,
    pub title: String,
    pub description: String,
    /// A call may be repeated, because the tool is annotated as read-only or idempotent.
    pub is_repeatable: bool,
    /// A text that is the only content of a result is decoded as JSON.
    pub decodes_text: bool,
    input: Arc<Document>,
    output: Option<Document>,
    schemas: Schemas,
    frozen: FrozenParams,
}

/// Returns `true` if a tool is annotated as read-only.
pub fn is_read_only(tool: &Tool) -> bool {
    tool.annotations.as_ref().and_then(|annotations| annotations.read_only_hint) == Some(true)
}

impl UpstreamTool {
    pub fn new(name: String, tool: &Tool, frozen: FrozenParams, decodes_text: bool) -> Self {
        let annotations = tool.annotations.as_ref();
        let input = Arc::new(Document::new(Value::Object(tool.input_schema.as_ref().clone())));
        let title = tool.title.clone().or_else(|| annotations?.title.clone());
        Self {
            name,
            upstream_name: tool.name.clone().into_owned(),
            title: title.unwrap_or_default(),
            description: tool.description.as_deref().unwrap_or_default().to_owned(),
            is_repeatable: is_read_only(tool) || annotations.and_then(|annotations| annotations.idempotent_hint) == Some(true),
            decodes_text: decodes_text || tool.output_schema.is_some(),
            schemas: Schemas::new(Arc::clone(&input)),
            input,
            output: tool.output_schema.as_ref().map(|schema| Document::new(Value::Object(schema.as_ref().clone()))),
            frozen,
        }
    }

    /// Returns `true` if the server describes the results.
    pub fn has_output_schema(&self) -> bool {
        self.output.is_some()
    }

    /// Returns `true` if the output schema has `result` as its only property. Servers wrap a value that is not an object in this way.
    pub fn wraps_result(&self) -> bool {
        let properties = self.output.as_ref().and_then(|output| output.value().get("properties")).and_then(Value::as_object);
        properties.is_some_and(|properties| properties.len() == 1 && properties.contains_key("result"))
    }

    /// Validates the arguments of a call: at most one table.
    pub fn arguments(&self, arguments: Vec<FunctionValue>) -> Result<JsonObject, String> {
        let mut arguments = arguments.into_iter();
        let (first, None) = (arguments.next(), arguments.next()) else { return Err("the function takes one argument, a table".into()) };
        let value = match first {
            None => Value::Object(Map::new()),
            Some(FunctionValue::Json(json)) => argument_size::parse_text(&json, "arguments")?,
            Some(FunctionValue::Bytes(_)) => return Err("the argument must be a table".into()),
        };
        let mut value = match value {
            Value::Null => Value::Object(Map::new()),
            Value::Array(values) if values.is_empty() => Value::Object(Map::new()),
            other => other,
        };
        self.schemas.check_exact("", &mut value, "arguments")?;
        if let Value::Object(fields) = &mut value {
            self.frozen.insert_into(fields, Some(&self.input.root()))?;
        }
        // If the schema is invalid, only the server validates the arguments.
        let value = if self.schemas.are_valid() { validated(&self.schemas, "", value, "arguments")? } else { value };
        match value {
            Value::Object(arguments) => Ok(arguments),
            _ => Err("the argument must be a table with named fields".into()),
        }
    }

    /// Returns the signature, and up to `max_bytes` of definitions of the types in it. The types of the arguments have notes, those of the
    /// result only with `has_result_notes`.
    pub fn signature(&self, prefix: &str, max_bytes: usize, has_result_notes: bool) -> (Signature, Vec<Definition>) {
        let input = Types::new(&self.input, prefix.to_owned());
        let output = self.output.as_ref().map(|output| Types::new(output, format!("{prefix}Result")));
        let (signature, mut input, output) = self.signature_with(input, output);
        let mut definitions = input.definitions(max_bytes, true);
        definitions.extend(output.into_iter().flat_map(|mut output| output.definitions(max_bytes, has_result_notes)));
        (signature, definitions)
    }

    /// Returns the signature for the check of scripts, and the definitions of the types within some levels of it. A tool without declared arguments accepts any.
    pub fn check_signature(&self, prefix: &str, levels: usize) -> (Signature, Vec<Definition>) {
        let input = Types::new(&self.input, prefix.to_owned()).for_checks();
        let output = self.output.as_ref().map(|output| Types::new(output, format!("{prefix}_")).for_checks());
        let (mut signature, mut input, output) = self.signature_with(input, output);
        // Servers with an invalid schema validate the arguments themselves.
        if signature.arguments.is_empty() || !self.schemas.are_valid() {
            signature.arguments = "arguments: any".into();
        }
        let mut definitions = input.nearest_definitions(levels);
        definitions.extend(output.into_iter().flat_map(|mut output| output.nearest_definitions(levels)));
        (signature, definitions)
    }

    /// Returns the signature, and the types that it uses.
    fn signature_with<'a>(&self, mut input: Types<'a>, mut output: Option<Types<'a>>) -> (Signature, Types<'a>, Option<Types<'a>>) {
        let hidden: Vec<&str> = self.frozen.names().collect();
        let is_visible = |name: &&str| !hidden.contains(name);
        let required = self.input.value().get("required").and_then(Value::as_array);
        let is_required = required.is_some_and(|required| required.iter().filter_map(Value::as_str).any(|name| is_visible(&name)));
        let fields = self.input.value().get("properties").and_then(Value::as_object);
        let has_fields = fields.is_some_and(|fields| fields.keys().any(|name| is_visible(&name.as_str())));
        let arguments = if has_fields {
            format!("arguments: {}", input.without_fields(Some(""), &hidden).with_required(is_required))
        } else {
            String::new()
        };
        let results = output
            .as_mut()
            .map_or_else(|| "any".into(), |output| output.at(Some(if self.wraps_result() { "/properties/result" } else { "" })).to_text());
        (Signature { arguments, results }, input, output)
    }

    /// Returns the name on the server, the title, the description, and a line for each argument with a note.
    pub fn describe(&self) -> String {
        let mut text = format!("the tool {} of an MCP server", self.upstream_name);
        for part in [&self.title, &self.description] {
            if !part.trim().is_empty() {
                text.push_str("\n\n");
                text.push_str(part.trim());
            }
        }
        let hidden: Vec<&str> = self.frozen.names().collect();
        let lines = field_lines(&self.input.root(), &hidden);
        if !lines.is_empty() {
            text.push_str("\n\narguments:\n");
            text.push_str(&lines.join("\n"));
        }
        text
    }
}
