//! Parameters that the options set, and that scripts can neither see nor set.

use super::document::Node;
use serde_json::{Map, Value};

/// The depth of nested `allOf`, `anyOf` and `oneOf` in which a property is looked up.
const MAX_DEPTH: usize = 6;

/// Frozen values, by the names of parameters, body fields and tool arguments.
#[derive(Clone, Debug, Default)]
pub struct FrozenParams(Map<String, Value>);

impl FrozenParams {
    /// Merges the parameters for all sources with those for one source, which take precedence.
    pub fn new(everywhere: &Map<String, Value>, here: &Map<String, Value>) -> Self {
        let mut all = everywhere.clone();
        all.extend(here.clone());
        Self(all)
    }

    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Returns `true` if a server could take the name for a frozen one.
    pub fn has_similar(&self, name: &str) -> bool {
        !self.0.is_empty() && self.names().any(|known| are_similar(known, name))
    }

    /// Sets the frozen fields that a schema declares. Returns an error if a script sets one itself, declared or not.
    pub fn insert_into(&self, fields: &mut Map<String, Value>, schema: Option<&Node<'_>>) -> Result<(), String> {
        if let Some(name) = fields.keys().find(|name| self.has_similar(name)) {
            return Err(format!("there is no field '{name}'"));
        }
        for (name, value) in &self.0 {
            if schema.is_some_and(|schema| declares_property(schema, name)) {
                fields.insert(name.clone(), value.clone());
            }
        }
        Ok(())
    }
}

/// Returns `true` if some server could treat two names as equal.
///
/// Many servers ignore case. Some treat `.` as `_`, or `a[]` as `a`.
pub fn are_similar(first: &str, second: &str) -> bool {
    let letters = |name: &str| name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>();
    first == second || letters(first) == letters(second)
}

/// Returns `true` if the schema of an object declares a property.
pub fn declares_property(schema: &Node<'_>, name: &str) -> bool {
    declares_within(schema, name, MAX_DEPTH)
}

fn declares_within(schema: &Node<'_>, name: &str, depth: usize) -> bool {
    let Ok(schema) = schema.clone().resolve() else { return false };
    if schema.get("properties").is_some_and(|properties| properties.get(name).is_some()) {
        return true;
    }
    depth > 0
        && ["allOf", "anyOf", "oneOf"].iter().any(|keyword| {
            let parts = schema.get(keyword).map(|parts| parts.members()).unwrap_or_default();
            parts.iter().any(|(_, part)| declares_within(part, name, depth - 1))
        })
}
