//! The shape of the responses of a function without a response schema, learned from earlier responses, for its documentation and for notes of a
//! check.
//!
//! Only the kinds of values and the names of fields are kept, never values. A name can be a value, too, as in an object whose keys are
//! addresses: only names that look like identifiers and occur in several responses are shown.

use super::luau_syntax::key;
use serde_json::Value;
use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

/// The size of a response in bytes that is examined. The server decides it.
const MAX_RESPONSE: usize = 64 << 10;

/// The number of responses that are examined. Further ones are only counted.
const MAX_RESPONSES: u32 = 50;

/// The depth of a shape, its fields per object, and the items of a list that are examined.
const MAX_DEPTH: usize = 4;
const MAX_FIELDS: usize = 40;
const MAX_ITEMS: usize = 10;

/// The length in bytes of the name of a field.
const MAX_NAME: usize = 40;

/// The number of responses in which a field must occur to be shown.
const MIN_OCCURRENCES: u32 = 2;

/// The shape of the responses of one function.
#[derive(Debug, Default)]
pub struct ObservedShape(Mutex<Observation>);

#[derive(Debug, Default)]
struct Observation {
    responses: u32,
    shape: Shape,
}

/// The kinds of the values at one place.
#[derive(Debug, Default)]
struct Shape {
    /// The number of values that were seen.
    seen: u32,
    nil: bool,
    boolean: bool,
    number: bool,
    string: bool,
    /// Something that is not described: deep, or with too many fields.
    other: bool,
    fields: BTreeMap<String, Self>,
    objects: u32,
    items: Option<Box<Self>>,
}

impl ObservedShape {
    /// Adds a response as JSON text.
    pub fn add(&self, json: &str) {
        let mut observation = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        observation.responses = observation.responses.saturating_add(1);
        if observation.responses > MAX_RESPONSES || json.len() > MAX_RESPONSE {
            return;
        }
        if let Ok(value) = serde_json::from_str(json) {
            observation.shape.add(&value, MAX_DEPTH);
        }
    }

    /// Returns the shape as a Luau type on one line, such as `-- observed in 14 responses: { id: number, name: string? }`. Returns `None` if
    /// nothing is known.
    pub fn describe(&self) -> Option<String> {
        let observation = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let shape = observation.shape.to_luau();
        let responses = observation.responses;
        let noun = if responses == 1 { "response" } else { "responses" };
        (responses > 0 && shape != "any").then(|| format!("-- observed in {responses} {noun}: {shape}"))
    }

    /// Returns the shape as a Luau type for the check of scripts: the fields of objects, without the types of values.
    pub fn check_type(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).shape.to_check_type()
    }
}

impl Shape {
    fn add(&mut self, value: &Value, depth: usize) {
        self.seen += 1;
        match value {
            Value::Null => self.nil = true,
            Value::Bool(_) => self.boolean = true,
            Value::Number(_) => self.number = true,
            Value::String(_) => self.string = true,
            Value::Array(_) | Value::Object(_) if depth == 0 => self.other = true,
            Value::Array(items) => {
                let shape = self.items.get_or_insert_default();
                items.iter().take(MAX_ITEMS).for_each(|item| shape.add(item, depth - 1));
            }
            Value::Object(fields) => {
                self.objects += 1;
                for (name, field) in fields {
                    let is_known = self.fields.contains_key(name);
                    if is_known || (self.fields.len() < MAX_FIELDS && name.len() <= MAX_NAME && key(name) == *name) {
                        self.fields.entry(name.clone()).or_default().add(field, depth - 1);
                    } else {
                        self.other = true;
                    }
                }
            }
        }
    }

    fn to_check_type(&self) -> String {
        let is_value = self.boolean || self.number || self.string || self.other;
        let is_certain = |field: &Self| field.seen >= MIN_OCCURRENCES;
        match &self.items {
            Some(items) if !is_value && self.objects == 0 => format!("{{ {} }}", items.to_check_type()),
            None if !is_value && self.objects > 0 && self.fields.values().all(is_certain) => {
                let fields = self.fields.iter().map(|(name, field)| format!("{name}: {}, ", field.to_check_type()));
                format!("{{ {}[unknown]: never }}", fields.collect::<String>())
            }
            _ => "any".into(),
        }
    }

