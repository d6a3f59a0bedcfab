//! Arguments against their schemas, before anything is sent.
//!
//! Security: schemas may refer to themselves in several ways at once, so that a small value takes ages to check. Each reference that is
//! followed counts, and there is an end to them.

use super::document::{Document, change_schemas};
use jsonschema::{Draft, Keyword, Registry, ValidationError, Validator};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};
use std::{
    cell::Cell,
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

/// What the document is called among schemas. Nothing is ever fetched from there.
const ADDRESS: &str = "toolscript:specification";

/// The keyword that counts.
const METER: &str = "x-toolscript-meter";

/// References that are followed to find out whether a value fits.
const MAX_STEPS: u32 = 200_000;

/// The same to find out why it does not. Each failure on the way is kept with a copy of the value.
const MAX_STEPS_WHY: u32 = 200;

/// Parts of a value for which that is found out.
const MAX_PARTS_WHY: usize = 2000;

/// Ways to refer to another schema, or the same.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// Bytes of what a script is told of a value that does not fit.
const MAX_MESSAGE: usize = 500;

/// A pointer as a part of an address.
const FRAGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'~').remove(b'-').remove(b'.').remove(b'_');

thread_local! {
    /// References that may still be followed.
    static STEPS: Cell<u32> = const { Cell::new(0) };
}

/// The schemas of a document; each is compiled when it is first needed.
pub struct Checks {
    document: Arc<Document>,
    /// Made when it is first needed: that takes as long as reading the document.
    registry: OnceLock<Result<Registry<'static>, String>>,
    compiled: Mutex<HashMap<String, Arc<Validator>>>,
}

impl Checks {
    pub fn new(document: Arc<Document>) -> Self {
        Self { document, registry: OnceLock::new(), compiled: Mutex::default() }
    }

    /// Whether there is anything to check by: a document may be no schema.
    pub fn are_usable(&self) -> bool {
        self.validator("").is_ok()
    }

    fn registry(&self) -> Result<&Registry<'static>, String> {
        let unusable = |error: &dyn std::fmt::Display| format!("the schemas can't be used: {error}");
        let make = || {
            let mut root = self.document.value().clone();
            change_schemas(&mut root, &meter);
            let builder = Registry::new().add(ADDRESS, Draft::Draft202012.create_resource(root)).map_err(|error| unusable(&error))?;
            builder.prepare().map_err(|error| unusable(&error))
        };
        self.registry.get_or_init(make).as_ref().map_err(Clone::clone)
    }

    /// Whether a value fits the schema at a pointer; if not, where it does not, from `root` on, and why.
    pub fn check(&self, pointer: &str, value: &Value, root: &str) -> Result<(), String> {
        let validator = self.validator(pointer)?;
        STEPS.set(MAX_STEPS);
        if validator.is_valid(value) {
            return Ok(());
        }
        if STEPS.get() == 0 {
            return Err(format!("{root}: it is too complex to be checked"));
        }
        if is_larger(value, &mut MAX_PARTS_WHY.clone()) {
            return Err(format!("{root}: it does not fit its schema, and is too large to say where"));
        }
        STEPS.set(MAX_STEPS_WHY);
        let error = validator.iter_errors(value).next();
        let Some(error) = error.filter(|_| STEPS.get() > 0) else { return Err(format!("{root}: it does not fit its schema")) };
        let mut text = format!("{root}{}: {error}", in_luau(error.instance_path().as_str(), value));
        // It shows the value, which may be large.
        if text.len() > MAX_MESSAGE {
            text.truncate(text.floor_char_boundary(MAX_MESSAGE));
            text.push('…');
        }
        Err(text)
    }

    fn validator(&self, pointer: &str) -> Result<Arc<Validator>, String> {
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(validator) = compiled.get(pointer) {
            return Ok(Arc::clone(validator));
        }
        let schema = json!({ "$ref": format!("{ADDRESS}#{}", utf8_percent_encode(pointer, FRAGMENT)) });
        let options = jsonschema::options().with_draft(Draft::Draft202012).with_registry(self.registry()?).offline();
        let options = options.with_keyword(METER, |_, _, _| Ok(Box::new(Meter)));
        let validator =
            options.build(&schema).map_err(|error| format!("the API's specification has a schema that can't be used: {error}"))?;
        let validator = Arc::new(validator);
        compiled.insert(pointer.to_owned(), Arc::clone(&validator));
        Ok(validator)
    }
}

/// Makes each reference one that is only followed if the meter lets it: a condition is all that is not looked behind when it fails,
/// whether a validator wants to know that, or why.
fn meter(schema: &mut Map<String, Value>) {
    for kind in REFERENCES {
        if matches!(schema.get(kind), Some(Value::String(_))) {
            let reference = schema.remove(kind);
            let siblings = Value::Object(std::mem::take(schema));
            let followed = json!({ "if": { METER: true }, "then": { kind: reference }, "else": false });
            schema.insert("allOf".into(), json!([followed, siblings]));
        }
    }
}

