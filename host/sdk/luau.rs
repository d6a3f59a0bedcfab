//! Schemas as types of Luau, for people, editors and models.

use super::{
    document::{Document, Node},
    frozen::declares,
    names::{Distinct, is_keyword},
};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

/// Schemas inside of schemas, without a name of their own, that are written out.
const MAX_DEPTH: usize = 6;

/// Parts of one schema that are written out.
const MAX_NODES: usize = 2000;

/// Where schemas have names.
const NAMED: [&str; 3] = ["#/components/schemas/", "#/$defs/", "#/definitions/"];

/// What a schema without anything to say is.
const ANY: &str = "any";

/// Types that refer to each other, by their names.
pub struct Types<'a> {
    document: &'a Document,
    /// In front of all names, as other documents may have the same.
    prefix: String,
    distinct: Distinct,
    /// Names by where their schemas are.
    names: BTreeMap<String, String>,
    /// Names that are referred to and not defined yet, with where their schema is.
    wanted: BTreeMap<String, String>,
    defined: BTreeSet<String>,
    /// Parts of a schema that may still be written out.
    room: usize,
}

/// A type, and whether it is several in one, which needs brackets in some places.
pub struct Type {
    text: String,
    is_union: bool,
    is_optional: bool,
}

impl Type {
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_union: false, is_optional: false }
    }

    fn bracketed(&self) -> String {
        if self.is_union { format!("({})", self.text) } else { self.text.clone() }
    }

    /// The same, which may be nil unless it is needed.
    pub fn needed(mut self, is_needed: bool) -> String {
        self.is_optional |= !is_needed;
        self.whole()
    }

    /// With the mark of what may be nil.
    pub fn whole(&self) -> String {
        match (self.is_optional, self.text.as_str()) {
            (true, ANY | "nil") | (false, _) => self.text.clone(),
            (true, _) => format!("{}?", self.bracketed()),
        }
    }
}

impl<'a> Types<'a> {
    /// Types of a document, whose names begin with `prefix`.
    pub fn new(document: &'a Document, prefix: String) -> Self {
        Self {
            document,
            prefix,
            distinct: Distinct::default(),
            names: BTreeMap::new(),
            wanted: BTreeMap::new(),
            defined: BTreeSet::new(),
            room: MAX_NODES,
        }
    }

    /// The type of the schema at a pointer.
    pub fn at(&mut self, pointer: Option<&str>) -> Type {
        match pointer.and_then(|pointer| self.document.at(pointer)) {
            Some(node) => {
                self.room = MAX_NODES;
                self.of(&node, 0)
            }
            None => Type::plain(ANY),
        }
    }

    /// The same for an object, without some of its fields.
    pub fn without(&mut self, pointer: Option<&str>, hidden: &[&str]) -> Type {
        let node = pointer.and_then(|pointer| self.document.at(pointer)).and_then(|node| node.resolve().ok());
        match node.filter(|node| hidden.iter().any(|name| declares(node, name)) && node.value.get("properties").is_some()) {
            Some(node) => {
                self.room = MAX_NODES;
                Type::plain(self.object(&node, 0, hidden))
            }
            None => self.at(pointer),
        }
    }

    /// Definitions of all names that were referred to since the last time, and of those that they refer to, as far as they have so many
    /// bytes.
    pub fn definitions(&mut self, most: usize) -> String {
        let mut text = String::new();
        while text.len() <= most
            && let Some((name, pointer)) = self.wanted.pop_first()
        {
            self.defined.insert(name.clone());
            let Some(node) = self.document.at(&pointer) else { continue };
            self.room = MAX_NODES;
            let definition = self.of(&node, 0).whole();
            let _ = writeln!(text, "export type {name} = {definition}");
        }
        text
    }

    fn of(&mut self, node: &Node<'_>, depth: usize) -> Type {
        self.room = self.room.saturating_sub(1);
        if depth > MAX_DEPTH || self.room == 0 {
            return Type::plain(ANY);
        }
        if let Some(reference) = node.value.get("$ref").and_then(Value::as_str) {
            return self.referred(reference, node);
        }
        if let Some(values) = node.value.get("enum").and_then(Value::as_array) {
            return union(values.iter().map(literal).collect());
        }
        if let Some(value) = node.value.get("const") {
            return literal(value);
        }
        for key in ["oneOf", "anyOf"] {
            if let Some(all) = node.get(key) {
                return union(all.members().iter().map(|(_, node)| self.of(node, depth + 1)).collect());
            }
        }
        if let Some(all) = node.get("allOf") {
            let mut parts: Vec<String> = all.members().iter().map(|(_, node)| self.of(node, depth + 1).bracketed()).collect();
            if node.value.get("properties").is_some() {
                parts.push(self.object(node, depth, &[]));
            }
            parts.retain(|part| part != ANY);
            return match parts.len() {
                0 => Type::plain(ANY),
                1 => Type::plain(parts.remove(0)),
                _ => Type { text: parts.join(" & "), is_union: true, is_optional: false },
            };
        }
        match node.value.get("type") {
            Some(Value::String(kind)) => self.of_kind(kind, node, depth),
            Some(Value::Array(kinds)) => {
                union(kinds.iter().filter_map(Value::as_str).map(|kind| self.of_kind(kind, node, depth)).collect())
            }
            _ if node.value.get("properties").is_some() => Type::plain(self.object(node, depth, &[])),
            _ if node.value.get("items").is_some() => self.of_kind("array", node, depth),
            _ => Type::plain(ANY),
        }
    }

