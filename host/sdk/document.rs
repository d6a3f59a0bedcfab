//! JSON documents with `$ref` references: specifications, and single schemas.

use super::error::SpecError;
use serde_json::{Map, Value};

/// The length of a chain of references. A longer chain is reported as circular.
const MAX_HOPS: usize = 32;

/// Keys whose values are data, not schemas.
const DATA_KEYS: [&str; 5] = ["example", "examples", "default", "enum", "const"];

/// Keys of objects whose keys are names rather than keywords.
const NAME_MAPS: [&str; 9] =
    ["properties", "patternProperties", "dependentSchemas", "$defs", "definitions", "responses", "schemas", "parameters", "paths"];

/// Applies a change to every object of a document that can be a schema, inner objects first.
pub fn change_schemas(value: &mut Value, change: &impl Fn(&mut Map<String, Value>)) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(|value| change_schemas(value, change)),
        Value::Object(object) => {
            for (key, inner) in object.iter_mut() {
                match inner {
                    Value::Object(named) if NAME_MAPS.contains(&key.as_str()) => {
                        named.values_mut().for_each(|value| change_schemas(value, change))
                    }
                    _ if DATA_KEYS.contains(&key.as_str()) => {}
                    other => change_schemas(other, change),
                }
            }
            change(object);
        }
        _ => {}
    }
}

/// A document with schemas in the dialect of JSON Schema 2020-12.
#[derive(Debug)]
pub struct Document {
    root: Value,
}

impl Document {
    pub fn new(root: Value) -> Self {
        Self { root }
    }

    /// Returns the document as a value.
    pub fn value(&self) -> &Value {
        &self.root
    }

    /// Returns the root node.
    pub fn root(&self) -> Node<'_> {
        Node { document: self, pointer: String::new(), value: &self.root }
    }

    /// Returns the node at a JSON pointer, such as `/components/schemas/Pet`.
    pub fn at(&self, pointer: &str) -> Option<Node<'_>> {
        let value = self.root.pointer(pointer)?;
        Some(Node { document: self, pointer: pointer.to_owned(), value })
    }

    /// Returns the node that a reference such as `#/components/schemas/Pet` points to.
    fn resolve(&self, reference: &str) -> Result<Node<'_>, SpecError> {
        let Some(pointer) = reference.strip_prefix('#') else {
            let advice = "bundle the specification into one file";
            return Err(SpecError::new(format!("the reference '{reference}' points outside the document; {advice}")));
        };
        // A reference is a URL fragment, so it may be percent-encoded.
        let pointer = percent_encoding::percent_decode_str(pointer).decode_utf8_lossy();
        self.at(&pointer).ok_or_else(|| SpecError::new(format!("the reference '{reference}' does not resolve")))
    }
}

/// A value in a document, with its JSON pointer.
#[derive(Clone, Debug)]
pub struct Node<'a> {
    document: &'a Document,
    pub pointer: String,
    pub value: &'a Value,
}

impl<'a> Node<'a> {
    /// Returns a member of an object or an array. Does not follow a reference.
    pub fn get(&self, key: &str) -> Option<Self> {
        let value = match self.value {
            Value::Object(object) => object.get(key)?,
            Value::Array(values) => values.get(key.parse::<usize>().ok()?)?,
            _ => return None,
        };
        Some(self.member(key, value))
    }

    fn member(&self, key: &str, value: &'a Value) -> Self {
        let key = key.replace('~', "~0").replace('/', "~1");
        Node { document: self.document, pointer: format!("{}/{key}", self.pointer), value }
    }

    /// Follows references until a node has none.
    pub fn resolve(self) -> Result<Self, SpecError> {
        let mut node = self;
        for _ in 0..MAX_HOPS {
            let Some(reference) = node.value.get("$ref").and_then(Value::as_str) else { return Ok(node) };
            node = node.document.resolve(reference)?;
        }
        Err(SpecError::new(format!("the reference at {} is circular", node.pointer)))
    }

    /// Returns all members of an object or an array, with their keys.
    pub fn members(&self) -> Vec<(String, Self)> {
        match self.value {
            Value::Object(object) => object.iter().map(|(key, value)| (key.clone(), self.member(key, value))).collect(),
            Value::Array(values) => {
                let keys = (0..values.len()).map(|index| index.to_string());
                keys.zip(values).map(|(key, value)| (key.clone(), self.member(&key, value))).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns a string member, or an empty string.
    pub fn text(&self, key: &str) -> &'a str {
        self.value.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns a boolean member.
    pub fn flag(&self, key: &str) -> Option<bool> {
        self.value.get(key).and_then(Value::as_bool)
    }
}
