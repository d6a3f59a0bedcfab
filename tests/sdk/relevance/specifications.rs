//! Helpers for specifications of the size and in the style of large public ones.

use serde_json::{Map, Value, json};

/// An operation of a specification.
pub struct Operation {
    pub method: &'static str,
    pub path: String,
    pub id: String,
    pub tag: String,
    pub summary: String,
    pub description: String,
}

/// Returns a specification with operations.
pub fn specification(title: &str, operations: Vec<Operation>) -> Value {
    let mut paths: Map<String, Value> = Map::new();
    for Operation { method, path, id, tag, summary, description } in operations {
        let placeholders = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
        let parameter = |name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } });
        let parameters: Vec<Value> = placeholders.map(parameter).collect();
        let tags: Vec<String> = Some(tag).filter(|tag| !tag.is_empty()).into_iter().collect();
        let operation =
            json!({ "operationId": id, "tags": tags, "summary": summary, "description": description, "parameters": parameters });
        paths.entry(path).or_insert_with(|| json!({}))[method] = operation;
    }
    json!({ "openapi": "3.1.0", "info": { "title": title, "version": "1" }, "servers": [{ "url": "https://api.example" }], "paths": paths })
}

/// Returns the singular of a resource in words: `pull_requests` is `pull request`.
pub fn singular(resource: &str) -> String {
    let words = resource.replace(['_', '-', '/'], " ");
    let singular = words.strip_suffix("ies").map(|stem| format!("{stem}y"));
    let singular = singular.or_else(|| words.strip_suffix("uses").map(|stem| format!("{stem}us")));
    let singular = singular.or_else(|| words.strip_suffix("ches").map(|stem| format!("{stem}ch")));
    singular.unwrap_or_else(|| words.strip_suffix('s').unwrap_or(&words).to_owned())
}

pub fn plural(resource: &str) -> String {
    resource.replace(['_', '-', '/'], " ")
}

pub fn article(noun: &str) -> &'static str {
    if noun.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" }
}
