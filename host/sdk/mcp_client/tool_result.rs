//! Converts the result of a tool to the result of a call.

use super::tool::UpstreamTool;
use crate::functions::{FunctionError, FunctionResponse, FunctionValue, ResponseBudget};
use crate::sdk::secret::Secret;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{
    Value, json,
    value::{RawValue, to_raw_value},
};

/// Returns the structured content, or else the content blocks: a text as a string, another block as a table, several blocks as a list. An
/// error of the tool has its structured content as body.
///
/// A value that the server wrapped as `{result = …}` is unwrapped. If the tool says so, a text is decoded as JSON.
pub fn convert(result: CallToolResult, tool: &UpstreamTool, budget: &ResponseBudget) -> Result<FunctionResponse, FunctionError> {
    if result.is_error == Some(true) {
        let mut error = FunctionError::from(error_message(&result));
        error.body = result.structured_content.and_then(|content| encode(&content, budget).ok()).map(FunctionValue::Json);
        return Err(error);
    }
    let has_other_blocks = result.content.iter().any(|block| !matches!(block, ContentBlock::Text(_)));
    let details = match &result.structured_content {
        // The structured content replaces texts only.
        Some(_) if has_other_blocks => Some(json!({ "content": blocks(&result.content)? })),
        _ => None,
    };
    if result.structured_content.is_none()
        && tool.decodes_text
        && let Some(json) = only_json(&result.content)
    {
        budget.reserve(json.get().len())?;
        return Ok(FunctionResponse::new(FunctionValue::Json(json)));
    }
    let body = match result.structured_content {
        Some(Value::Object(mut fields)) if fields.len() == 1 && tool.wraps_result() => {
            fields.remove("result").unwrap_or_else(|| fields.into())
        }
        Some(content) => content,
        None => match <[Value; 1]>::try_from(blocks(&result.content)?) {
            Ok([only]) => only,
            Err(blocks) if blocks.is_empty() => Value::Null,
            Err(blocks) => Value::Array(blocks),
        },
    };
    let mut response = FunctionResponse::new(FunctionValue::Json(encode(&body, budget)?));
    response.details = details.map(|details| encode(&details, budget)).transpose()?;
    Ok(response)
}

/// Returns the text that is the only block, if it is JSON.
fn only_json(content: &[ContentBlock]) -> Option<Box<RawValue>> {
    match content {
        [ContentBlock::Text(text)] => serde_json::from_str(&text.text).ok(),
        _ => None,
    }
}

fn encode(value: &Value, budget: &ResponseBudget) -> Result<Box<RawValue>, String> {
    let json = to_raw_value(value).map_err(|error| format!("the result can't be encoded as JSON: {error}"))?;
    budget.reserve(json.get().len())?;
    Ok(json)
}

fn blocks(content: &[ContentBlock]) -> Result<Vec<Value>, String> {
    let block = |block: &ContentBlock| match block {
        ContentBlock::Text(text) => Ok(Value::String(text.text.clone())),
        other => serde_json::to_value(other).map_err(|error| format!("the result can't be encoded as JSON: {error}")),
    };
    content.iter().map(block).collect()
}

fn error_message(result: &CallToolResult) -> String {
    let texts = result.content.iter().filter_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    let text = texts.collect::<Vec<_>>().join("\n");
    match (&result.structured_content, text.trim().is_empty()) {
        (_, false) => text,
        (Some(content), true) => content.to_string(),
        (None, true) => "the tool failed without a message".into(),
    }
}

/// Removes the credentials of the server from a response or an error.
pub fn redact(response: Result<FunctionResponse, FunctionError>, secrets: &[Secret]) -> Result<FunctionResponse, FunctionError> {
    if secrets.is_empty() {
        return response;
    }
    let redact = |text: &str| {
        let redacted = secrets.iter().fold(text.as_bytes().to_vec(), |bytes, secret| secret.redact(bytes).into_owned());
        String::from_utf8(redacted).unwrap_or_default()
    };
    let redact_json = |json: &RawValue| {
        RawValue::from_string(redact(json.get())).map_err(|_| "the result contains a credential that can't be removed".to_owned())
    };
    let mut response = response.map_err(|error| {
        let mut redacted = FunctionError::from(redact(&error.message));
        redacted.body = match error.body {
            Some(FunctionValue::Json(json)) => redact_json(&json).ok().map(FunctionValue::Json),
            // A tool has JSON content only.
            Some(FunctionValue::Bytes(_)) | None => None,
        };
        redacted
    })?;
    if let FunctionValue::Json(json) = &response.body {
        response.body = FunctionValue::Json(redact_json(json)?);
    }
    response.details = response.details.as_deref().map(redact_json).transpose()?;
    Ok(response)
}
