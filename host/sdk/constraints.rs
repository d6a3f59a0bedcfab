//! The constraints of schemas in words, for documentation. A model pays for each word, so they are short.

use super::{docs, document::Node};
use serde_json::Value;

/// The depth of nested `allOf`, `anyOf` and `oneOf` in which constraints are looked up, and the number of schemas. Schemas that refer to
/// each other would be read again and again.
const MAX_DEPTH: usize = 4;
const MAX_SCHEMAS: usize = 200;

/// The number of values of an enumeration that are listed.
const MAX_VALUES: usize = 30;

/// The length in characters of a pattern and of a default.
const MAX_TEXT: usize = 100;

/// Formats that say nothing beyond the type.
const PLAIN_FORMATS: [&str; 7] = ["int32", "int64", "uint32", "uint64", "float", "double", "decimal"];

/// Returns the start of the description, the constraints and the default of a schema on one line. Empty if it has none.
///
/// Does not follow references: the definition of the type that the schema refers to has the rest.
pub fn note(node: &Node<'_>) -> String {
    let description = docs::summary(&[&printable(description(node, MAX_DEPTH))]);
    Some(description).filter(|text| !text.is_empty()).into_iter().chain(constraints(node, false)).collect::<Vec<_>>().join("; ")
}

/// Returns the constraints of a schema and its default, each as a few words. `is_following` includes those of referenced schemas.
pub fn constraints(node: &Node<'_>, is_following: bool) -> Vec<String> {
    let mut found = Vec::new();
    let mut left = MAX_SCHEMAS;
    collect(node, is_following, MAX_DEPTH, &mut left, &mut found);
    left = MAX_SCHEMAS;
    if let Some(default) = default(node, is_following, MAX_DEPTH, &mut left) {
        found.push(format!("default {}", shortened(&default.to_string())));
    }
    found
}

/// Adds the constraints of a schema and of those that also apply. `left` is the number of schemas that may still be read.
fn collect(node: &Node<'_>, is_following: bool, depth: usize, left: &mut usize, found: &mut Vec<String>) {
    let Some(rest) = left.checked_sub(1) else { return };
    *left = rest;
    let mut add = |text: String| {
        if !found.contains(&text) {
            found.push(text);
        }
    };
    range(node, ["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"], "").map(&mut add);
    range(node, ["minLength", "", "maxLength", ""], " characters").map(&mut add);
    range(node, ["minItems", "", "maxItems", ""], " items").map(&mut add);
    range(node, ["minProperties", "", "maxProperties", ""], " fields").map(&mut add);
    if let Some(step) = node.value.get("multipleOf").filter(|step| step.is_number()) {
        add(format!("a multiple of {step}"));
    }
    if node.flag("uniqueItems") == Some(true) {
        add("no duplicates".into());
    }
    if !node.text("pattern").is_empty() {
        add(format!("pattern {}", shortened(node.text("pattern"))));
    }
    if !node.text("format").is_empty() && !PLAIN_FORMATS.contains(&node.text("format")) {
        add(format!("format {}", shortened(node.text("format"))));
    }
    values(node).map(&mut add);
    if depth == 0 {
        return;
    }
    for part in parts(node, is_following) {
        collect(&part, is_following, depth - 1, left, found);
    }
    if let Some(items) = node.get("items") {
        let mut each = Vec::new();
        collect(&items, is_following, depth - 1, left, &mut each);
        if !each.is_empty() {
            found.push(format!("each item: {}", each.join(", ")));
        }
    }
}

/// Returns the schemas that also apply: the target of a reference, all of `allOf`, and the only alternative to null.
fn parts<'a>(node: &Node<'a>, is_following: bool) -> Vec<Node<'a>> {
    let mut parts = Vec::new();
    if is_following && node.value.get("$ref").is_some() {
        parts.extend(node.clone().resolve());
    }
    let members = |key: &str| node.get(key).map(|all| all.members()).unwrap_or_default().into_iter().map(|(_, part)| part);
    parts.extend(members("allOf"));
    for key in ["anyOf", "oneOf"] {
        let mut alternatives = members(key).filter(|part| part.text("type") != "null");
        if let (Some(only), None) = (alternatives.next(), alternatives.next()) {
            parts.push(only);
        }
    }
    parts
}

fn description<'a>(node: &Node<'a>, depth: usize) -> &'a str {
    let own = node.text("description");
    if !own.trim().is_empty() || depth == 0 {
        return own;
    }
    parts(node, false).iter().map(|part| description(part, depth - 1)).find(|text| !text.trim().is_empty()).unwrap_or_default()
}

fn default<'a>(node: &Node<'a>, is_following: bool, depth: usize, left: &mut usize) -> Option<&'a Value> {
    *left = left.checked_sub(1)?;
    let own = node.value.get("default");
    if own.is_some() || depth == 0 {
        return own;
    }
    parts(node, is_following).iter().find_map(|part| default(part, is_following, depth - 1, left))
}

