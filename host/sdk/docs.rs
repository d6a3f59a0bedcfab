//! Documentation of functions, for people and models.

use super::{
    function::{Function, Target},
    luau_syntax::{LARGE_INTEGER, pascal_case},
    luau_types::Definition,
    openapi::Api,
};
use std::{fmt::Write as _, sync::Arc};

/// The size of the documentation of one function in bytes.
pub const MAX_DOCS: usize = 48 << 10;

/// The space in bytes for the note about types that are not shown, and for the names in it.
const NOTE_SPACE: usize = 400;
const NOTE_NAMES: usize = 250;

/// The argument and result types of a function, in Luau syntax.
pub struct Signature {
    pub arguments: String,
    pub results: String,
}

/// Returns the signature, the description and the types of a function, in at most `max_bytes`.
///
/// The types of the arguments have notes on their fields. Those of the result are shorter; [`type_docs`] has their notes.
pub fn function_docs(function: &Function, max_bytes: usize) -> String {
    let (signature, description, definitions) = match &function.target {
        Target::Operation(api, operation) => {
            let mut types = api.types();
            let arguments = api.arguments(operation, &mut types);
            let mut definitions = types.definitions(MAX_DOCS, true);
            let results = api.results(operation, &mut types);
            definitions.extend(types.definitions(MAX_DOCS, false));
            (Signature { arguments, results }, api.describe(operation), definitions)
        }
        Target::Tool(_, tool) => {
            let (signature, definitions) = tool.signature(&type_prefix(function), MAX_DOCS, false);
            (signature, tool.describe(), definitions)
        }
    };
    let remark = if max_bytes < MAX_DOCS {
        format!("(truncated; sdk.docs({:?}) in a script returns the whole text)", function.full_name())
    } else {
        "(truncated)".into()
    };
    let mut text = format!("sdk.{}({}): {}", function.full_name(), signature.arguments, signature.results);
    // A long signature leaves space for the description.
    if text.len() > max_bytes / 2 {
        text.truncate(text.floor_char_boundary(max_bytes / 2));
        text.push_str("…\n");
        text.push_str(&remark);
    }
    let _ = write!(text, "\n{description}");
    if let Some(observed) = function.observed.describe() {
        let _ = write!(text, "\n\n{observed}");
    }
    let is_large = |definition: &Definition| definition.text.as_ref().is_some_and(|text| text.contains(LARGE_INTEGER));
    if text.contains(LARGE_INTEGER) || definitions.iter().any(is_large) {
        let _ = write!(text, "\n\nAn integer of 64 bits ({LARGE_INTEGER}) is a string of digits beyond 2^53. Pass it as either.");
    }
    let note_space = if definitions.is_empty() { 0 } else { NOTE_SPACE };
    append_definitions(truncate(text, max_bytes.saturating_sub(note_space), &remark), &definitions, max_bytes)
}

/// Returns the definition of a type in the documentation of the functions, and of the types that it uses, in at most `max_bytes`.
pub fn type_docs(name: &str, apis: &[Arc<Api>], functions: &[Arc<Function>], max_bytes: usize) -> Option<String> {
    let of_api = || {
        let (api, pointer) = apis.iter().find_map(|api| Some((api, api.type_pointer(name)?)))?;
        let mut types = api.types();
        types.refer_to(name, pointer);
        let mut definitions = types.definitions(MAX_DOCS, true);
        definitions.sort_by_key(|definition| definition.name != name);
        Some(definitions)
    };
    let of_tool = |function: &Arc<Function>| match &function.target {
        Target::Tool(_, tool) if name.starts_with(&type_prefix(function)) => {
            let definitions = tool.signature(&type_prefix(function), MAX_DOCS, true).1;
            definitions.into_iter().find(|definition| definition.name == name).map(|definition| vec![definition])
        }
        _ => None,
    };
    let definitions = of_api().or_else(|| functions.iter().find_map(of_tool))?;
    let first = definitions.first().and_then(|definition| definition.text.as_deref())?;
    let text = truncate(first.trim_end().to_owned(), max_bytes.saturating_sub(NOTE_SPACE), "(truncated)");
    Some(append_definitions(text, definitions.get(1..).unwrap_or_default(), max_bytes))
}

/// Appends the definitions that fit to a text, and a note with the names of the others.
fn append_definitions(mut text: String, definitions: &[Definition], max_bytes: usize) -> String {
    let total: usize = definitions.iter().map(|definition| definition.text.as_ref().map_or(max_bytes, String::len)).sum();
    let max_bytes = if text.len() + total + 2 <= max_bytes { max_bytes } else { max_bytes.saturating_sub(NOTE_SPACE) };
    let mut omitted: Vec<&str> = Vec::new();
    let mut separator = "\n\n";
    for definition in definitions {
        match definition.text.as_deref().map(str::trim_end) {
            Some(shown) if text.len() + separator.len() + shown.len() <= max_bytes => {
                text.push_str(separator);
                text.push_str(shown);
                separator = "\n";
            }
            _ => omitted.push(&definition.name),
        }
    }
    if !omitted.is_empty() {
        let _ = write!(text, "\n\n({} not shown; ask for one by its name)", listed(&omitted));
    }
    text
}

/// Returns names of types with commas, and the number of the types whose names do not fit.
fn listed(names: &[&str]) -> String {
    let mut bytes = 0;
    let fits = |name: &&&str| {
        bytes += name.len() + 2;
        bytes <= NOTE_NAMES
    };
    let shown: Vec<&str> = names.iter().take_while(fits).copied().collect();
    match names.len() - shown.len() {
        0 => format!(
            "the {} {} {}",
            if names.len() == 1 { "type" } else { "types" },
            shown.join(", "),
            if names.len() == 1 { "is" } else { "are" }
        ),
        more => format!("the types {} and {more} more are", shown.join(", ")),
    }
}

/// Returns the signature of a function on one line.
#[cfg(feature = "mcp")]
pub fn signature(function: &Function) -> String {
    let signature = match &function.target {
        Target::Operation(api, operation) => api.signature(operation, &mut api.types()),
        Target::Tool(_, tool) => tool.signature(&type_prefix(function), 0, false).0,
    };
    format!("sdk.{}({}): {}", function.full_name(), signature.arguments, signature.results)
}

/// Truncates a text to a size in bytes, and ends it with a remark if it was longer.
pub fn truncate(mut text: String, max_bytes: usize, remark: &str) -> String {
    if text.len() > max_bytes {
        text.truncate(text.floor_char_boundary(max_bytes.saturating_sub(remark.len() + 1)));
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
