//! A run as the result of a tool call.

use super::{file_resources, large_output::SavedOutputs};
use crate::{
    ErrorKind, Outcome, Run, ScriptError,
    engine::Diagnostic,
    files::{FileOperation, TouchedFile},
};
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, MetaObject, object};
use serde::Serialize;
use serde_json::{Value, json, value::RawValue};
use std::collections::BTreeMap;

/// The key of the receipt in `_meta`.
const RECEIPT_KEY: &str = "toolscript/receipt";

/// The maximum nesting of a result. Many JSON parsers stop at 128 levels for the whole message.
const MAX_DEPTH: usize = 100;

/// The maximum number of file links in one result. The outcome lists more files.
const MAX_LINKS: usize = 100;

/// The maximum length of the names in all file links of one result in bytes. Each is in its link twice, and longer in the URI.
const MAX_LINK_NAMES: usize = 16 << 10;

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
            "files_touched_count": { "type": "integer" },
            "truncated": lines,
            "replaced": lines,
            "diagnostics": { "type": "array", "items": { "type": "object" } },
            "outputs": { "type": "object" },
        },
        "required": ["logs", "files_touched"],
    }))
}

/// Returns the outcome as structured content and as text, with links to the written files. The receipt is in `_meta`, which no model
/// reads.
///
/// The text of a failed run begins with its message, so that the rest does not repeat the error. `touched` is the number of all files
/// that the run touched, shown if the outcome does not list all of them.
pub fn of_run(run: &Run, touched: usize, outputs: &SavedOutputs) -> CallToolResult {
    let outcome = &run.outcome;
    let files_touched_count = (touched > outcome.files_touched.len()).then_some(touched);
    let mut result = CallToolResult::default();
    let mut structure = serde_json::Map::new();
    match &outcome.result {
        Ok(_) => {
            structure.insert("result".into(), outcome.decode().unwrap_or(Value::Null));
        }
        Err(error) => {
            result.content.push(ContentBlock::text(error_text(error)));
            structure.insert("error".into(), json!(error));
        }
    }
    result.is_error = Some(outcome.result.is_err());
    structure.insert("logs".into(), json!(outcome.logs));
    structure.insert("files_touched".into(), json!(outcome.files_touched));
    if let Some(count) = files_touched_count {
        structure.insert("files_touched_count".into(), json!(count));
    }
    if !outcome.truncated.is_empty() {
        structure.insert("truncated".into(), json!(outcome.truncated));
    }
    if !outcome.replaced.is_empty() {
        structure.insert("replaced".into(), json!(outcome.replaced));
    }
    if !outcome.diagnostics.is_empty() {
        structure.insert("diagnostics".into(), json!(outcome.diagnostics));
    }
    if !outputs.is_empty() {
        structure.insert("outputs".into(), json!(outputs));
    }
    let text = serde_json::to_string(&Text {
        result: outcome.result.as_deref().ok(),
        logs: &outcome.logs,
        files_touched: &outcome.files_touched,
        files_touched_count,
        truncated: &outcome.truncated,
        replaced: &outcome.replaced,
        diagnostics: &outcome.diagnostics,
        outputs,
    });
    result.content.extend(text.ok().filter(|text| text != "{}").map(ContentBlock::text));
    let written = outcome.files_touched.iter().filter(|file| file.op != FileOperation::Remove).take(MAX_LINKS);
    let links = outputs.values().map(|name| (name, None)).chain(written.map(|file| (&file.name, file.bytes)));
    let mut names = 0;
    let fits = |(name, _): &(&String, _)| {
        names += name.len();
        names <= MAX_LINK_NAMES
    };
    result.content.extend(links.take_while(fits).map(|(name, bytes)| ContentBlock::resource_link(file_resources::describe(name, bytes))));
    result.structured_content = Some(Value::Object(structure));
    let mut meta = MetaObject::default();
    meta.0.insert(RECEIPT_KEY.into(), json!(run.receipt));
    result.meta = Some(meta);
    result
}

/// The outcome as text for a model, without empty parts and without the error.
#[derive(Serialize)]
struct Text<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    logs: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    files_touched: &'a [TouchedFile],
    #[serde(skip_serializing_if = "Option::is_none")]
    files_touched_count: Option<usize>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    truncated: &'a [&'static str],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    replaced: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    diagnostics: &'a [Diagnostic],
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    outputs: &'a SavedOutputs,
}

/// Returns the message of an error, and its traceback if that names more than the line in the message.
fn error_text(error: &ScriptError) -> String {
    if error.kind == ErrorKind::Check {
        let lines: Vec<String> = error.diagnostics.iter().map(ToString::to_string).collect();
        return format!("The script has mistakes, and nothing was executed:\n{}", lines.join("\n"));
    }
    let frames = error.traceback.iter().flat_map(|traceback| traceback.lines()).filter(|frame| !frame.starts_with("[C]"));
    let frames: Vec<&str> = frames.collect();
    let traceback = if frames.len() > 1 { format!("\n{}", frames.join("\n")) } else { String::new() };
    format!("Script execution error: {}{traceback}", error.message)
}

/// Replaces a result that is nested too deep for clients by an error.
pub fn reject_deep_result(outcome: &mut Outcome) {
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