/// Whether a value has more parts than that.
fn is_larger(value: &Value, left: &mut usize) -> bool {
    *left = left.saturating_sub(1);
    *left == 0
        || match value {
            Value::Array(items) => items.iter().any(|item| is_larger(item, left)),
            Value::Object(fields) => fields.values().any(|field| is_larger(field, left)),
            _ => false,
        }
}

/// Counts, and says no when there have been too many.
struct Meter;

impl<'i> Keyword<'i> for Meter {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        if self.is_valid(instance) { Ok(()) } else { Err(ValidationError::custom("it is too complex to be checked")) }
    }

    fn is_valid(&self, _: &'i Value) -> bool {
        let left = STEPS.get();
        STEPS.set(left.saturating_sub(1));
        left > 0
    }
}

/// A pointer into a value as a script writes it: `/parents/0/name` is `.parents[1].name`.
fn in_luau(pointer: &str, value: &Value) -> String {
    let mut value = Some(value);
    let mut path = String::new();
    for segment in pointer.split('/').skip(1) {
        let key = segment.replace("~1", "/").replace("~0", "~");
        match (value, key.parse::<usize>()) {
            (Some(Value::Array(items)), Ok(index)) => {
                path.push_str(&format!("[{}]", index + 1));
                value = items.get(index);
            }
            (inside, _) => {
                path.push('.');
                path.push_str(&key);
                value = inside.and_then(|inside| inside.get(&key));
            }
        }
    }
    path
}

/// The value if it fits its schema. An empty table may be an object too.
pub fn checked(checks: &Checks, schema: &str, value: Value, name: &str) -> Result<Value, String> {
    match checks.check(schema, &value, name) {
        Ok(()) => Ok(value),
        Err(error) => {
            let object = Value::Object(Map::new());
            let is_empty = value.as_array().is_some_and(Vec::is_empty);
            if is_empty && checks.check(schema, &object, name).is_ok() { Ok(object) } else { Err(error) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Checks, Document};
    use serde_json::{Value, json};
    use std::sync::Arc;

    /// Each level is checked in two ways, each of which checks the next in two ways.
    #[test]
    fn a_schema_that_branches_at_each_level_comes_to_an_end() {
        let branch = |needed: &str| json!({ "type": "object", "properties": { "n": { "$ref": "#" } }, "required": ["n", needed] });
        let schema =
            json!({ "anyOf": [branch("y"), branch("z"), { "type": "object", "properties": { "n": { "$ref": "#" }, "last": false } }] });
        let checks = Checks::new(Arc::new(Document::new(schema)));
        let mut value = json!({ "last": true });
        for _ in 0..60 {
            value = json!({ "n": value, "y": 1, "z": 1 });
        }
        assert_eq!(checks.check("", &value, "body"), Err("body: it does not fit its schema".into()));
        assert_eq!(checks.check("", &json!({ "n": {} }), "body"), Ok(()));
    }

    /// Names of fields that mean something elsewhere, and the other way to refer.
    #[test]
    fn no_reference_is_followed_without_a_count() {
        for (field, reference) in [("default", "$ref"), ("enum", "$ref"), ("n", "$dynamicRef")] {
            let branch = |needed: &str| json!({ "type": "object", "properties": { field: { reference: "#" }, "last": false }, "required": [needed] });
            let schema = json!({ "anyOf": [branch(field), branch("y"), branch("z")] });
            let checks = Checks::new(Arc::new(Document::new(schema)));
            let mut value = json!({ "last": true });
            for _ in 0..60 {
                value = json!({ field: value, "y": 1, "z": 1 });
            }
            assert_eq!(checks.check("", &value, "body"), Err("body: it does not fit its schema".into()), "{field} {reference}");
        }
        let schema = json!({ "items": { "anyOf": [{ "type": "string" }, { "type": "null" }] } });
        let checks = Checks::new(Arc::new(Document::new(schema)));
        let large = checks.check("", &json!(vec![1; 100_000]), "body");
        assert_eq!(large, Err("body: it does not fit its schema, and is too large to say where".into()));
    }

    #[test]
    fn what_does_not_fit_is_named_as_a_script_writes_it() {
        let schema = json!({ "properties": { "list": { "items": { "$ref": "#/$defs/Item", "description": "One" } } }, "$defs": { "Item": { "properties": { "a/b": { "type": "string" } } } } });
        let checks = Checks::new(Arc::new(Document::new(schema)));
        let wrong = checks.check("", &json!({ "list": [{}, { "a/b": 7 }] }), "body");
        assert_eq!(wrong, Err("body.list[2].a/b: 7 is not of type \"string\"".into()));
        let long = checks.check("", &json!({ "list": [{ "a/b": vec![Value::Null; 1000] }] }), "body").unwrap_err();
        assert!(long.len() < 510 && long.ends_with('…'), "{long}");
    }
}
