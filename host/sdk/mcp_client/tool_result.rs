//! Converts the result of a tool to the result of a call.

use super::{content::Blocks, tool::UpstreamTool};
use crate::functions::{Attachment, FunctionError, FunctionResponse, FunctionValue, JsonValue, ResponseBudget};
use crate::sdk::secret::Secret;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{
    Value,
    value::{RawValue, to_raw_value},
};

/// Returns the structured content, or else the content blocks: a text as a string, another block as a table, several blocks as a list. An
/// error of the tool has its structured content as body.
///
/// A value that the server wrapped as `{result = …}` is unwrapped. If the tool says so, a text is decoded as JSON.
pub fn convert(result: CallToolResult, tool: &UpstreamTool, budget: &ResponseBudget) -> Result<FunctionResponse, FunctionError> {
    if result.is_error == Some(true) {
        let mut error = FunctionError::from(error_message(&result));
        let body = result.structured_content.and_then(|content| encode((content, Vec::new()), budget).ok());
        error.body = body.map(|body| Box::new(body.into()));
        return Err(error);
    }
    let has_other_blocks = result.content.iter().any(|block| !matches!(block, ContentBlock::Text(_)));
    let details = match &result.structured_content {
        // The structured content replaces texts only.
        Some(_) if has_other_blocks => Some(Blocks::convert(&result.content)?.into_content()),
        _ => None,
    };
    if result.structured_content.is_none()
        && tool.decodes_text
        && let Some(json) = only_json(&result.content)
    {
        budget.reserve(json.get().len())?;
        return Ok(FunctionResponse::new(json));
    }
    let body = match result.structured_content {
        Some(Value::Object(mut fields)) if fields.len() == 1 && tool.wraps_result() => {
            (fields.remove("result").unwrap_or_else(|| fields.into()), Vec::new())
        }
        Some(content) => (content, Vec::new()),
        None => Blocks::convert(&result.content)?.into_value(),
    };
    let mut response = FunctionResponse::new(encode(body, budget)?);
    response.details = details.map(|details| encode(details, budget)).transpose()?;
    Ok(response)
}

/// Returns the text that is the only block, if it is JSON.
fn only_json(content: &[ContentBlock]) -> Option<Box<RawValue>> {
    match content {
        [ContentBlock::Text(text)] => serde_json::from_str(&text.text).ok(),
        _ => None,
    }
}

fn encode((value, attachments): (Value, Vec<Attachment>), budget: &ResponseBudget) -> Result<JsonValue, String> {
    let text = to_raw_value(&value).map_err(|error| format!("the result can't be encoded as JSON: {error}"))?;
    budget.reserve(text.get().len() + attachments.iter().map(|attachment| attachment.bytes.len()).sum::<usize>())?;
    Ok(JsonValue::from(text).with_attachments(attachments))
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
    let redact = |bytes: &[u8]| secrets.iter().fold(bytes.to_vec(), |bytes, secret| secret.redact(bytes).into_owned());
    let redact_text = |text: &str| String::from_utf8(redact(text.as_bytes())).unwrap_or_default();
    let redact_json = |json: JsonValue| {
        let text = RawValue::from_string(redact_text(json.text.get()));
        let text = text.map_err(|_| "the result contains a credential that can't be removed".to_owned())?;
        let attachment = |Attachment { pointer, bytes }| Attachment { pointer: redact_text(&pointer), bytes: redact(&bytes) };
        Ok::<_, String>(JsonValue::from(text).with_attachments(json.attachments.into_iter().map(attachment).collect()))
    };
    let redact_value = |value: FunctionValue| {
        Ok::<_, String>(match value {
            FunctionValue::Json(json) => FunctionValue::Json(redact_json(json)?),
            FunctionValue::Bytes(bytes) => FunctionValue::Bytes(redact(&bytes)),
        })
    };
    let response = response.map_err(|error| {
        let mut redacted = FunctionError::from(redact_text(&error.message));
        redacted.body = error.body.and_then(|body| redact_value(*body).ok()).map(Box::new);
        redacted
    })?;
    let mut redacted = FunctionResponse::new(redact_value(response.body)?);
    redacted.details = response.details.map(redact_json).transpose()?;
    Ok(redacted)
}