    fn to_luau(&self) -> String {
        let mut kinds: Vec<String> = Vec::new();
        let plain = [(self.boolean, "boolean"), (self.number, "number"), (self.string, "string")];
        kinds.extend(plain.iter().filter(|(is_seen, _)| *is_seen).map(|(_, name)| (*name).to_owned()));
        if let Some(items) = &self.items {
            kinds.push(format!("{{ {} }}", items.to_luau()));
        }
        if self.objects > 0 {
            let shown = self.fields.iter().filter(|(_, field)| field.seen >= MIN_OCCURRENCES);
            let field = |(name, field): (&String, &Self)| {
                let kind = field.to_luau();
                let is_optional = field.seen < self.objects && !kind.ends_with('?') && kind != "any";
                match (is_optional, kind.contains(" | ")) {
                    (false, _) => format!("{name}: {kind}"),
                    (true, false) => format!("{name}: {kind}?"),
                    (true, true) => format!("{name}: ({kind})?"),
                }
            };
            let mut fields: Vec<String> = shown.map(field).collect();
            if fields.is_empty() || self.other {
                fields.push("[string]: any".into());
            }
            kinds.push(format!("{{ {} }}", fields.join(", ")));
        }
        let is_optional = self.nil;
        match (kinds.len(), is_optional) {
            (0, _) => "any".into(),
            (1, false) => kinds.remove(0),
            (1, true) => format!("{}?", kinds.remove(0)),
            (_, false) => kinds.join(" | "),
            (_, true) => format!("({})?", kinds.join(" | ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_FIELDS, ObservedShape};
    use serde_json::{Map, Value, json};

    fn observed(responses: &[Value]) -> Option<String> {
        let shape = ObservedShape::default();
        responses.iter().for_each(|response| shape.add(&response.to_string()));
        shape.describe()
    }

    #[test]
    fn shapes_of_responses_are_merged() {
        let first = json!({ "id": 1, "tags": ["a"], "owner": { "name": "x" }, "note": null, "rare": true });
        let second = json!({ "id": "2", "tags": [], "owner": { "name": "y" }, "note": "text" });
        let shape = "{ id: number | string, note: string?, owner: { name: string }, tags: { string } }";
        assert_eq!(observed(&[first.clone(), second]), Some(format!("-- observed in 2 responses: {shape}")));
        assert_eq!(
            observed(&[json!([first.clone(), first])]).as_deref().map(|text| text.starts_with("-- observed in 1 response: { { ")),
            Some(true)
        );
        assert_eq!((observed(&[]), observed(&[json!(null)])), (None, None));
    }

    #[test]
    fn a_check_knows_fields_that_occurred_in_several_responses() {
        let shape = ObservedShape::default();
        shape.add(r#"[{"id": 1, "owner": {"name": "x"}, "tags": ["a"]}]"#);
        assert_eq!(shape.check_type(), "{ any }");
        shape.add(r#"[{"id": 2, "owner": {"name": "y"}, "tags": []}]"#);
        assert_eq!(shape.check_type(), "{ { id: any, owner: { name: any, [unknown]: never }, tags: { any }, [unknown]: never } }");
        shape.add(r#"[{"rare": 3}]"#);
        assert_eq!(shape.check_type(), "{ any }");
    }

    /// No value appears, and a name that occurs once may be one.
    #[test]
    fn values_are_never_shown() {
        let response = |user: &str| json!({ "users": { user: { "secret": "hunter2" }, "ann@example.com": 1 }, "count": 7 });
        let text = observed(&[response("Bob"), response("Eve")]).expect("a shape");
        assert_eq!(text, "-- observed in 2 responses: { count: number, users: { [string]: any } }");
    }

    #[test]
    fn a_shape_is_bounded() {
        let wide: Map<String, Value> = (0..10_000).map(|number| (format!("field{number}"), json!(number))).collect();
        let mut deep = json!(1);
        for _ in 0..100 {
            deep = json!({ "next": deep });
        }
        let shape = ObservedShape::default();
        for _ in 0..200 {
            shape.add(&json!({ "deep": deep }).to_string());
            shape.add(&Value::Object(wide.iter().take(3000).map(|(name, value)| (name.clone(), value.clone())).collect()).to_string());
            shape.add("not JSON");
            shape.add(&" ".repeat(100_000));
        }
        let text = shape.describe().expect("a shape");
        assert!(text.starts_with("-- observed in 800 responses: ") && text.len() < MAX_FIELDS * 30, "{text}");
    }
}
