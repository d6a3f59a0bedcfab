//! Converts the response of an API to the result of a call.

use super::{
    media_type::{essence, is_json},
    retry_after,
};
use crate::functions::{FunctionError, FunctionResponse, FunctionValue, JsonValue};
use crate::sdk::{docs::collapse_whitespace, egress::Response, secret::Secret};
use reqwest::{
    StatusCode,
    header::{CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER, SET_COOKIE},
};
use serde_json::{Value, value::RawValue};
use std::{collections::BTreeMap, time::SystemTime};

/// The number of characters of a body in an error message.
const MAX_ERROR_BODY: usize = 500;

/// Returns the decoded body, and the status and headers as details. A status of 400 or more is an error with the same data.
pub fn decode(response: Response, secret: Option<&Secret>) -> Result<FunctionResponse, FunctionError> {
    let Response { status, headers, body } = response;
    let body = match secret {
        Some(secret) => secret.redact(body).into_owned(),
        None => body,
    };
    let media_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if status >= 400 {
        return Err(status_error(status, &headers, media_type, body, secret));
    }
    let mut response = FunctionResponse::new(decode_body(media_type, body)?);
    let details = serde_json::json!({ "status": status, "headers": header_table(&headers, secret) });
    response.details = RawValue::from_string(details.to_string()).ok().map(JsonValue::from);
    Ok(response)
}

/// Returns the error for a status of 400 or more: its message has the start of the body.
fn status_error(status: u16, headers: &HeaderMap, media_type: &str, body: Vec<u8>, secret: Option<&Secret>) -> FunctionError {
    let reason = StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason()).unwrap_or("Error");
    let text = String::from_utf8_lossy(&body);
    let start = collapse_whitespace(&text.chars().take(MAX_ERROR_BODY).collect::<String>());
    let rest = if text.chars().nth(MAX_ERROR_BODY).is_some() { format!("… ({} bytes in total)", body.len()) } else { String::new() };
    let message = if start.is_empty() { format!("{status} {reason}") } else { format!("{status} {reason}: {start}{rest}") };
    // A body that is not the JSON that it claims to be stays a text: the status is more important.
    let body = decode_body(media_type, body.clone()).unwrap_or(FunctionValue::Bytes(body));
    let mut error = FunctionError::from(message).with_status(status).with_headers(header_table(headers, secret)).with_body(body);
    let retry_after = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    error.retry_after = retry_after.and_then(|value| retry_after::parse(value, SystemTime::now()));
    error
}

/// Decodes a body by its media type.
fn decode_body(media_type: &str, body: Vec<u8>) -> Result<FunctionValue, String> {
    let json = |text: String| RawValue::from_string(text).map(FunctionValue::from);
    if body.is_empty() {
        return Ok(RawValue::NULL.to_owned().into());
    }
    let is_text = media_type.is_empty() || essence(media_type).starts_with("text/") || essence(media_type).ends_with("xml");
    match String::from_utf8(body) {
        Ok(text) if is_json(media_type) => json(text).map_err(|error| format!("the response is not valid JSON: {error}")),
        Ok(text) if is_text => json(Value::String(text).to_string()).map_err(|error| error.to_string()),
        Ok(text) => Ok(FunctionValue::Bytes(text.into_bytes())),
        Err(error) => Ok(FunctionValue::Bytes(error.into_bytes())),
    }
}

/// Returns the headers by their names in lower case, without `set-cookie`, because a cookie is a credential.
fn header_table(headers: &HeaderMap, secret: Option<&Secret>) -> BTreeMap<String, String> {
    let text = |value: &HeaderValue| match secret {
        Some(secret) => String::from_utf8_lossy(&secret.redact(value.as_bytes())).into_owned(),
        None => String::from_utf8_lossy(value.as_bytes()).into_owned(),
    };
    let names = headers.keys().filter(|name| *name != SET_COOKIE);
    names.map(|name| (name.as_str().to_owned(), headers.get_all(name).iter().map(text).collect::<Vec<_>>().join(", "))).collect()
}
