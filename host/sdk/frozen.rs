//! Parameters that the host's owner sets: scripts neither see nor set them.

use super::document::Node;
use serde_json::{Map, Value};

/// Schemas inside of schemas that are asked which fields they have.
const MAX_DEPTH: usize = 6;

/// What is frozen, by the names of parameters, fields of bodies, and arguments of tools.
#[derive(Clone, Debug, Default)]
pub struct Frozen(Map<String, Value>);

impl Frozen {
    /// Those for all APIs and those for one, which win.
    pub fn new(everywhere: &Map<String, Value>, here: &Map<String, Value>) -> Self {
        let mut all = everywhere.clone();
        all.extend(here.clone());
        Self(all)
    }

    /// What a name is frozen to.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// All names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Whether a server might take a name for one of these.
    pub fn has_like(&self, name: &str) -> bool {
        !self.0.is_empty() && self.names().any(|known| are_alike(known, name))
    }

    /// Sets the fields that a schema knows of. A script that gives one is refused, whether or not the schema knows it.
    pub fn put_into(&self, fields: &mut Map<String, Value>, schema: Option<&Node<'_>>) -> Result<(), String> {
        if let Some(name) = fields.keys().find(|name| self.has_like(name)) {
            return Err(format!("there is no field '{name}'"));
        }
        for (name, value) in &self.0 {
            if schema.is_some_and(|schema| declares(schema, name)) {
                fields.insert(name.clone(), value.clone());
            }
        }
        Ok(())
    }
}

/// Whether two names are the same to some server: many do not tell capitals apart, and some not `.` from `_`, or `a` from `a[]`.
pub fn are_alike(first: &str, second: &str) -> bool {
    let letters = |name: &str| name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>();
    first == second || letters(first) == letters(second)
}

/// Whether a schema of an object has a field.
pub fn declares(schema: &Node<'_>, name: &str) -> bool {
    declares_within(schema, name, MAX_DEPTH)
}

fn declares_within(schema: &Node<'_>, name: &str, depth: usize) -> bool {
    let Ok(schema) = schema.clone().resolve() else { return false };
    if schema.get("properties").is_some_and(|properties| properties.get(name).is_some()) {
        return true;
    }
    depth > 0
        && ["allOf", "anyOf", "oneOf"].iter().any(|kind| {
            let parts = schema.get(kind).map(|parts| parts.members()).unwrap_or_default();
            parts.iter().any(|(_, part)| declares_within(part, name, depth - 1))
        })
}
