//! Encodes request bodies: JSON, forms, text and bytes.

use super::{
    Api,
    body_schema::RequestBody,
    encode_parameter,
    media_type::{essence, is_json},
    multipart::{self, FileParts, MAX_FORM_BYTES},
};
use crate::functions::FunctionValue;
use crate::sdk::{argument_size, document::Node, validation::validated};
use reqwest::{
    Request,
    header::{CONTENT_TYPE, HeaderValue},
};
use serde_json::{Map, Value};

/// Validates a body and writes it into a request. An error is the message for the script.
pub fn set_body(api: &Api, expected: &RequestBody, body: FunctionValue, request: &mut Request) -> Result<(), String> {
    let kind = essence(&expected.media_type);
    let is_form = kind == "application/x-www-form-urlencoded";
    let is_multipart = kind == "multipart/form-data";
    let is_structured = is_json(&kind) || is_form || is_multipart;
    let mut files = None;
    let mut value = match body {
        FunctionValue::Bytes(_) if is_structured => return Err("the body must be a table, not bytes".into()),
        FunctionValue::Bytes(bytes) => return set_bytes(request, &expected.media_type, bytes),
        FunctionValue::Json(json) if is_multipart => {
            let mut value = argument_size::parse(&json.text).map_err(|error| format!("body: {error}"))?;
            files = Some(FileParts::take(expected, &mut value, json.attachments)?);
            value
        }
        FunctionValue::Json(json) => argument_size::parse_text(&json, "body")?,
    };
    if !is_structured {
        let Value::String(text) = value else { return Err(format!("the body is {kind}; pass a string or a buffer")) };
        return set_bytes(request, &expected.media_type, text.into_bytes());
    }
    if let Some(schema) = &expected.schema {
        api.schemas.check_exact(schema, &mut value, "body")?;
    }
    let value = with_frozen_fields(api, expected, value)?;
    let value = match &expected.schema {
        Some(schema) => validated(&api.schemas, schema, value, "body")?,
        None => value,
    };
    if is_json(&kind) {
        return set_bytes(request, &expected.media_type, value.to_string().into_bytes());
    }
    let Value::Object(fields) = value else { return Err("the body must be a table of fields".into()) };
    match files {
        Some(files) => multipart::set(api, expected, fields, files, request),
        None => set_bytes(request, &expected.media_type, encode_form(api, expected, &fields)?.into_bytes()),
    }
}

/// Sets the frozen fields of a body, or of each item of an array.
fn with_frozen_fields(api: &Api, expected: &RequestBody, mut value: Value) -> Result<Value, String> {
    let schema = api.body_schema(expected);
    let item_schema = schema.as_ref().and_then(|schema| schema.get("items"));
    let insert = |fields: &mut Map<String, Value>, schema: Option<&Node<'_>>| {
        api.frozen.insert_into(fields, schema).map_err(|error| format!("body: {error}"))
    };
    match &mut value {
        Value::Object(fields) => insert(fields, schema.as_ref())?,
        Value::Array(values) if values.is_empty() => {
            // An empty table arrives as an array.
            let mut fields = Map::new();
            insert(&mut fields, schema.as_ref())?;
            if !fields.is_empty() {
                value = Value::Object(fields);
            }
        }
        Value::Array(values) => {
            for item in values {
                if let Value::Object(fields) = item {
                    insert(fields, item_schema.as_ref())?;
                }
            }
        }
        _ => {}
    }
    Ok(value)
}

/// Encodes a form. By default an array becomes one pair per item, and an object becomes JSON.
fn encode_form(api: &Api, expected: &RequestBody, fields: &Map<String, Value>) -> Result<String, String> {
    let mut pairs: Vec<String> = Vec::new();
    let mut length = 0;
    for (name, value) in fields {
        if let Some(styled) = expected.styled_fields.iter().find(|parameter| parameter.key == *name) {
            let encoded = encode_parameter::query(styled, value)?;
            for (key, _) in url::form_urlencoded::parse(encoded.as_bytes()) {
                if key != *name && (fields.contains_key(key.as_ref()) || api.frozen.has_similar(&key)) {
                    return Err(format!("body.{name}.{key} is not allowed, because it would set another field"));
                }
            }
            length += encoded.len();
            pairs.push(encoded);
            continue;
        }
        for value in items(value) {
            let pair = url::form_urlencoded::Serializer::new(String::new()).append_pair(name, &text(value)).finish();
            length += pair.len();
            if length > MAX_FORM_BYTES {
                return Err(format!("body: the form is larger than {MAX_FORM_BYTES} bytes"));
            }
            pairs.push(pair);
        }
    }
    Ok(pairs.join("&"))
}

/// Returns the items of an array, or the value itself.
fn items(value: &Value) -> &[Value] {
    match value {
        Value::Array(values) => values.as_slice(),
        other => std::slice::from_ref(other),
    }
}

/// Returns a string as it is, null as an empty text, and another value as JSON.
pub fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn set_bytes(request: &mut Request, media_type: &str, bytes: Vec<u8>) -> Result<(), String> {
    // A range such as `image/*` can't be sent.
    let media_type = if media_type.contains('*') { "application/octet-stream" } else { media_type };
    let value = HeaderValue::from_str(media_type).map_err(|_| "the media type of the body is invalid")?;
    request.headers_mut().insert(CONTENT_TYPE, value);
    *request.body_mut() = Some(bytes.into());
    Ok(())
}