/// Returns a range in words, from the keys of the minimum, the exclusive minimum, the maximum and the exclusive maximum.
fn range(node: &Node<'_>, keys: [&str; 4], unit: &str) -> Option<String> {
    let [minimum, above, maximum, below] = keys.map(|key| node.value.get(key).filter(|value| value.is_number()));
    let range = match (minimum, above, maximum, below) {
        (Some(minimum), None, Some(maximum), None) if minimum == maximum => format!("exactly {minimum}"),
        (Some(minimum), None, Some(maximum), None) => format!("{minimum} to {maximum}"),
        _ => {
            let words = [("at least", minimum), ("more than", above), ("at most", maximum), ("less than", below)];
            let words = words.iter().filter_map(|(words, limit)| limit.map(|limit| format!("{words} {limit}")));
            words.collect::<Vec<_>>().join(", ")
        }
    };
    // One character, but two characters.
    let unit = if range.ends_with(" 1") && !range.contains(" to ") { unit.trim_end_matches('s') } else { unit };
    (!range.is_empty()).then(|| format!("{range}{unit}"))
}

/// Returns the values of an enumeration that its Luau type does not have, such as numbers.
fn values(node: &Node<'_>) -> Option<String> {
    let is_in_type = |value: &Value| value.is_string() || value.is_boolean() || value.is_null();
    if let Some(only) = node.value.get("const").filter(|value| !is_in_type(value)) {
        return Some(format!("always {}", shortened(&only.to_string())));
    }
    let all = node.value.get("enum").and_then(Value::as_array).filter(|all| !all.iter().all(is_in_type))?;
    let listed: Vec<String> = all.iter().take(MAX_VALUES).map(|value| shortened(&value.to_string())).collect();
    let more = if all.len() > MAX_VALUES { format!(" and {} more", all.len() - MAX_VALUES) } else { String::new() };
    Some(format!("one of {}{more}", listed.join(", ")))
}

/// Returns a text without line breaks and other control characters, which would end a comment in a type definition.
fn printable(text: &str) -> String {
    text.replace(char::is_control, " ")
}

fn shortened(text: &str) -> String {
    let text = docs::collapse_whitespace(&printable(text));
    match text.char_indices().nth(MAX_TEXT) {
        None => text,
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::{constraints, note};
    use crate::sdk::document::Document;
    use serde_json::json;

    #[test]
    fn constraints_are_a_few_words() {
        for (schema, expected) in [
            (json!({ "type": "integer", "format": "int32", "minimum": 1, "maximum": 100, "default": 20 }), "1 to 100; default 20"),
            (json!({ "type": "integer", "minimum": 3, "maximum": 3 }), "exactly 3"),
            (json!({ "type": "string", "minLength": 1 }), "at least 1 character"),
            (json!({ "type": "array", "minItems": 0, "maxItems": 1 }), "0 to 1 items"),
            (json!({ "type": "number", "exclusiveMinimum": 0, "maximum": 0.5 }), "more than 0, at most 0.5"),
            (
                json!({ "type": "number", "minimum": -1, "exclusiveMaximum": 1, "multipleOf": 0.1 }),
                "at least -1, less than 1; a multiple of 0.1",
            ),
            (json!({ "type": "string", "minLength": 1, "maxLength": 40, "pattern": "^[a-z]+$" }), "1 to 40 characters; pattern ^[a-z]+$"),
            (json!({ "type": "string", "format": "date-time", "description": "When\nit\u{0}starts" }), "When it starts; format date-time"),
            (json!({ "type": "integer", "enum": [1, 2, 3], "default": 2 }), "one of 1, 2, 3; default 2"),
            (json!({ "enum": ["asc", "desc"], "default": "asc" }), "default \"asc\""),
            (json!({ "const": 7 }), "always 7"),
            (
                json!({ "type": "array", "maxItems": 3, "uniqueItems": true, "items": { "type": "string", "maxLength": 5, "format": "uuid" } }),
                "at most 3 items; no duplicates; each item: at most 5 characters, format uuid",
            ),
            (
                json!({ "anyOf": [{ "type": "string", "maxLength": 9, "description": "A note" }, { "type": "null" }] }),
                "A note; at most 9 characters",
            ),
            (json!({ "allOf": [{ "$ref": "#/$defs/Age" }, { "maximum": 9 }], "description": "Years" }), "Years; at most 9"),
            (json!({ "anyOf": [{ "minimum": 1 }, { "maxLength": 2 }] }), ""),
            (json!({ "minimum": "x", "pattern": 7, "enum": [], "default": null }), "default null"),
        ] {
            assert_eq!(note(&Document::new(schema.clone()).root()), expected, "{schema}");
        }
    }

    #[test]
    fn constraints_of_references_are_included_on_request() {
        let document = Document::new(json!({
            "schema": { "$ref": "#/$defs/Age" },
            "$defs": { "Age": { "type": "integer", "minimum": 0, "maximum": 150, "default": 18 }, "Loop": { "allOf": [{ "$ref": "#/$defs/Loop" }] } },
            "loop": { "$ref": "#/$defs/Loop" },
        }));
        let schema = document.at("/schema").unwrap();
        assert_eq!(constraints(&schema, true), ["0 to 150", "default 18"]);
        assert_eq!(constraints(&schema, false), [""; 0]);
        assert_eq!(constraints(&document.at("/loop").unwrap(), true), [""; 0]);
    }

    #[test]
    fn schemas_that_branch_at_each_level_are_read_in_bounded_time() {
        let branches: Vec<_> = (0..1000).map(|_| json!({ "$ref": "#/$defs/Trap" })).collect();
        let document =
            Document::new(json!({ "schema": { "$ref": "#/$defs/Trap" }, "$defs": { "Trap": { "minimum": 1, "allOf": branches } } }));
        let started = std::time::Instant::now();
        assert_eq!(constraints(&document.at("/schema").unwrap(), true), ["at least 1"]);
        assert!(started.elapsed().as_secs() < 5);
    }
}
