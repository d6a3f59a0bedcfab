//! Documentation of functions, for people and models.

use super::{
    function::{Function, Target},
    luau_types::{LARGE_INTEGER, pascal_case},
};
use std::fmt::Write as _;

/// The size of the documentation of one function in bytes, so that it fits into the context of a model.
pub const MAX_DOCS: usize = 48 << 10;

/// The argument and result types of a function, in Luau syntax.
pub struct Signature {
    pub arguments: String,
    pub results: String,
}

/// Returns the signature, the description and the types of a function.
pub fn function_docs(function: &Function) -> String {
    let (signature, description, definitions) = match &function.target {
        Target::Operation(api, operation) => {
            let mut types = api.types();
            (api.signature(operation, &mut types), api.describe(operation), types.definitions(MAX_DOCS))
        }
        Target::Tool(_, tool) => {
            let (signature, definitions) = tool.signature(&type_prefix(function), MAX_DOCS);
            (signature, tool.describe(), definitions)
        }
    };
    let mut text = format!("sdk.{}({}): {}\n{description}", function.full_name(), signature.arguments, signature.results);
    if text.contains(LARGE_INTEGER) || definitions.contains(LARGE_INTEGER) {
        let _ = write!(text, "\n\nAn integer of 64 bits ({LARGE_INTEGER}) is a string of digits beyond 2^53. Pass it as either.");
    }
    if !definitions.is_empty() {
        let _ = write!(text, "\n\n{}", definitions.trim_end());
    }
    truncate(text, "(truncated)")
}

/// Returns the signature of a function on one line.
#[cfg(feature = "mcp")]
pub fn signature(function: &Function) -> String {
    let signature = match &function.target {
        Target::Operation(api, operation) => api.signature(operation, &mut api.types()),
        Target::Tool(_, tool) => tool.signature(&type_prefix(function), 0).0,
    };
    format!("sdk.{}({}): {}", function.full_name(), signature.arguments, signature.results)
}

/// Truncates a text to the size of a function's documentation, and appends a remark if it was longer.
pub fn truncate(mut text: String, remark: &str) -> String {
    if text.len() > MAX_DOCS {
        text.truncate(text.floor_char_boundary(MAX_DOCS));
        text.push('\n');
        text.push_str(remark);
    }
    text
}

/// Returns the prefix of the type names of a tool. Each tool has its own types.
pub fn type_prefix(function: &Function) -> String {
    format!("{}{}", pascal_case(&function.source), pascal_case(&function.name))
}

/// Replaces each run of white space with one space.
pub fn collapse_whitespace(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The length of a summary in characters.
const MAX_SUMMARY: usize = 120;

/// Returns the first text that is not blank, truncated and on one line.
pub fn summary(texts: &[&str]) -> String {
    let text = texts.iter().map(|text| collapse_whitespace(text)).find(|text| !text.is_empty()).unwrap_or_default();
    match text.char_indices().nth(MAX_SUMMARY) {
        None => text,
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
    }
}
