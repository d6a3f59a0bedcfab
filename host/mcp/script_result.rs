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
    object(json!({
        "type": "object",
        "properties": {
            "result": { "description": "The value that the script returned; absent if it failed" },
            "error": {
                "type": "object",
                "description": "Why the script failed; absent if it succeeded",
                "properties": {
                    "kind": { "enum": ["syntax", "runtime", "result", "internal", "fuel", "timeout", "memory", "calls", "cancelled"] },
                    "message": { "type": "string" },
                    "traceback": { "type": "string" },
                },
                "required": ["kind", "message"],
            },
            "logs": { "type": "array", "items": { "type": "string" }, "description": "The lines that the script printed" },
            "files_touched": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "name": { "type": "string" },
                        "op": { "enum": ["write", "append", "remove"] },
                        "bytes": { "type": "integer", "description": "Size of the file after the run" },
                        "cut": { "type": "boolean", "description": "The run was stopped before all data was written" },
                    },
                    "required": ["name", "op"],
                },
            },
            "truncated": { "type": "array", "items": { "type": "string" }, "description": "The parts that a limit truncated" },
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
