//! From what a tool answered to what a script gets.

use crate::functions::{FunctionResponse, FunctionValue, ResponseBudget};
use crate::sdk::secret::Secret;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{
    Value, json,
    value::{RawValue, to_raw_value},
};

/// Structured content is itself, one text is a string, and other contents are tables as the protocol has them; several are a list. An
/// error is the text that the script raises.
pub fn read(result: CallToolResult, room: &ResponseBudget) -> Result<FunctionResponse, String> {
    if result.is_error == Some(true) {
        return Err(error_text(&result));
    }
    let has_more = result.content.iter().any(|block| !matches!(block, ContentBlock::Text(_)));
    let details = match &result.structured_content {
        // What the structure does not say.
        Some(_) if has_more => Some(json!({ "content": blocks(&result.content)? })),
        _ => None,
    };
    let body = match result.structured_content {
        Some(structure) => structure,
        None => match <[Value; 1]>::try_from(blocks(&result.content)?) {
            Ok([only]) => only,
            Err(none) if none.is_empty() => Value::Null,
            Err(several) => Value::Array(several),
        },
    };
    let mut reply = FunctionResponse::new(FunctionValue::Json(raw(&body, room)?));
    reply.details = details.map(|details| raw(&details, room)).transpose()?;
    Ok(reply)
}

fn raw(value: &Value, room: &ResponseBudget) -> Result<Box<RawValue>, String> {
    let raw = to_raw_value(value).map_err(|error| format!("the answer can't be written as JSON: {error}"))?;
    room.reserve(raw.get().len())?;
    Ok(raw)
}

fn blocks(content: &[ContentBlock]) -> Result<Vec<Value>, String> {
    let block = |block: &ContentBlock| match block {
        ContentBlock::Text(text) => Ok(Value::String(text.text.clone())),
        other => serde_json::to_value(other).map_err(|error| format!("the answer can't be written as JSON: {error}")),
    };
    content.iter().map(block).collect()
}

fn error_text(result: &CallToolResult) -> String {
    let texts = result.content.iter().filter_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    let text = texts.collect::<Vec<_>>().join("\n");
    match (&result.structured_content, text.trim().is_empty()) {
        (_, false) => text,
        (Some(structure), true) => structure.to_string(),
        (None, true) => "the tool failed, and did not say why".into(),
    }
}

/// A reply or an error without what the server was shown.
pub fn without(reply: Result<FunctionResponse, String>, secrets: &[Secret]) -> Result<FunctionResponse, String> {
    if secrets.is_empty() {
        return reply;
    }
    let clean = |text: &str| {
        let redacted = secrets.iter().fold(text.as_bytes().to_vec(), |bytes, secret| secret.redact(bytes).into_owned());
        String::from_utf8(redacted).unwrap_or_default()
    };
    let clean_json = |json: &RawValue| {
        RawValue::from_string(clean(json.get()))
            .map_err(|_| "the answer has what only the server should know, and can't be shown without".to_owned())
    };
    let mut reply = reply.map_err(|error| clean(&error))?;
    if let FunctionValue::Json(json) = &reply.body {
        reply.body = FunctionValue::Json(clean_json(json)?);
    }
    reply.details = reply.details.as_deref().map(clean_json).transpose()?;
    Ok(reply)
}
