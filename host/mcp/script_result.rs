//! A run as the result of a tool call.

use super::file_resources;
use crate::{ErrorKind, Outcome, Run, ScriptError, files::FileOperation};
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, MetaObject, object};
use serde_json::{Value, json};

/// The key of the receipt in `_meta`.
const RECEIPT_KEY: &str = "toolscript/receipt";

/// The maximum nesting of a result. Many JSON parsers stop at 128 levels for the whole message.
const MAX_DEPTH: usize = 100;

/// The maximum number of file links in one result. The outcome lists all files.
const MAX_LINKS: usize = 100;

/// Returns the JSON Schema of an outcome. Written by hand, because [`Outcome`] serializes one of `result` and `error`.
pub fn schema() -> JsonObject {
    let lines = json!({ "type": "array", "items": { "type": "string" } });
    object(json!({
        "type": "object",
        "properties": {
            "result": {},
            "error": { "type": "object", "properties": { "kind": { "type": "string" }, "message": { "type": "string" } } },
            "logs": lines,
            "files_touched": { "type": "array", "items": { "type": "object", "required": ["name", "op"] } },
            "truncated": lines,
        },
        "required": ["logs", "files_touched"],
    }))
}

/// Returns the outcome as structured content and as text, with links to the written files. The receipt is in `_meta`, which no model
/// reads.
pub fn of_run(mut run: Run) -> CallToolResult {
    reject_deep_result(&mut run.outcome);
    let text = serde_json::to_string(&run.outcome).unwrap_or_default();
    let mut result = CallToolResult::default();
    let mut structure = serde_json::Map::new();
    match &run.outcome.result {
        Ok(_) => {
            result.is_error = Some(false);
            structure.insert("result".into(), run.outcome.decode().unwrap_or(Value::Null));
        }
        Err(error) => {
            result.is_error = Some(true);
            result.content.push(ContentBlock::text(format!("Script execution error: {}", error.message)));
            structure.insert("error".into(), json!(error));
        }
    }
    structure.insert("logs".into(), json!(run.outcome.logs));
    structure.insert("files_touched".into(), json!(run.outcome.files_touched));
    if !run.outcome.truncated.is_empty() {
        structure.insert("truncated".into(), json!(run.outcome.truncated));
    }
    result.content.push(ContentBlock::text(text));
    let written = run.outcome.files_touched.iter().filter(|file| file.op != FileOperation::Remove).take(MAX_LINKS);
    result.content.extend(written.map(|file| ContentBlock::resource_link(file_resources::describe(&file.name, file.bytes))));
    result.structured_content = Some(Value::Object(structure));
    let mut meta = MetaObject::default();
    meta.0.insert(RECEIPT_KEY.into(), json!(run.receipt));
    result.meta = Some(meta);
    result
}

/// Replaces a result that is nested too deep for clients by an error.
fn reject_deep_result(outcome: &mut Outcome) {
    let (mut depth, mut max_depth, mut in_string, mut escaped) = (0_usize, 0, false, false);
    for byte in outcome.result.iter().flat_map(|json| json.get().bytes()) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_string,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => depth += 1,
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        max_depth = max_depth.max(depth);
    }
    if max_depth > MAX_DEPTH {
        let message =
            format!("the result is nested {max_depth} levels deep, more than the maximum of {MAX_DEPTH}; return json.encode(value)");
        outcome.result = Err(ScriptError::new(ErrorKind::Result, message));
    }
}
