//! Validates arguments against JSON schemas before a request is sent.
//!
//! Security: a recursive schema with several branches can need exponential time for a small value. The number of references that one
//! validation follows is limited.

use super::{
    document::{Document, change_schemas},
    integers,
};
use jsonschema::{Draft, Keyword, Registry, ValidationError, Validator, error::ValidationErrorKind};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};
use std::{
    cell::Cell,
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

/// The URI of the document in the schema registry. Nothing is fetched from it.
const DOCUMENT_URI: &str = "toolscript:specification";

/// The schema keyword that counts references.
const METER_KEYWORD: &str = "x-toolscript-meter";

/// The number of references to follow to validate a value.
const MAX_REFERENCES: u32 = 200_000;

/// The number of references to follow to find the error in an invalid value. Each failed branch keeps a copy of the value.
const MAX_ERROR_REFERENCES: u32 = 200;

/// The number of nested values up to which the error in a value is located.
const MAX_LOCATED_VALUES: usize = 2000;

/// The keywords that refer to a schema.
const REFERENCE_KEYWORDS: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// The size of an error message in bytes.
const MAX_MESSAGE: usize = 500;

/// Encodes a JSON pointer for a URI fragment.
const FRAGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'~').remove(b'-').remove(b'.').remove(b'_');

thread_local! {
    /// The number of references that the current validation may still follow.
    static REFERENCES_LEFT: Cell<u32> = const { Cell::new(0) };
}

/// The schemas of a document. Each is compiled on first use.
pub struct Schemas {
    document: Arc<Document>,
    /// Created on first use, because that takes as long as parsing the document.
    registry: OnceLock<Result<Registry<'static>, String>>,
    compiled: Mutex<HashMap<String, Arc<Validator>>>,
}

impl Schemas {
    pub fn new(document: Arc<Document>) -> Self {
        Self { document, registry: OnceLock::new(), compiled: Mutex::default() }
    }

    /// Returns `true` if the document itself is a valid schema.
    pub fn are_valid(&self) -> bool {
        self.validator("").is_ok()
    }

    fn registry(&self) -> Result<&Registry<'static>, String> {
        let invalid = |error: &dyn std::fmt::Display| format!("the schemas are invalid: {error}");
        let create = || {
            let mut root = self.document.value().clone();
            change_schemas(&mut root, &add_meter);
            let builder = Registry::new().add(DOCUMENT_URI, Draft::Draft202012.create_resource(root)).map_err(|error| invalid(&error))?;
            builder.prepare().map_err(|error| invalid(&error))
        };
        self.registry.get_or_init(create).as_ref().map_err(Clone::clone)
    }

    /// Checks a value against the schema at a pointer. The error names the path of the invalid part, starting with `root`, and the reason.
    pub fn validate(&self, pointer: &str, value: &Value, root: &str) -> Result<(), String> {
        let validator = self.validator(pointer)?;
        REFERENCES_LEFT.set(MAX_REFERENCES);
        if validator.is_valid(value) {
            return Ok(());
        }
        if REFERENCES_LEFT.get() == 0 {
            return Err(format!("{root}: the value is too complex to validate"));
        }
        if has_more_values(value, &mut MAX_LOCATED_VALUES.clone()) {
            return Err(format!("{root}: the value does not match its schema, and is too large to locate the error"));
        }
        REFERENCES_LEFT.set(MAX_ERROR_REFERENCES);
        let error = validator.iter_errors(value).next();
        let Some(error) = error.filter(|_| REFERENCES_LEFT.get() > 0) else {
            return Err(format!("{root}: the value does not match its schema"));
        };
        let reason = match error.kind() {
            // The message of jsonschema names only the first allowed values.
            ValidationErrorKind::Enum { options } => {
                let options: Vec<String> = options.as_array().into_iter().flatten().map(Value::to_string).collect();
                let options = match options.split_last() {
                    Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
                    _ => options.concat(),
                };
                format!("{} is not one of {options}", error.instance())
            }
            _ => error.to_string(),
        };
        let mut text = format!("{root}{}: {reason}", luau_path(error.instance_path().as_str(), value));
        // The message contains the value, which may be large.
        if text.len() > MAX_MESSAGE {
            text.truncate(text.floor_char_boundary(MAX_MESSAGE));
            text.push('…');
        }
        Err(text)
    }

    /// Rejects integers of a script that have lost digits. See [`integers`].
    pub fn check_exact(&self, pointer: &str, value: &mut Value, root: &str) -> Result<(), String> {
        integers::check_exact(&self.document, pointer, value, root)
    }

    fn validator(&self, pointer: &str) -> Result<Arc<Validator>, String> {
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(validator) = compiled.get(pointer) {
            return Ok(Arc::clone(validator));
        }
        let schema = json!({ "$ref": format!("{DOCUMENT_URI}#{}", utf8_percent_encode(pointer, FRAGMENT)) });
        let options = jsonschema::options().with_draft(Draft::Draft202012).with_registry(self.registry()?).offline();
        let options = options.with_keyword(METER_KEYWORD, |_, _, _| Ok(Box::new(Meter)));
        let validator = options.build(&schema).map_err(|error| format!("the specification has an invalid schema: {error}"))?;
        let validator = Arc::new(validator);
        compiled.insert(pointer.to_owned(), Arc::clone(&validator));
        Ok(validator)
    }
}

