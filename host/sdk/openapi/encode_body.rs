//! Encodes request bodies: JSON, forms, multipart forms, text and bytes.

use super::{
    Api,
    body_schema::RequestBody,
    encode_parameter,
    media_type::{essence, is_json},
};
use crate::functions::FunctionValue;
use crate::sdk::{argument_size, document::Node, validation::validated};
use reqwest::{
    Request,
    header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue},
    multipart,
};
use serde_json::{Map, Value};

/// The size of an encoded form in bytes, and the number of its parts. The name of a field is repeated for each of its values, so a form
/// can be much larger than the argument.
const MAX_FORM_BYTES: usize = 8 << 20;
const MAX_FORM_PARTS: usize = 1000;

/// Validates a body and writes it into a request. An error is the message for the script.
pub fn set_body(api: &Api, expected: &RequestBody, body: FunctionValue, request: &mut Request) -> Result<(), String> {
    let kind = essence(&expected.media_type);
    let is_form = kind == "application/x-www-form-urlencoded";
    let is_multipart = kind == "multipart/form-data";
    let is_structured = is_json(&kind) || is_form || is_multipart;
    let mut value = match body {
        FunctionValue::Bytes(_) if is_structured => return Err("the body must be a table, not a buffer".into()),
        FunctionValue::Bytes(bytes) => return set_bytes(request, &expected.media_type, bytes),
        FunctionValue::Json(json) => argument_size::parse(&json).map_err(|error| format!("body: {error}"))?,
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
    if is_form {
        set_bytes(request, &expected.media_type, encode_form(api, expected, &fields)?.into_bytes())
    } else {
        set_multipart(api, expected, &fields, request)
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

fn set_multipart(api: &Api, expected: &RequestBody, fields: &Map<String, Value>, request: &mut Request) -> Result<(), String> {
    let mut form = multipart::Form::new();
    let (mut count, mut length) = (0, 0);
    for (name, value) in fields {
        for value in items(value) {
            let text = text(value);
            count += 1;
            length += name.len() + text.len();
            if count > MAX_FORM_PARTS || length > MAX_FORM_BYTES {
                return Err(format!("body: the form has more than {MAX_FORM_PARTS} parts or {MAX_FORM_BYTES} bytes"));
            }
            let mut part = multipart::Part::text(text);
            if expected.file_fields.contains(name) {
                // A server treats a part without a file name as a field.
                part = part.file_name(name.clone());
            }
            if value.is_object() {
                part = part.mime_str("application/json").map_err(|_| "the media type is invalid")?;
            }
            form = form.part(name.clone(), part);
        }
    }
    // reqwest encodes a form only as part of a request.
    let built = api.egress.client()?.request(request.method().clone(), request.url().clone()).multipart(form).build();
    let mut built = built.map_err(|_| "the fields can't be encoded as a form")?;
    for name in [CONTENT_TYPE, CONTENT_LENGTH] {
        if let Some(value) = built.headers_mut().remove(&name) {
            request.headers_mut().insert(name, value);
        }
    }
    *request.body_mut() = built.body_mut().take();
    Ok(())
}

/// Returns the items of an array, or the value itself.
fn items(value: &Value) -> &[Value] {
    match value {
        Value::Array(values) => values.as_slice(),
        other => std::slice::from_ref(other),
    }
}

fn text(value: &Value) -> String {
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
