//! The syntax of Luau types.

use super::names::is_keyword;
use std::fmt::Write as _;

/// The type of a schema without constraints.
pub const ANY: &str = "any";

/// The type of an integer of 64 bits: beyond 2^53 it is a string of digits.
pub const LARGE_INTEGER: &str = "number | string";

/// A type in Luau syntax.
pub struct Type {
    pub text: String,
    /// The type is a union or an intersection, so it needs parentheses inside another type.
    pub is_compound: bool,
    pub is_optional: bool,
}

impl Type {
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_compound: false, is_optional: false }
    }

    /// Returns the text as a part of another type.
    pub fn parenthesized(&self) -> String {
        if self.is_compound { format!("({})", self.text) } else { self.text.clone() }
    }

    /// Returns the text of the type, optional unless it is required.
    pub fn with_required(mut self, is_required: bool) -> String {
        self.is_optional |= !is_required;
        self.to_text()
    }

    /// Returns the text of the type, with `?` if it is optional.
    pub fn to_text(&self) -> String {
        match (self.is_optional, self.text.as_str()) {
            (true, ANY | "nil") | (false, _) => self.text.clone(),
            (true, _) => format!("{}?", self.parenthesized()),
        }
    }
}

/// Returns a table type with a comment for each field that has a note. Without comments, it is on one line.
pub fn table(fields: &[(String, String)]) -> String {
    if fields.iter().all(|(field, note)| note.is_empty() && !field.contains('\n')) {
        let fields: Vec<&str> = fields.iter().map(|(field, _)| field.as_str()).collect();
        return format!("{{ {} }}", fields.join(", "));
    }
    let mut text = String::from("{\n");
    for (field, note) in fields {
        let field = field.replace('\n', "\n    ");
        // The note of a nested table would be far from its name.
        let _ = match note.is_empty() || !field.contains('\n') {
            true => writeln!(text, "    {field},{}", comment(note)),
            false => writeln!(text, "   {}\n    {field},", comment(note)),
        };
    }
    text.push('}');
    text
}

/// Returns a comment to the end of the line, or nothing. The space keeps `[[` from starting a comment of several lines.
pub fn comment(note: &str) -> String {
    if note.is_empty() { String::new() } else { format!(" -- {note}") }
}

pub fn quoted(text: &str) -> String {
    format!("{text:?}")
}

pub fn union(types: Vec<Type>) -> Type {
    let is_optional = types.iter().any(|kind| kind.is_optional);
    let mut texts: Vec<String> = Vec::new();
    for kind in types.iter().filter(|kind| kind.text != "nil") {
        let text = kind.parenthesized();
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    if texts.is_empty() || texts.iter().any(|text| text == ANY) {
        return Type::plain(if texts.is_empty() && is_optional { "nil" } else { ANY });
    }
    Type { is_compound: texts.len() > 1, text: texts.join(" | "), is_optional }
}

/// Returns a name as a key in a table type.
pub fn key(name: &str) -> String {
    let is_identifier = name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
        && !name.starts_with(|character: char| character.is_ascii_digit())
        && !name.is_empty()
        && !is_keyword(name);
    if is_identifier { name.to_owned() } else { format!("[{}]", quoted(name)) }
}

/// Converts a text to Pascal case, for the name of a type. Keeps ASCII letters and digits only.
pub fn pascal_case(text: &str) -> String {
    let words = text.split(|character: char| !character.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(|word| format!("{}{}", word[..1].to_ascii_uppercase(), &word[1..])).collect()
}
