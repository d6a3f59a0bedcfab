//! Encodes multipart forms, with files as bytes.

use super::{Api, body_schema::RequestBody, encode_body::text};
use crate::functions::Attachment;
use crate::sdk::argument_size::contains_bytes;
use reqwest::{
    Request,
    header::{CONTENT_LENGTH, CONTENT_TYPE},
    multipart::{Form, Part},
};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The size of an encoded form in bytes, and the number of its parts. The name of a field is repeated for each of its values, so a form
/// can be much larger than the argument.
pub const MAX_FORM_BYTES: usize = 8 << 20;
const MAX_FORM_PARTS: usize = 1000;

/// The keys of a table that describes a file, such as an image that an MCP tool returned.
const FILE_KEYS: [&str; 5] = ["data", "filename", "mime_type", "type", "uri"];

/// The parts of a form that are files, by the JSON pointers of their values in the body.
pub struct FileParts(BTreeMap<String, FilePart>);

#[derive(Default)]
struct FilePart {
    /// The contents, if they are not the text in the body.
    bytes: Option<Vec<u8>>,
    name: Option<String>,
    mime_type: Option<String>,
}

impl FileParts {
    /// Takes the bytes and the descriptions of files out of a body. A file stays a string in it, as the schema says.
    pub fn take(expected: &RequestBody, body: &mut Value, attachments: Vec<Attachment>) -> Result<Self, String> {
        let mut bytes: BTreeMap<String, Vec<u8>> = attachments.into_iter().map(|file| (file.pointer, file.bytes)).collect();
        let mut files = BTreeMap::new();
        for (name, value) in body.as_object_mut().into_iter().flatten() {
            let is_file = expected.file_fields.contains(name);
            for (pointer, item) in items_mut(name, value) {
                if let Some(file) = take_file(&pointer, item, is_file, &mut bytes) {
                    files.insert(pointer, file);
                }
            }
        }
        match bytes.pop_first() {
            Some((pointer, bytes)) => Err(contains_bytes("body", &Attachment { pointer, bytes }, body)),
            None => Ok(Self(files)),
        }
    }
}

/// Takes a file that is bytes, or a table with the field `data`.
fn take_file(pointer: &str, item: &mut Value, is_file: bool, bytes: &mut BTreeMap<String, Vec<u8>>) -> Option<FilePart> {
    if let Some(bytes) = bytes.remove(pointer) {
        return Some(FilePart { bytes: Some(bytes), ..FilePart::default() });
    }
    let fields = item.as_object_mut()?;
    let has_only_known_keys = fields.keys().all(|key| FILE_KEYS.contains(&key.as_str()));
    let data = bytes.remove(&format!("{pointer}/data"));
    if !has_only_known_keys || !fields.get("data").is_some_and(Value::is_string) || (!is_file && data.is_none()) {
        // Bytes of another table are reported by the caller.
        bytes.extend(data.map(|data| (format!("{pointer}/data"), data)));
        return None;
    }
    let mut string = |key: &str| match fields.remove(key) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    };
    let file = FilePart { bytes: data, name: string("filename"), mime_type: string("mime_type") };
    *item = string("data").unwrap_or_default().into();
    Some(file)
}

/// Returns the items of an array, or the value itself, with their JSON pointers in the body.
fn items_mut<'a>(name: &str, value: &'a mut Value) -> Vec<(String, &'a mut Value)> {
    let field = field_pointer(name);
    match value {
        Value::Array(values) => values.iter_mut().enumerate().map(|(index, item)| (format!("{field}/{index}"), item)).collect(),
        other => vec![(field, other)],
    }
}

fn field_pointer(name: &str) -> String {
    format!("/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// Writes a form into a request.
pub fn set(
    api: &Api,
    expected: &RequestBody,
    fields: Map<String, Value>,
    mut files: FileParts,
    request: &mut Request,
) -> Result<(), String> {
    let mut form = Form::new();
    let (mut count, mut length) = (0, 0);
    for (name, mut value) in fields {
        let is_file = expected.file_fields.contains(&name);
        for (pointer, item) in items_mut(&name, &mut value) {
            let file = files.0.remove(&pointer).or_else(|| is_file.then(FilePart::default));
            let text = text(item);
            count += 1;
            length += name.len() + file.as_ref().and_then(|file| file.bytes.as_ref()).map_or(text.len(), Vec::len);
            if count > MAX_FORM_PARTS || length > MAX_FORM_BYTES {
                return Err(format!("body: the form has more than {MAX_FORM_PARTS} parts or {MAX_FORM_BYTES} bytes"));
            }
            let part = match file {
                Some(file) => file_part(&name, text, file)?,
                None if item.is_object() => with_mime_type(Part::text(text), &name, "application/json")?,
                None => Part::text(text),
            };
            form = form.part(name.clone(), part);
        }
    }
    // reqwest encodes a form only as part of a request.
    let built = api.egress.client()?.request(request.method().clone(), request.url().clone()).multipart(form).build();
    let mut built = built.map_err(|_| "the fields can't be encoded as a form")?;
    for name in [CONTENT_TYPE, CONTENT_LENGTH] {
        if let Some(value) = built.headers_mut().remove(&name) {
            request.headers_mut().insert(name, value);
        }
    }
    *request.body_mut() = built.body_mut().take();
    Ok(())
}

fn file_part(field: &str, text: String, file: FilePart) -> Result<Part, String> {
    let default_type = file.bytes.is_some().then_some("application/octet-stream");
    let part = match file.bytes {
        Some(bytes) => Part::bytes(bytes),
        None => Part::text(text),
    };
    // A server treats a part without a file name as a field.
    let name = file.name.unwrap_or_else(|| field.to_owned());
    // reqwest writes a line break as it is, which would begin another header of the part.
    if name.contains(char::is_control) {
        return Err(format!("body.{field}: the file name must not contain control characters"));
    }
    let part = part.file_name(name);
    match file.mime_type.as_deref().or(default_type) {
        Some(mime_type) => with_mime_type(part, field, mime_type),
        None => Ok(part),
    }
}

fn with_mime_type(part: Part, field: &str, mime_type: &str) -> Result<Part, String> {
    part.mime_str(mime_type).map_err(|_| format!("body.{field}: \"{mime_type}\" is not a media type"))
}