    /// A schema that is referred to has a name, if only that of where it is: it may refer to itself.
    fn referred(&mut self, reference: &str, node: &Node<'_>) -> Type {
        let Ok(target) = node.clone().resolve() else { return Type::plain(ANY) };
        let named = NAMED.iter().find_map(|place| reference.strip_prefix(place)).filter(|name| !name.contains('/'));
        let named = named.or_else(|| reference.rsplit('/').find(|part| part.contains(|letter: char| letter.is_ascii_alphabetic())));
        let name = self.name(named.unwrap_or("Whole"), &target.pointer);
        if !self.defined.contains(&name) {
            self.wanted.insert(name.clone(), target.pointer);
        }
        Type::plain(name)
    }

    /// The name of a schema's type, which no other has.
    fn name(&mut self, named: &str, pointer: &str) -> String {
        if let Some(name) = self.names.get(pointer) {
            return name.clone();
        }
        let name = self.distinct.take(format!("{}{}", self.prefix, pascal_case(named)), named);
        self.names.insert(pointer.to_owned(), name.clone());
        name
    }

    fn of_kind(&mut self, kind: &str, node: &Node<'_>, depth: usize) -> Type {
        match kind {
            "string" | "boolean" => Type::plain(kind),
            "integer" | "number" => Type::plain("number"),
            "null" => Type { text: "nil".into(), is_union: false, is_optional: true },
            "array" => {
                let items = node.get("items").map_or_else(|| ANY.into(), |items| self.of(&items, depth + 1).whole());
                Type::plain(format!("{{ {items} }}"))
            }
            "object" => Type::plain(self.object(node, depth, &[])),
            _ => Type::plain(ANY),
        }
    }

    fn object(&mut self, node: &Node<'_>, depth: usize, hidden: &[&str]) -> String {
        let required: BTreeSet<&str> =
            node.value.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        let mut fields: Vec<String> = Vec::new();
        for (name, property) in node.get("properties").map(|properties| properties.members()).unwrap_or_default() {
            if hidden.contains(&name.as_str()) {
                continue;
            }
            let kind = self.of(&property, depth + 1).needed(required.contains(name.as_str()));
            fields.push(format!("{}: {kind}", key(&name)));
        }
        let others = match node.get("additionalProperties") {
            Some(node) if node.value.is_object() => Some(self.of(&node, depth + 1).whole()),
            Some(node) if node.value == &Value::Bool(true) => Some(ANY.into()),
            _ if fields.is_empty() => Some(ANY.into()),
            _ => None,
        };
        fields.extend(others.map(|others| format!("[string]: {others}")));
        format!("{{ {} }}", fields.join(", "))
    }
}

fn literal(value: &Value) -> Type {
    match value {
        Value::String(text) => Type::plain(quoted(text)),
        Value::Number(_) => Type::plain("number"),
        Value::Bool(value) => Type::plain(value.to_string()),
        Value::Null => Type { text: "nil".into(), is_union: false, is_optional: true },
        _ => Type::plain(ANY),
    }
}

fn quoted(text: &str) -> String {
    format!("{text:?}")
}

fn union(types: Vec<Type>) -> Type {
    let is_optional = types.iter().any(|kind| kind.is_optional);
    let mut texts: Vec<String> = Vec::new();
    for kind in types.iter().filter(|kind| kind.text != "nil") {
        let text = kind.bracketed();
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    if texts.is_empty() || texts.iter().any(|text| text == ANY) {
        return Type::plain(if texts.is_empty() && is_optional { "nil" } else { ANY });
    }
    Type { is_union: texts.len() > 1, text: texts.join(" | "), is_optional }
}

/// A key of a table's type.
pub fn key(name: &str) -> String {
    let is_identifier = name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
        && !name.starts_with(|character: char| character.is_ascii_digit())
        && !name.is_empty()
        && !is_keyword(name);
    if is_identifier { name.to_owned() } else { format!("[{}]", quoted(name)) }
}

/// The name of a type: letters and digits, each word with a capital.
pub fn pascal_case(text: &str) -> String {
    let words = text.split(|character: char| !character.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(|word| format!("{}{}", word[..1].to_ascii_uppercase(), &word[1..])).collect()
}
