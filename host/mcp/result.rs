//! A run as the result of a tool call.

use super::{arguments::Wrong, resources};
use crate::{ErrorKind, Outcome, Run, ScriptError, files::FileOperation};
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, MetaObject, object};
use serde_json::{Value, json};

/// Where `_meta` has what the run cost.
const RECEIPT: &str = "toolscript/receipt";

/// Nesting that a client's JSON reader can be trusted with: many stop at 128 for the message as a whole.
const DEPTH: usize = 100;

/// Links to files in one result, which a client may show; all files are in the outcome.
const MAX_LINKS: usize = 100;

/// The outcome as JSON Schema, for runs that succeeded and for those that failed.
pub fn schema() -> JsonObject {
    object(json!({
        "type": "object",
        "properties": {
            "result": { "description": "What the script returned; absent if it failed" },
            "error": {
                "type": "object",
                "description": "Why the script has no result; absent if it has one",
                "properties": {
                    "kind": { "enum": ["syntax", "runtime", "result", "internal", "fuel", "timeout", "memory", "cancelled"] },
                    "message": { "type": "string" },
                    "traceback": { "type": "string" },
                },
                "required": ["kind", "message"],
            },
            "logs": { "type": "array", "items": { "type": "string" }, "description": "What the script printed" },
            "files_touched": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "name": { "type": "string" },
                        "op": { "enum": ["write", "append", "remove"] },
                        "bytes": { "type": "integer", "description": "Size on disk after the run" },
                        "cut": { "type": "boolean", "description": "The run was stopped before all of it was on disk" },
                    },
                    "required": ["name", "op"],
                },
            },
            "truncated": { "type": "array", "items": { "type": "string" }, "description": "What was cut at its limit" },
        },
        "required": ["logs", "files_touched"],
    }))
}

/// What the client gets for arguments that are wrong.
pub fn of_mistake(wrong: &Wrong) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(wrong.to_string())])
}

/// What the client gets: the outcome twice, as structure and as text, and links to the files that were written.
pub fn of_run(mut run: Run) -> CallToolResult {
    refuse_deep(&mut run.outcome);
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
    result.content.extend(written.map(|file| ContentBlock::resource_link(resources::describe(&file.name, file.bytes))));
    result.structured_content = Some(Value::Object(structure));
    let mut meta = MetaObject::default();
    meta.0.insert(RECEIPT.into(), json!(run.receipt));
    result.meta = Some(meta);
    result
}

/// A result that a client could not read is an error of the script's.
fn refuse_deep(outcome: &mut Outcome) {
    let (mut depth, mut deepest, mut in_string, mut escaped) = (0_usize, 0, false, false);
    for byte in outcome.result.iter().flat_map(|json| json.get().bytes()) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_string,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => depth += 1,
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    if deepest > DEPTH {
        let message = format!("the result is nested {deepest} levels deep; at most {DEPTH} can be sent: return json.encode of it");
        outcome.result = Err(ScriptError::new(ErrorKind::Result, message));
    }
}
