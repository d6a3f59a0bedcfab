//! Converts JSON schemas to Luau types, for people, editors and models.

use super::{
    constraints::note,
    document::{Document, Node},
    frozen_params::declares_property,
    luau_syntax::{ANY, LARGE_INTEGER, Type, comment, key, pascal_case, quoted, table, union},
    names::DistinctNames,
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The depth of nested schemas without a name. A deeper schema becomes `any`.
const MAX_DEPTH: usize = 6;

/// The number of nested schemas in one type. Further ones become `any`.
const MAX_NODES: usize = 2000;

/// The locations of schemas with names.
const NAMED_SCHEMAS: [&str; 3] = ["#/components/schemas/", "#/$defs/", "#/definitions/"];

/// The indexer of a table type that has no other fields.
const NO_OTHER_FIELDS: &str = "[never]: never";

/// The keywords that allow more fields than `properties`.
const OPENING_KEYWORDS: [&str; 7] =
    ["patternProperties", "if", "then", "else", "dependentSchemas", "dependencies", "unevaluatedProperties"];

/// The types of one document. They refer to each other by name.
pub struct Types<'a> {
    document: &'a Document,
    /// The prefix of all names, because other documents may have types of the same name.
    prefix: String,
    distinct: DistinctNames,
    /// The names of types by the pointers of their schemas.
    names: BTreeMap<String, String>,
    /// The pointers of schemas by the names of types that are used but not defined yet.
    undefined: BTreeMap<String, String>,
    defined: BTreeSet<String>,
    /// The number of nested schemas that the current type may still have.
    nodes_left: usize,
    /// Fields have comments with their descriptions and constraints.
    has_notes: bool,
    /// The types are for the checker, which must be certain.
    for_checks: bool,
}

/// The definition of a type.
pub struct Definition {
    pub name: String,
    /// The definition in Luau syntax, with a line break at its end. `None` if it was left out because of a limit.
    pub text: Option<String>,
}

impl<'a> Types<'a> {
    /// Creates the types of a document, with names that begin with `prefix`.
    pub fn new(document: &'a Document, prefix: String) -> Self {
        Self {
            document,
            prefix,
            distinct: DistinctNames::of_types(),
            names: BTreeMap::new(),
            undefined: BTreeMap::new(),
            defined: BTreeSet::new(),
            nodes_left: MAX_NODES,
            has_notes: false,
            for_checks: false,
        }
    }

    /// Writes types for the checker: what a type can't express is `any`, a table type without other fields has the indexer
    /// `[never]: never`, an integer is `integer`, and the number 7 is `exactly<"7">`.
    pub fn for_checks(mut self) -> Self {
        self.for_checks = true;
        self
    }

    /// Continues with the names of other types, so that all are distinct.
    #[must_use]
    pub fn with_names(mut self, names: DistinctNames) -> Self {
        self.distinct = names;
        self
    }

    /// Returns the names of all types, for the types of another document.
    pub fn into_names(self) -> DistinctNames {
        self.distinct
    }

    /// Returns the type of the schema at a pointer.
    pub fn at(&mut self, pointer: Option<&str>) -> Type {
        match pointer.and_then(|pointer| self.document.at(pointer)) {
            Some(node) => {
                self.nodes_left = MAX_NODES;
                self.convert(&node, 0)
            }
            None => Type::plain(ANY),
        }
    }

    /// Returns the type of an object without some of its fields.
    pub fn without_fields(&mut self, pointer: Option<&str>, hidden: &[&str]) -> Type {
        let node = pointer.and_then(|pointer| self.document.at(pointer)).and_then(|node| node.resolve().ok());
        match node.filter(|node| hidden.iter().any(|name| declares_property(node, name)) && node.value.get("properties").is_some()) {
            Some(node) => {
                self.nodes_left = MAX_NODES;
                Type::plain(self.object(&node, 0, hidden))
            }
            None => self.at(pointer),
        }
    }

    /// Returns the definitions of all types that were used since the last call, and of the types that those use. After `max_bytes`, the
    /// others are left out. With `has_notes`, fields have comments with their descriptions and constraints.
    pub fn definitions(&mut self, max_bytes: usize, has_notes: bool) -> Vec<Definition> {
        self.has_notes = has_notes;
        let mut definitions = Vec::new();
        let mut bytes = 0_usize;
        while let Some((name, pointer)) = self.undefined.pop_first() {
            self.defined.insert(name.clone());
            let text = self.document.at(&pointer).filter(|_| bytes <= max_bytes).map(|node| self.definition(&name, &node));
            bytes = bytes.saturating_add(text.as_ref().map_or(0, String::len));
            definitions.push(Definition { name, text });
        }
        self.has_notes = false;
        definitions
    }

