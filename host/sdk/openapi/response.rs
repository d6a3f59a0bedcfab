//! From what an API answered to what a script gets.

use super::body::{essence, is_json};
use crate::functions::{FunctionResponse, FunctionValue};
use crate::sdk::{docs::collapse_whitespace, egress::Answer, secret::Secret};
use reqwest::{
    StatusCode,
    header::{CONTENT_TYPE, HeaderMap, HeaderValue, SET_COOKIE},
};
use serde_json::{Map, Value, value::RawValue};

/// Characters of an answer that an error shows.
const SHOWN: usize = 500;

/// The decoded body, and status and headers; a status of 400 or more is an error.
pub fn read(answer: Answer, secret: Option<&Secret>) -> Result<FunctionResponse, String> {
    let Answer { status, headers, body } = answer;
    let body = match secret {
        Some(secret) => secret.redact(body).into_owned(),
        None => body,
    };
    if status >= 400 {
        let reason = StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason()).unwrap_or("an error");
        let text = String::from_utf8_lossy(&body);
        let start = collapse_whitespace(&text.chars().take(SHOWN).collect::<String>());
        let rest = if text.chars().nth(SHOWN).is_some() { format!("… ({} bytes in all)", body.len()) } else { String::new() };
        return Err(if start.is_empty() { format!("{status} {reason}") } else { format!("{status} {reason}: {start}{rest}") });
    }
    let media_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    let mut reply = FunctionResponse::new(decode(&media_type, body)?);
    let details = serde_json::json!({ "status": status, "headers": table(&headers, secret) });
    reply.details = RawValue::from_string(details.to_string()).ok();
    Ok(reply)
}

fn decode(media_type: &str, body: Vec<u8>) -> Result<FunctionValue, String> {
    let json = |text: String| RawValue::from_string(text).map(FunctionValue::Json);
    if body.is_empty() {
        return json("null".into()).map_err(|error| error.to_string());
    }
    let is_text = media_type.is_empty() || essence(media_type).starts_with("text/") || essence(media_type).ends_with("xml");
    match String::from_utf8(body) {
        Ok(text) if is_json(media_type) => {
            json(text).map_err(|error| format!("the API's answer is not the JSON that it says it is: {error}"))
        }
        Ok(text) if is_text => json(Value::String(text).to_string()).map_err(|error| error.to_string()),
        Ok(text) => Ok(FunctionValue::Bytes(text.into_bytes())),
        Err(error) => Ok(FunctionValue::Bytes(error.into_bytes())),
    }
}

/// The headers by their names in lower case, without those that set a cookie: that is a credential.
fn table(headers: &HeaderMap, secret: Option<&Secret>) -> Map<String, Value> {
    let text = |value: &HeaderValue| match secret {
        Some(secret) => String::from_utf8_lossy(&secret.redact(value.as_bytes())).into_owned(),
        None => String::from_utf8_lossy(value.as_bytes()).into_owned(),
    };
    let names = headers.keys().filter(|name| *name != SET_COOKIE);
    names.map(|name| (name.as_str().to_owned(), headers.get_all(name).iter().map(text).collect::<Vec<_>>().join(", ").into())).collect()
}
