//! Parameters that the host's owner sets: scripts neither see nor set them.

use serde_json::{Map, Value};

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

    /// Sets the fields that a schema knows of. A script that gives one is refused, whether or not the schema knows it.
    pub fn put_into(&self, fields: &mut Map<String, Value>, schema: Option<&Value>) -> Result<(), String> {
        if let Some(name) = self.names().find(|name| fields.contains_key(*name)) {
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

/// Whether a schema of an object names a field itself.
pub fn declares(schema: &Value, name: &str) -> bool {
    schema.get("properties").is_some_and(|properties| properties.get(name).is_some())
}
