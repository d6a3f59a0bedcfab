//! A large, deterministic OpenAPI specification, as JSON and as YAML.

use serde_json::{Map, Value, json};

/// Each resource has two paths with two operations each.
const RESOURCES: usize = 250;
const SCHEMAS: usize = 200;

/// Returns a specification with 1,000 operations. It has version 3.0, as most have, so that loading includes the conversion of schemas.
pub fn specification(server: &str) -> Value {
    let paths: Map<String, Value> = (0..RESOURCES).flat_map(paths).collect();
    let schemas: Map<String, Value> = (0..SCHEMAS).map(schema).collect();
    json!({
        "openapi": "3.0.3",
        "info": { "title": "Warehouse", "version": "1.0" },
        "servers": [{ "url": server }],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "parameters": {
                "limit": {
                    "name": "limit", "in": "query", "description": "The maximum number of items per page",
                    "schema": { "type": "integer", "minimum": 1, "maximum": 100, "default": 20 },
                },
                "cursor": { "name": "cursor", "in": "query", "description": "The position at which the page starts", "schema": { "type": "string" } },
            },
            "responses": { "failed": { "description": "An error", "content": content(&json!({
                "type": "object", "required": ["message"],
                "properties": { "message": { "type": "string" }, "code": { "type": "integer", "nullable": true } },
            })) } },
        },
    })
}

fn content(schema: &Value) -> Value {
    json!({ "application/json": { "schema": schema } })
}

/// Returns the paths of a collection and of its items.
fn paths(number: usize) -> [(String, Value); 2] {
    let item = json!({ "$ref": format!("#/components/schemas/Item{}", number % SCHEMAS) });
    let page = json!({ "type": "object", "properties": { "items": { "type": "array", "items": &item }, "next": { "type": "string" } } });
    let operation = |verb: &str, result: &Value| {
        json!({
            "operationId": format!("{verb}Item{number}"),
            "summary": format!("{verb} items of the shelf {number}"),
            "description": "Items on a shelf can be counted, moved and sold by authorized users. Other users see a change after a few seconds.",
            "tags": [format!("shelf {}", number % 20)],
            "responses": {
                "200": { "description": "The current state", "content": content(result) },
                "default": { "$ref": "#/components/responses/failed" },
            },
        })
    };
    let [mut list, mut create, get, mut change] =
        [operation("list", &page), operation("create", &item), operation("get", &item), operation("change", &item)];
    let state =
        json!({ "name": "state", "in": "query", "schema": { "type": "array", "items": { "type": "string", "enum": ["new", "sold"] } } });
    let trace = json!({ "name": "X-Trace", "in": "header", "description": "Returned in the response", "schema": { "type": "string" } });
    list["parameters"] = json!([{ "$ref": "#/components/parameters/limit" }, { "$ref": "#/components/parameters/cursor" }, state, trace]);
    for operation in [&mut create, &mut change] {
        operation["requestBody"] = json!({ "required": true, "content": content(&item) });
    }
    let id = json!({ "name": "id", "in": "path", "required": true, "schema": { "type": "integer", "minimum": 1 } });
    [
        (format!("/items{number}"), json!({ "get": list, "post": create })),
        (format!("/items{number}/{{id}}"), json!({ "parameters": [id], "get": get, "put": change })),
    ]
}

fn schema(number: usize) -> (String, Value) {
    let schema = json!({
        "type": "object",
        "description": format!("An item of the kind {number}"),
        "required": ["id", "name"],
        "properties": {
            "id": { "type": "integer", "minimum": 1, "description": "The id of the item" },
            "name": { "type": "string", "maxLength": 200, "description": "The display name" },
            "state": { "type": "string", "enum": ["new", "sold", "lost"] },
            "price": { "type": "number", "minimum": 0, "exclusiveMinimum": true },
            "created": { "type": "string", "format": "date-time" },
            "labels": { "type": "array", "items": { "type": "string" } },
            "note": { "type": "string", "nullable": true },
            "part_of": { "$ref": format!("#/components/schemas/Item{}", number / 2) },
        },
    });
    (format!("Item{number}"), schema)
}

/// Returns a value as YAML in block style, as people and generators write it.
pub fn yaml(value: &Value) -> String {
    let mut text = String::new();
    write_yaml(value, 0, &mut text);
    text.trim_start().to_owned()
}

fn write_yaml(value: &Value, depth: usize, text: &mut String) {
    let begin_line = |text: &mut String| {
        text.push('\n');
        text.push_str(&"  ".repeat(depth));
    };
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                begin_line(text);
                text.push_str(&scalar(key));
                text.push(':');
                write_yaml(member, depth + 1, text);
            }
        }
        Value::Array(items) => {
            for item in items {
                begin_line(text);
                text.push('-');
                write_yaml(item, depth + 1, text);
            }
        }
        Value::String(string) => text.push_str(&format!(" {}", scalar(string))),
        other => text.push_str(&format!(" {other}")),
    }
}

/// Quotes a string only if it would otherwise be parsed as something else.
fn scalar(text: &str) -> String {
    let is_plain = text.starts_with(|first: char| first.is_ascii_alphabetic() || "/$".contains(first)) && !text.contains(": ");
    if is_plain { text.to_owned() } else { Value::from(text).to_string() }
}
