//! What people and models read of functions, wherever they lead.

use super::{
    function::{Function, Target},
    luau::pascal_case,
};
use std::fmt::Write as _;

/// Bytes of the documentation of one function. A model has to read it.
const MAX_DOCS: usize = 48 << 10;

/// What a function takes and gives, as Luau writes it.
pub struct Shape {
    pub arguments: String,
    pub results: String,
}

/// All that is known of a function: how to call it, what it does, and its types.
pub fn text(function: &Function) -> String {
    let (shape, description, definitions) = match &function.target {
        Target::Operation(api, operation) => {
            let mut types = api.types();
            (api.shape(operation, &mut types), api.describe(operation), types.definitions(MAX_DOCS))
        }
        Target::Tool(_, tool) => {
            let (shape, definitions) = tool.shape(&prefix(function), MAX_DOCS);
            (shape, tool.describe(), definitions)
        }
    };
    let mut text = format!("sdk.{}({}): {}\n{description}", function.full_name(), shape.arguments, shape.results);
    if !definitions.is_empty() {
        let _ = write!(text, "\n\n{}", definitions.trim_end());
    }
    cut(text, "(cut)")
}

/// A text of a size that a model can read.
pub fn cut(mut text: String, remark: &str) -> String {
    if text.len() > MAX_DOCS {
        text.truncate(text.floor_char_boundary(MAX_DOCS));
        text.push('\n');
        text.push_str(remark);
    }
    text
}

/// In front of the names of a tool's types, as each tool has its own.
pub fn prefix(function: &Function) -> String {
    format!("{}{}", pascal_case(&function.source), pascal_case(&function.name))
}

/// Replaces each run of white space with one space.
pub fn collapse_whitespace(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Characters of what a function does, in a list.
const MAX_SUMMARY: usize = 120;

/// What a function does, in a line of a list: the first of these that says something.
pub fn summary(texts: &[&str]) -> String {
    let said = texts.iter().map(|text| collapse_whitespace(text)).find(|text| !text.is_empty()).unwrap_or_default();
    match said.char_indices().nth(MAX_SUMMARY) {
        None => said,
        Some((end, _)) => format!("{}…", said[..end].trim_end()),
    }
}