    /// Returns the definitions of the types that were used since the last call, and of the types that those use, up to a number of levels.
    pub fn nearest_definitions(&mut self, levels: usize) -> Vec<Definition> {
        let mut definitions = Vec::new();
        for _ in 0..levels {
            for (name, pointer) in std::mem::take(&mut self.undefined) {
                self.defined.insert(name.clone());
                let text = self.document.at(&pointer).map(|node| self.definition(&name, &node));
                definitions.push(Definition { name, text });
            }
        }
        definitions
    }

    /// Uses a type by its name and the pointer of its schema, so that [`definitions`](Self::definitions) includes it.
    pub fn refer_to(&mut self, name: &str, pointer: &str) {
        let name = self.distinct.assign(name.to_owned(), pointer);
        self.names.insert(pointer.to_owned(), name.clone());
        self.undefined.insert(name, pointer.to_owned());
    }

    /// Returns the pointers of the schemas of all types that were used, and of the types that those use, by name.
    pub fn into_pointers(mut self) -> BTreeMap<String, String> {
        while let Some((name, pointer)) = self.undefined.pop_first() {
            self.nodes_left = MAX_NODES;
            if let Some(node) = self.document.at(&pointer) {
                drop(self.convert(&node, 0));
            }
            self.defined.insert(name);
        }
        self.names.into_iter().map(|(pointer, name)| (name, pointer)).collect()
    }

    /// Returns the definition of one type.
    fn definition(&mut self, name: &str, node: &Node<'_>) -> String {
        self.nodes_left = MAX_NODES;
        let definition = self.convert(node, 0).to_text();
        // The notes of an object are those of its fields.
        let is_object = ["properties", "additionalProperties", "allOf", "anyOf", "oneOf"].iter().any(|key| node.value.get(key).is_some());
        let note = if is_object || !self.has_notes { String::new() } else { note(node) };
        format!("export type {name} = {definition}{}\n", comment(&note))
    }

    fn convert(&mut self, node: &Node<'_>, depth: usize) -> Type {
        self.nodes_left = self.nodes_left.saturating_sub(1);
        if depth > MAX_DEPTH || self.nodes_left == 0 {
            return Type::plain(ANY);
        }
        if self.for_checks && is_mixed(node) {
            return Type::plain(ANY);
        }
        if let Some(reference) = node.value.get("$ref").and_then(Value::as_str) {
            return self.named(reference, node);
        }
        if let Some(values) = node.value.get("enum").and_then(Value::as_array) {
            return union(values.iter().map(|value| self.literal(value)).collect());
        }
        if let Some(value) = node.value.get("const") {
            return self.literal(value);
        }
        for key in ["oneOf", "anyOf"] {
            if let Some(all) = node.get(key) {
                return union(all.members().iter().map(|(_, node)| self.convert(node, depth + 1)).collect());
            }
        }
        if let Some(all) = node.get("allOf") {
            let mut parts: Vec<String> = all.members().iter().map(|(_, node)| self.convert(node, depth + 1).parenthesized()).collect();
            if node.value.get("properties").is_some() {
                parts.push(self.object(node, depth, &[]));
            }
            if self.for_checks && parts.iter().any(|part| part == ANY) && !all.members().iter().all(|(_, part)| only_requires(part)) {
                return Type::plain(ANY);
            }
            parts.retain(|part| part != ANY);
            return match parts.len() {
                0 => Type::plain(ANY),
                1 => Type::plain(parts.remove(0)),
                _ => Type { text: parts.join(" & "), is_compound: true, is_optional: false },
            };
        }
        match node.value.get("type") {
            Some(Value::String(kind)) => self.convert_kind(kind, node, depth),
            Some(Value::Array(kinds)) => {
                union(kinds.iter().filter_map(Value::as_str).map(|kind| self.convert_kind(kind, node, depth)).collect())
            }
            _ if node.value.get("properties").is_some() => Type::plain(self.object(node, depth, &[])),
            _ if node.value.get("items").is_some() => self.convert_kind("array", node, depth),
            _ => Type::plain(ANY),
        }
    }

    /// Returns the name of a referenced schema. Every referenced schema gets a name, because it may be recursive.
    fn named(&mut self, reference: &str, node: &Node<'_>) -> Type {
        let Ok(target) = node.clone().resolve() else { return Type::plain(ANY) };
        let schema = NAMED_SCHEMAS.iter().find_map(|location| reference.strip_prefix(location)).filter(|name| !name.contains('/'));
        let schema = schema.or_else(|| reference.rsplit('/').find(|part| part.contains(|letter: char| letter.is_ascii_alphabetic())));
        let name = self.name(schema.unwrap_or("Whole"), &target.pointer);
        if !self.defined.contains(&name) {
            self.undefined.insert(name.clone(), target.pointer);
        }
        Type::plain(name)
    }

