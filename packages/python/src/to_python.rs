//! Converts JSON to Python objects.

use pyo3::{
    exceptions::PyValueError,
    prelude::*,
    types::{PyBytes, PyDict, PyList, PyString},
};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;
use toolscript::functions::{Attachment, FunctionValue};

/// Decodes JSON text from the engine, which has checked its depth.
pub fn decode<'py>(py: Python<'py>, json: &str) -> PyResult<Bound<'py, PyAny>> {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    deserializer.disable_recursion_limit();
    Object(py).deserialize(&mut deserializer).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Converts an argument of a function. Bytes in tables become `bytes`.
pub fn argument<'py>(py: Python<'py>, value: &FunctionValue) -> PyResult<Bound<'py, PyAny>> {
    match value {
        FunctionValue::Bytes(bytes) => Ok(PyBytes::new(py, bytes).into_any()),
        FunctionValue::Json(json) => {
            // The depth of an argument is not checked by the engine, so the limit of the decoder stays on.
            let mut deserializer = serde_json::Deserializer::from_str(json.text.get());
            let object = Object(py).deserialize(&mut deserializer).map_err(|error| PyValueError::new_err(error.to_string()))?;
            for attachment in &json.attachments {
                attach(&object, attachment)?;
            }
            Ok(object)
        }
    }
}

/// Replaces the empty string at the location of an attachment with its bytes.
fn attach(object: &Bound<'_, PyAny>, Attachment { pointer, bytes }: &Attachment) -> PyResult<()> {
    let mut parent = object.clone();
    let mut keys = pointer.split('/').skip(1).map(|key| key.replace("~1", "/").replace("~0", "~")).peekable();
    while let Some(key) = keys.next() {
        let key = if parent.is_instance_of::<PyList>() {
            key.parse::<usize>()?.into_pyobject(parent.py())?.into_any()
        } else {
            PyString::new(parent.py(), &key).into_any()
        };
        if keys.peek().is_none() {
            return parent.set_item(key, PyBytes::new(object.py(), bytes));
        }
        parent = parent.get_item(key)?;
    }
    Ok(())
}

/// Builds a Python object from the events of a deserializer.
#[derive(Clone, Copy)]
struct Object<'py>(Python<'py>);

impl<'de, 'py> DeserializeSeed<'de> for Object<'py> {
    type Value = Bound<'py, PyAny>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, 'py> Visitor<'de> for Object<'py> {
    type Value = Bound<'py, PyAny>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(self.0.None().into_bound(self.0))
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<Self::Value, E> {
        python(value.into_pyobject(self.0).map(|object| object.to_owned().into_any()))
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Self::Value, E> {
        python(value.into_pyobject(self.0).map(Bound::into_any))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Self::Value, E> {
        python(value.into_pyobject(self.0).map(Bound::into_any))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Self::Value, E> {
        python(value.into_pyobject(self.0).map(Bound::into_any))
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        Ok(PyString::new(self.0, value).into_any())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Self::Value, A::Error> {
        let list = PyList::empty(self.0);
        while let Some(item) = sequence.next_element_seed(self)? {
            python(list.append(item))?;
        }
        Ok(list.into_any())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let dict = PyDict::new(self.0);
        while let Some(key) = map.next_key_seed(self)? {
            python(dict.set_item(key, map.next_value_seed(self)?))?;
        }
        Ok(dict.into_any())
    }
}

/// Converts an error of Python, such as a lack of memory.
fn python<T, P: fmt::Display, E: serde::de::Error>(result: Result<T, P>) -> Result<T, E> {
    result.map_err(E::custom)
}
