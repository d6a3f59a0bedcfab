//! A large specification of an API, always the same, in both ways of writing one.

use serde_json::{Map, Value, json};

/// Two paths each, with two operations each.
const RESOURCES: usize = 250;
const SCHEMAS: usize = 200;

/// A specification with 1,000 operations, for a server at an address. It is of 3.0, as most are, so that its schemas are rewritten too.
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
                    "name": "limit", "in": "query", "description": "How many there are at most in a page",
                    "schema": { "type": "integer", "minimum": 1, "maximum": 100, "default": 20 },
                },
                "cursor": { "name": "cursor", "in": "query", "description": "Where the page begins", "schema": { "type": "string" } },
            },
            "responses": { "failed": { "description": "Why not", "content": content(&json!({
                "type": "object", "required": ["message"],
                "properties": { "message": { "type": "string" }, "code": { "type": "integer", "nullable": true } },
            })) } },
        },
    })
}

fn content(schema: &Value) -> Value {
    json!({ "application/json": { "schema": schema } })
}

/// A collection, and what is in it.
fn paths(number: usize) -> [(String, Value); 2] {
    let item = json!({ "$ref": format!("#/components/schemas/Item{}", number % SCHEMAS) });
    let page = json!({ "type": "object", "properties": { "items": { "type": "array", "items": &item }, "next": { "type": "string" } } });
    let operation = |verb: &str, result: &Value| {
        json!({
            "operationId": format!("{verb}Item{number}"),
            "summary": format!("{verb} items of the shelf {number}"),
            "description": "What is on a shelf can be counted, moved and sold by those who may. Changes are seen by others after some seconds.",
            "tags": [format!("shelf {}", number % 20)],
            "responses": {
                "200": { "description": "As it is now", "content": content(result) },
                "default": { "$ref": "#/components/responses/failed" },
            },
        })
    };
    let [mut list, mut create, get, mut change] =
        [operation("list", &page), operation("create", &item), operation("get", &item), operation("change", &item)];
    let state =
        json!({ "name": "state", "in": "query", "schema": { "type": "array", "items": { "type": "string", "enum": ["new", "sold"] } } });
    let trace = json!({ "name": "X-Trace", "in": "header", "description": "Comes back in the answer", "schema": { "type": "string" } });
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
            "id": { "type": "integer", "minimum": 1, "description": "What it is asked for by" },
            "name": { "type": "string", "maxLength": 200, "description": "What people call it" },
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

/// The same as YAML, in blocks as people and generators write it.
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
        Value::String(one) => text.push_str(&format!(" {}", scalar(one))),
        other => text.push_str(&format!(" {other}")),
    }
}

/// In quotes only where it would be something else without.
fn scalar(text: &str) -> String {
    let is_plain = text.starts_with(|first: char| first.is_ascii_alphabetic() || "/$".contains(first)) && !text.contains(": ");
    if is_plain { text.to_owned() } else { Value::from(text).to_string() }
}
