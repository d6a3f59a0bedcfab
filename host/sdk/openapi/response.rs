//! Converts the response of an API to the result of a call.

use super::media_type::{essence, is_json};
use crate::functions::{FunctionResponse, FunctionValue};
use crate::sdk::{docs::collapse_whitespace, egress::Response, secret::Secret};
use reqwest::{
    StatusCode,
    header::{CONTENT_TYPE, HeaderMap, HeaderValue, SET_COOKIE},
};
use serde_json::{Map, Value, value::RawValue};

/// The number of characters of a body in an error message.
const MAX_ERROR_BODY: usize = 500;

/// Returns the decoded body, and the status and headers as details. A status of 400 or more is an error.
pub fn decode(response: Response, secret: Option<&Secret>) -> Result<FunctionResponse, String> {
    let Response { status, headers, body } = response;
    let body = match secret {
        Some(secret) => secret.redact(body).into_owned(),
        None => body,
    };
    if status >= 400 {
        let reason = StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason()).unwrap_or("Error");
        let text = String::from_utf8_lossy(&body);
        let start = collapse_whitespace(&text.chars().take(MAX_ERROR_BODY).collect::<String>());
        let rest = if text.chars().nth(MAX_ERROR_BODY).is_some() { format!("… ({} bytes in total)", body.len()) } else { String::new() };
        return Err(if start.is_empty() { format!("{status} {reason}") } else { format!("{status} {reason}: {start}{rest}") });
    }
    let media_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    let mut response = FunctionResponse::new(decode_body(&media_type, body)?);
    let details = serde_json::json!({ "status": status, "headers": header_table(&headers, secret) });
    response.details = RawValue::from_string(details.to_string()).ok();
    Ok(response)
}

fn decode_body(media_type: &str, body: Vec<u8>) -> Result<FunctionValue, String> {
    let json = |text: String| RawValue::from_string(text).map(FunctionValue::Json);
    if body.is_empty() {
        return json("null".into()).map_err(|error| error.to_string());
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
fn header_table(headers: &HeaderMap, secret: Option<&Secret>) -> Map<String, Value> {
    let text = |value: &HeaderValue| match secret {
        Some(secret) => String::from_utf8_lossy(&secret.redact(value.as_bytes())).into_owned(),
        None => String::from_utf8_lossy(value.as_bytes()).into_owned(),
    };
    let names = headers.keys().filter(|name| *name != SET_COOKIE);
    names.map(|name| (name.as_str().to_owned(), headers.get_all(name).iter().map(text).collect::<Vec<_>>().join(", ").into())).collect()
}
