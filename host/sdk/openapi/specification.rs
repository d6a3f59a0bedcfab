//! Parses OpenAPI 3.0 and 3.1 specifications in JSON and YAML.

use crate::sdk::{
    document::{Document, change_schemas},
    error::SpecError,
};
use serde_json::{Map, Value};

/// The size of a specification in bytes. The largest public ones have about 10 MiB.
pub const MAX_SIZE: usize = 32 << 20;

/// Parses a specification. The schemas of version 3.0 are converted to those of 3.1.
pub fn parse(bytes: &[u8]) -> Result<Document, SpecError> {
    if bytes.len() > MAX_SIZE {
        return Err(SpecError::new(format!("the specification is larger than {MAX_SIZE} bytes")));
    }
    let text = str::from_utf8(bytes).map_err(|_| SpecError::new("the specification is not UTF-8"))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut root: Value = if text.trim_start().starts_with('{') {
        // YAML may start with a brace too.
        serde_json::from_str(text).or_else(|error| from_yaml(text).map_err(|_| SpecError::new(format!("invalid JSON: {error}"))))?
    } else {
        from_yaml(text)?
    };
    if check_version(&root)? == Version::V30 {
        change_schemas(&mut root, &convert_from_v30);
    }
    Ok(Document::new(root))
}

fn check_version(root: &Value) -> Result<Version, SpecError> {
    if root.get("swagger").is_some() {
        return Err(SpecError::new("Swagger 2 is not supported; convert the specification to OpenAPI 3"));
    }
    match root.get("openapi").and_then(Value::as_str) {
        Some(version) if version.starts_with("3.0.") || version == "3.0" => Ok(Version::V30),
        Some(version) if version.starts_with("3.1.") || version == "3.1" => Ok(Version::V31),
        Some(version) => Err(SpecError::new(format!("OpenAPI {version} is not supported; use 3.0 or 3.1"))),
        None => Err(SpecError::new("the `openapi` version is missing; is this an OpenAPI specification?")),
    }
}

#[derive(PartialEq)]
enum Version {
    V30,
    V31,
}

fn from_yaml(text: &str) -> Result<Value, SpecError> {
    // Large specifications are allowed, but a few lines of aliases must not expand without limit.
    let mut budget = serde_saphyr::Budget::default();
    budget.max_events = 20_000_000;
    budget.max_nodes = 10_000_000;
    budget.max_depth = 256;
    let mut options = serde_saphyr::Options::default();
    options.budget = Some(budget);
    // As in YAML 1.2, where `no` is a string.
    options.strict_booleans = true;
    serde_saphyr::from_str_with_options(text, options)
        .map_err(|error| SpecError::new(format!("invalid YAML: {}", first_line(&error.to_string()))))
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// Converts a schema of version 3.0 to version 3.1: `nullable` and exclusive limits.
fn convert_from_v30(schema: &mut Map<String, Value>) {
    for (exclusive, limit) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        if let Some(Value::Bool(is_exclusive)) = schema.get(exclusive) {
            let is_exclusive = *is_exclusive;
            schema.remove(exclusive);
            if is_exclusive && let Some(limit) = schema.remove(limit) {
                schema.insert(exclusive.into(), limit);
            }
        }
    }
    if schema.get("nullable") != Some(&Value::Bool(true)) {
        return;
    }
    schema.remove("nullable");
    if let Some(Value::Array(values)) = schema.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    if let Some(Value::String(kind)) = schema.get("type") {
        let kinds = vec![Value::from(kind.as_str()), "null".into()];
        schema.insert("type".into(), Value::Array(kinds));
    } else if schema.contains_key("allOf") || schema.contains_key("oneOf") || schema.contains_key("anyOf") || schema.contains_key("$ref") {
        let inner = Value::Object(std::mem::take(schema));
        schema.insert("anyOf".into(), Value::Array(vec![inner, serde_json::json!({ "type": "null" })]));
    }
}