    /// Returns the distinct name of the type for a schema.
    fn name(&mut self, schema: &str, pointer: &str) -> String {
        if let Some(name) = self.names.get(pointer) {
            return name.clone();
        }
        let name = self.distinct.assign(format!("{}{}", self.prefix, pascal_case(schema)), schema);
        self.names.insert(pointer.to_owned(), name.clone());
        name
    }

    fn convert_kind(&mut self, kind: &str, node: &Node<'_>, depth: usize) -> Type {
        match kind {
            "string" | "boolean" => Type::plain(kind),
            // The checker accepts strings of digits as numbers.
            "integer" if self.for_checks => Type::plain(kind),
            "integer" if matches!(node.text("format"), "int64" | "uint64") => {
                Type { text: LARGE_INTEGER.into(), is_compound: true, is_optional: false }
            }
            "integer" | "number" => Type::plain("number"),
            "null" => Type { text: "nil".into(), is_compound: false, is_optional: true },
            "array" => {
                let items = node.get("items").map_or_else(|| ANY.into(), |items| self.convert(&items, depth + 1).to_text());
                Type::plain(format!("{{ {items} }}"))
            }
            "object" => Type::plain(self.object(node, depth, &[])),
            _ => Type::plain(ANY),
        }
    }

    fn literal(&self, value: &Value) -> Type {
        match value {
            // Types can't contain NUL.
            Value::String(text) if text.contains('\0') => Type::plain("string"),
            Value::String(text) => Type::plain(quoted(text)),
            Value::Number(number) if self.for_checks => Type::plain(format!("exactly<\"{number}\">")),
            Value::Number(_) => Type::plain("number"),
            Value::Bool(value) => Type::plain(value.to_string()),
            Value::Null => Type { text: "nil".into(), is_compound: false, is_optional: true },
            _ => Type::plain(ANY),
        }
    }

    fn object(&mut self, node: &Node<'_>, depth: usize, hidden: &[&str]) -> String {
        let required: BTreeSet<&str> =
            node.value.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        let mut fields: Vec<(String, String)> = Vec::new();
        let mut has_other_fields = self.for_checks && OPENING_KEYWORDS.iter().any(|key| node.value.get(key).is_some());
        for (name, property) in node.get("properties").map(|properties| properties.members()).unwrap_or_default() {
            if hidden.contains(&name.as_str()) {
                continue;
            }
            if name.contains('\0') {
                has_other_fields = true;
                continue;
            }
            let kind = self.convert(&property, depth + 1).with_required(required.contains(name.as_str()));
            let note = if self.has_notes { note(&property) } else { String::new() };
            fields.push((format!("{}: {kind}", key(&name)), note));
        }
        let others = match node.get("additionalProperties") {
            Some(node) if node.value.is_object() => Some(self.convert(&node, depth + 1).to_text()),
            Some(node) if node.value == &Value::Bool(true) => Some(ANY.into()),
            _ if fields.is_empty() => Some(ANY.into()),
            _ if has_other_fields => Some(ANY.into()),
            Some(node) if self.for_checks && node.value == &Value::Bool(false) => {
                fields.push((NO_OTHER_FIELDS.into(), String::new()));
                None
            }
            _ => None,
        };
        fields.extend(others.map(|others| (format!("[string]: {others}"), String::new())));
        table(&fields)
    }
}

/// Returns `true` for a schema whose type depends on several keywords that [`Types`] does not combine.
fn is_mixed(node: &Node<'_>) -> bool {
    let has = |keys: &[&str]| keys.iter().filter(|key| node.value.get(key).is_some()).count();
    let others = ["properties", "items", "enum", "const", "additionalProperties"];
    match has(&["$ref", "oneOf", "anyOf", "allOf"]) {
        0 => node.value.get("$dynamicRef").is_some(),
        1 if node.value.get("allOf").is_some() => has(&["enum", "const", "items"]) > 0,
        1 => has(&others) > 0,
        _ => true,
    }
}

/// Returns `true` for a schema that has a type, or only says which fields another part of it must have.
fn only_requires(node: &Node<'_>) -> bool {
    let typed = ["type", "properties", "items", "enum", "const", "allOf"];
    let harmless = ["required", "title", "description", "example", "examples"];
    let keys = || node.value.as_object().into_iter().flat_map(|schema| schema.keys());
    let node_is_typed = node.clone().resolve().is_ok_and(|node| typed.iter().any(|key| node.value.get(key).is_some()));
    node_is_typed || keys().all(|key| harmless.contains(&key.as_str()))
}
