//! Notes on the fields of a table that has no type of its own: the body of an operation, or the arguments of a tool.

use super::{constraints::note, document::Node};

/// The depth of nested tables.
const MAX_DEPTH: usize = 6;

/// The number of fields with a note. Further ones are left out.
const MAX_LINES: usize = 300;

/// Returns a line for each field that has a description, a constraint or a default. Nested fields have names such as `owner.name` and
/// `items[].id`. `hidden` are the names of fields that scripts can't see.
///
/// Does not follow references inside the schema, because each has a type with notes of its own.
pub fn field_lines(schema: &Node<'_>, hidden: &[&str]) -> Vec<String> {
    let mut lines = Vec::new();
    collect(schema, "", hidden, MAX_DEPTH, &mut lines);
    lines
}

fn collect(schema: &Node<'_>, path: &str, hidden: &[&str], depth: usize, lines: &mut Vec<String>) {
    for (name, property) in schema.get("properties").map(|properties| properties.members()).unwrap_or_default() {
        if lines.len() >= MAX_LINES || hidden.contains(&name.as_str()) {
            continue;
        }
        let path = if path.is_empty() { name } else { format!("{path}.{name}") };
        let note = note(&property);
        let line = format!("  {path}: {note}");
        if !note.is_empty() && !lines.contains(&line) {
            lines.push(line);
        }
        if depth > 0 {
            collect(&property, &path, &[], depth - 1, lines);
        }
    }
    if depth == 0 {
        return;
    }
    if let Some(items) = schema.get("items") {
        collect(&items, &format!("{path}[]"), &[], depth - 1, lines);
    }
    for key in ["allOf", "anyOf", "oneOf"] {
        for (_, part) in schema.get(key).map(|parts| parts.members()).unwrap_or_default() {
            collect(&part, path, hidden, depth - 1, lines);
        }
    }
}
