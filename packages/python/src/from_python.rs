//! Converts Python objects to JSON, with bytes as attachments.

use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    sync::PyOnceLock,
    types::{PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple},
};
use serde_json::value::RawValue;
use toolscript::functions::{Attachment, FunctionValue, JsonValue};

/// The largest integer that a Luau number represents exactly, together with all smaller ones. Larger integers become strings.
const MAX_INTEGER: i64 = (1 << 53) - 1;

/// The maximum nesting of a value, as for the results of scripts. It also ends the conversion of a value that contains itself.
const MAX_DEPTH: usize = 128;

/// The maximum size of a value. The engine accepts no larger response.
const MAX_BYTES: usize = 8 << 20;

/// Converts a return value of a function.
pub fn function_value(object: &Bound<'_, PyAny>) -> PyResult<FunctionValue> {
    if let Some(bytes) = bytes_of(object) {
        return Ok(FunctionValue::Bytes(bytes));
    }
    let mut encoder = Encoder { text: Vec::new(), attachments: Vec::new(), bytes: 0 };
    encoder.value(object, &Location { parent: None, key: Key::Root }, 0)?;
    let text = String::from_utf8(encoder.text).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let text = RawValue::from_string(text).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(JsonValue::from(text).with_attachments(encoder.attachments).into())
}

/// Converts a value that contains no bytes to JSON text.
pub fn json(object: &Bound<'_, PyAny>) -> PyResult<String> {
    match function_value(object)? {
        FunctionValue::Json(json) if json.attachments.is_empty() => Ok(json.text.get().to_owned()),
        _ => Err(PyTypeError::new_err("bytes are not allowed here")),
    }
}

/// The location of a value in the values that contain it.
struct Location<'a> {
    parent: Option<&'a Location<'a>>,
    key: Key<'a>,
}

enum Key<'a> {
    Root,
    Index(usize),
    Name(&'a str),
}

impl Location<'_> {
    /// Returns the location as a JSON pointer.
    fn pointer(&self) -> String {
        let parent = self.parent.map(Location::pointer).unwrap_or_default();
        match self.key {
            Key::Root => parent,
            Key::Index(index) => format!("{parent}/{index}"),
            Key::Name(name) => format!("{parent}/{}", name.replace('~', "~0").replace('/', "~1")),
        }
    }
}

struct Encoder {
    text: Vec<u8>,
    attachments: Vec<Attachment>,
    /// The size of the attachments.
    bytes: usize,
}

impl Encoder {
    fn value(&mut self, object: &Bound<'_, PyAny>, location: &Location<'_>, depth: usize) -> PyResult<()> {
        if depth > MAX_DEPTH {
            return Err(PyValueError::new_err(format!("the value is nested more than {MAX_DEPTH} levels deep, or contains itself")));
        }
        if self.text.len() + self.bytes > MAX_BYTES {
            return Err(PyValueError::new_err(format!("the value is larger than {MAX_BYTES} bytes")));
        }
        if object.is_none() {
            self.text.extend_from_slice(b"null");
        } else if let Ok(value) = object.cast::<PyBool>() {
            self.text.extend_from_slice(if value.is_true() { b"true" } else { b"false" });
        } else if let Ok(value) = object.cast::<PyString>() {
            self.string(value.to_str()?);
        } else if let Ok(value) = object.cast_exact::<PyInt>() {
            self.integer(value)?;
        } else if let Ok(value) = object.cast_exact::<PyFloat>() {
            self.float(value.value());
        } else if let Ok(dict) = object.cast::<PyDict>() {
            self.object(dict, location, depth)?;
        } else if let Ok(list) = object.cast::<PyList>() {
            self.array(list.iter(), location, depth)?;
        } else if let Ok(tuple) = object.cast::<PyTuple>() {
            self.array(tuple.iter(), location, depth)?;
        } else if let Some(bytes) = bytes_of(object) {
            self.text.extend_from_slice(b"\"\"");
            self.bytes += bytes.len();
            self.attachments.push(Attachment { pointer: location.pointer(), bytes });
        } else {
            self.value(&simplified(object)?, location, depth + 1)?;
        }
        Ok(())
    }

    fn integer(&mut self, value: &Bound<'_, PyInt>) -> PyResult<()> {
        match value.extract::<i64>() {
            Ok(integer) if (-MAX_INTEGER..=MAX_INTEGER).contains(&integer) => self.text.extend_from_slice(integer.to_string().as_bytes()),
            _ => self.string(value.str()?.to_str()?),
        }
        Ok(())
    }

    /// Appends a number. JSON has no NaN and no infinity, so they become null.
    fn float(&mut self, value: f64) {
        match serde_json::Number::from_f64(value) {
            Some(number) => self.text.extend_from_slice(number.to_string().as_bytes()),
            None => self.text.extend_from_slice(b"null"),
        }
    }

    fn string(&mut self, text: &str) {
        // Writing to a vector does not fail.
        let _ = serde_json::to_writer(&mut self.text, text);
    }

    fn array<'py>(&mut self, items: impl Iterator<Item = Bound<'py, PyAny>>, parent: &Location<'_>, depth: usize) -> PyResult<()> {
        self.text.push(b'[');
        for (index, item) in items.enumerate() {
            if index > 0 {
                self.text.push(b',');
            }
            self.value(&item, &Location { parent: Some(parent), key: Key::Index(index) }, depth + 1)?;
        }
        self.text.push(b']');
        Ok(())
    }

    fn object(&mut self, dict: &Bound<'_, PyDict>, parent: &Location<'_>, depth: usize) -> PyResult<()> {
        self.text.push(b'{');
        for (index, (key, value)) in dict.iter().enumerate() {
            if index > 0 {
                self.text.push(b',');
            }
            let key = match key.cast::<PyString>() {
                Ok(name) => name.clone(),
                // As `json.dumps` does.
                Err(_) if key.is_instance_of::<PyInt>() && !key.is_instance_of::<PyBool>() => key.str()?,
                Err(_) => return Err(PyTypeError::new_err(format!("a key of a dict must be a str, not {}", key.get_type().name()?))),
            };
            let name = key.to_str()?;
            self.string(name);
            self.text.push(b':');
            self.value(&value, &Location { parent: Some(parent), key: Key::Name(name) }, depth + 1)?;
        }
        self.text.push(b'}');
        Ok(())
    }
}

/// Returns the contents of `bytes`, `bytearray` and `memoryview`.
fn bytes_of(object: &Bound<'_, PyAny>) -> Option<Vec<u8>> {
    if let Ok(bytes) = object.cast::<PyBytes>() {
        return Some(bytes.as_bytes().to_vec());
    }
    if let Ok(bytes) = object.cast::<PyByteArray>() {
        return Some(bytes.to_vec());
    }
    let is_view = object.get_type().name().is_ok_and(|name| name == "memoryview");
    is_view.then(|| object.call_method0("tobytes").ok()?.extract().ok()).flatten()
}

/// Converts an object of another type, such as a dataclass or a date, to one of the types above.
fn simplified<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    static SIMPLIFY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    SIMPLIFY.import(object.py(), "toolscript._convert", "simplify")?.call1((object,))
}