/// Makes each reference conditional on the meter. `if` is the only keyword whose branches are skipped when it fails, both to validate a
/// value and to collect errors.
fn add_meter(schema: &mut Map<String, Value>) {
    for keyword in REFERENCE_KEYWORDS {
        if matches!(schema.get(keyword), Some(Value::String(_))) {
            let reference = schema.remove(keyword);
            let siblings = Value::Object(std::mem::take(schema));
            let metered = json!({ "if": { METER_KEYWORD: true }, "then": { keyword: reference }, "else": false });
            schema.insert("allOf".into(), json!([metered, siblings]));
        }
    }
}

/// Returns `true` if a value has at least `left` nested values, itself included.
fn has_more_values(value: &Value, left: &mut usize) -> bool {
    *left = left.saturating_sub(1);
    *left == 0
        || match value {
            Value::Array(items) => items.iter().any(|item| has_more_values(item, left)),
            Value::Object(fields) => fields.values().any(|field| has_more_values(field, left)),
            _ => false,
        }
}

/// Counts references, and fails when there are too many.
struct Meter;

impl<'i> Keyword<'i> for Meter {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        if self.is_valid(instance) { Ok(()) } else { Err(ValidationError::custom("the value is too complex to validate")) }
    }

    fn is_valid(&self, _: &'i Value) -> bool {
        let left = REFERENCES_LEFT.get();
        REFERENCES_LEFT.set(left.saturating_sub(1));
        left > 0
    }
}

/// Converts a JSON pointer to a Luau path: `/parents/0/name` becomes `.parents[1].name`.
pub fn luau_path(pointer: &str, value: &Value) -> String {
    let mut value = Some(value);
    let mut path = String::new();
    for segment in pointer.split('/').skip(1) {
        let key = segment.replace("~1", "/").replace("~0", "~");
        match (value, key.parse::<usize>()) {
            (Some(Value::Array(items)), Ok(index)) => {
                path.push_str(&format!("[{}]", index + 1));
                value = items.get(index);
            }
            (parent, _) => {
                path.push('.');
                path.push_str(&key);
                value = parent.and_then(|parent| parent.get(&key));
            }
        }
    }
    path
}

/// Returns the value if it matches its schema. An empty table arrives as an array; it is converted if the schema wants an object. So are
/// strings of digits where the schema wants integers.
pub fn validated(schemas: &Schemas, schema: &str, mut value: Value, name: &str) -> Result<Value, String> {
    let Err(error) = schemas.validate(schema, &value, name) else { return Ok(value) };
    let object = Value::Object(Map::new());
    let is_empty = value.as_array().is_some_and(Vec::is_empty);
    if is_empty && schemas.validate(schema, &object, name).is_ok() {
        return Ok(object);
    }
    if !integers::convert_digits(&schemas.document, schema, &mut value) {
        return Err(error);
    }
    schemas.validate(schema, &value, name).map(|()| value)
}

#[cfg(test)]
mod tests {
    use super::{Document, Schemas};
    use serde_json::{Value, json};
    use std::sync::Arc;

    /// Each level is validated in two branches, which both validate the next level in two branches.
    #[test]
    fn a_schema_that_branches_at_each_level_is_validated_in_bounded_time() {
        let branch = |needed: &str| json!({ "type": "object", "properties": { "n": { "$ref": "#" } }, "required": ["n", needed] });
        let schema =
            json!({ "anyOf": [branch("y"), branch("z"), { "type": "object", "properties": { "n": { "$ref": "#" }, "last": false } }] });
        let schemas = Schemas::new(Arc::new(Document::new(schema)));
        let mut value = json!({ "last": true });
        for _ in 0..60 {
            value = json!({ "n": value, "y": 1, "z": 1 });
        }
        assert_eq!(schemas.validate("", &value, "body"), Err("body: the value does not match its schema".into()));
        assert_eq!(schemas.validate("", &json!({ "n": {} }), "body"), Ok(()));
    }

    /// Fields with the names of keywords, and a dynamic reference.
    #[test]
    fn every_reference_is_counted() {
        for (field, reference) in [("default", "$ref"), ("enum", "$ref"), ("n", "$dynamicRef")] {
            let branch = |needed: &str| json!({ "type": "object", "properties": { field: { reference: "#" }, "last": false }, "required": [needed] });
            let schema = json!({ "anyOf": [branch(field), branch("y"), branch("z")] });
            let schemas = Schemas::new(Arc::new(Document::new(schema)));
            let mut value = json!({ "last": true });
            for _ in 0..60 {
                value = json!({ field: value, "y": 1, "z": 1 });
            }
            assert_eq!(
                schemas.validate("", &value, "body"),
                Err("body: the value does not match its schema".into()),
                "{field} {reference}"
            );
        }
        let schema = json!({ "items": { "anyOf": [{ "type": "string" }, { "type": "null" }] } });
        let schemas = Schemas::new(Arc::new(Document::new(schema)));
        let large = schemas.validate("", &json!(vec![1; 100_000]), "body");
        assert_eq!(large, Err("body: the value does not match its schema, and is too large to locate the error".into()));
    }

    #[test]
    fn an_error_names_the_luau_path() {
        let schema = json!({ "properties": { "list": { "items": { "$ref": "#/$defs/Item", "description": "One" } } }, "$defs": { "Item": { "properties": { "a/b": { "type": "string" } } } } });
        let schemas = Schemas::new(Arc::new(Document::new(schema)));
        let error = schemas.validate("", &json!({ "list": [{}, { "a/b": 7 }] }), "body");
        assert_eq!(error, Err("body.list[2].a/b: 7 is not of type \"string\"".into()));
        let long = schemas.validate("", &json!({ "list": [{ "a/b": vec![Value::Null; 1000] }] }), "body").unwrap_err();
        assert!(long.len() < 510 && long.ends_with('…'), "{long}");
    }
}
