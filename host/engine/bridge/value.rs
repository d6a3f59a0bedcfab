//! Arguments and return values of functions.

use serde_json::value::RawValue;

/// An argument or a return value of a function.
#[derive(Clone, Debug)]
pub enum FunctionValue {
    /// A JSON value.
    Json(JsonValue),
    /// Bytes: a buffer or a string that is not UTF-8 as an argument, a Luau string as a return value.
    Bytes(Vec<u8>),
}

impl FunctionValue {
    /// Returns the size in bytes.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Json(json) => json.size(),
            Self::Bytes(bytes) => bytes.len(),
        }
    }
}

impl From<Vec<u8>> for FunctionValue {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes)
    }
}

impl From<JsonValue> for FunctionValue {
    fn from(json: JsonValue) -> Self {
        Self::Json(json)
    }
}

impl From<Box<RawValue>> for FunctionValue {
    fn from(text: Box<RawValue>) -> Self {
        Self::Json(text.into())
    }
}

/// A JSON value that can contain bytes, which JSON itself can't represent.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct JsonValue {
    /// The JSON text. It has an empty string at the location of each attachment.
    pub text: Box<RawValue>,
    /// The bytes in the value.
    pub attachments: Vec<Attachment>,
}

/// Bytes in a [`JsonValue`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// The location in the value, as a JSON pointer (RFC 6901), such as `/files/0/data`.
    pub pointer: String,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl JsonValue {
    /// Adds bytes. The value must have an empty string at their location.
    #[must_use]
    pub fn with_attachments(mut self, attachments: Vec<Attachment>) -> Self {
        self.attachments = attachments;
        self
    }

    /// Returns the size in bytes of the text and the attachments.
    pub(super) fn size(&self) -> usize {
        self.text.get().len() + self.attachments.iter().map(Attachment::size).sum::<usize>()
    }
}

impl Attachment {
    fn size(&self) -> usize {
        self.pointer.len() + self.bytes.len()
    }
}

impl From<Box<RawValue>> for JsonValue {
    fn from(text: Box<RawValue>) -> Self {
        Self { text, attachments: Vec::new() }
    }
}
