//! Documents of JSON whose parts refer to each other: specifications, and schemas on their own.

use serde_json::{Map, Value};

/// References that lead to references, before they are called a circle.
const MAX_HOPS: usize = 32;

/// Keys under which any value may be, which is not part of a schema.
const FREE: [&str; 5] = ["example", "examples", "default", "enum", "const"];

/// Keys of objects whose own keys are names, and may be any.
const NAMED: [&str; 9] =
    ["properties", "patternProperties", "dependentSchemas", "$defs", "definitions", "responses", "schemas", "parameters", "paths"];

/// Changes every object of a document that may be a schema, from the inside out.
pub fn change_schemas(value: &mut Value, change: &impl Fn(&mut Map<String, Value>)) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(|value| change_schemas(value, change)),
        Value::Object(object) => {
            for (key, inner) in object.iter_mut() {
                match inner {
                    Value::Object(named) if NAMED.contains(&key.as_str()) => {
                        named.values_mut().for_each(|value| change_schemas(value, change))
                    }
                    _ if FREE.contains(&key.as_str()) => {}
                    other => change_schemas(other, change),
                }
            }
            change(object);
        }
        _ => {}
    }
}

/// Why a document can't be used.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SpecError(String);

impl SpecError {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The same, with the place in front.
    pub fn at(self, place: &str) -> Self {
        Self(format!("{place}: {}", self.0))
    }
}

/// A document. Its schemas are those of JSON Schema 2020-12.
#[derive(Debug)]
pub struct Document {
    root: Value,
}

impl Document {
    pub fn new(root: Value) -> Self {
        Self { root }
    }

    /// The whole of it, as a value.
    pub fn value(&self) -> &Value {
        &self.root
    }

    /// The whole of it, to walk from.
    pub fn root(&self) -> Node<'_> {
        Node { document: self, pointer: String::new(), value: &self.root }
    }

    /// What a pointer, such as `/components/schemas/Pet`, leads to.
    pub fn at(&self, pointer: &str) -> Option<Node<'_>> {
        let value = self.root.pointer(pointer)?;
        Some(Node { document: self, pointer: pointer.to_owned(), value })
    }

    /// What a reference names.
    fn find(&self, reference: &str) -> Result<Node<'_>, SpecError> {
        let Some(pointer) = reference.strip_prefix('#') else {
            let advice = "bundle the specification into one file";
            return Err(SpecError::new(format!("the reference '{reference}' leads out of the document; {advice}")));
        };
        // As in a URL: what is escaped there is escaped here.
        let pointer = percent_encoding::percent_decode_str(pointer).decode_utf8_lossy();
        self.at(&pointer).ok_or_else(|| SpecError::new(format!("the reference '{reference}' leads nowhere")))
    }
}

/// A place in a document: what is there, and where that is.
#[derive(Clone, Debug)]
pub struct Node<'a> {
    document: &'a Document,
    pub pointer: String,
    pub value: &'a Value,
}

impl<'a> Node<'a> {
    /// A member of an object or an array, as it is written.
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

    /// Where the references lead that may stand here.
    pub fn resolve(self) -> Result<Self, SpecError> {
        let mut node = self;
        for _ in 0..MAX_HOPS {
            let Some(reference) = node.value.get("$ref").and_then(Value::as_str) else { return Ok(node) };
            node = node.document.find(reference)?;
        }
        Err(SpecError::new(format!("the reference at {} goes round in a circle", node.pointer)))
    }

    /// All members, by their keys.
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

    /// A member that is text, or nothing.
    pub fn text(&self, key: &str) -> &'a str {
        self.value.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    /// A member that is true or false.
    pub fn flag(&self, key: &str) -> Option<bool> {
        self.value.get(key).and_then(Value::as_bool)
    }
}
