//! What a run ended in, as a caller, a model or a program reads it. No statistics: those are the receipt's.

use crate::files::TouchedFile;
use serde::{Serialize, Serializer, ser::SerializeMap as _};
use serde_json::value::RawValue;

/// How a run ended. Logs and files are there whatever happened.
///
/// Serialised, it is `{"result", "logs", "files_touched"}` or `{"error", "logs", "files_touched"}`, with `"truncated"` only when
/// something was cut.
#[derive(Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The result as JSON text that was checked, or why there is none.
    pub result: Result<Box<RawValue>, ScriptError>,
    /// The lines that the script printed.
    pub logs: Vec<String>,
    /// The files that the run made, changed or removed, in name order.
    pub files_touched: Vec<TouchedFile>,
    /// What was cut: `logs`, `message`, `traceback`.
    pub truncated: Vec<&'static str>,
}

impl Outcome {
    /// The result as a value of the caller's type.
    ///
    /// # Errors
    ///
    /// When the run failed, or its result has another shape.
    pub fn decode<T: serde::de::DeserializeOwned>(&self) -> Result<T, DecodeError> {
        let json = self.result.as_ref().map_err(|error| DecodeError::Script(error.clone()))?;
        let mut decoder = serde_json::Deserializer::from_str(json.get());
        // The engine has checked the depth, and allows one level more than serde_json would.
        decoder.disable_recursion_limit();
        T::deserialize(&mut decoder).map_err(DecodeError::Shape)
    }
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match &self.result {
            Ok(result) => map.serialize_entry("result", result)?,
            Err(error) => map.serialize_entry("error", error)?,
        }
        map.serialize_entry("logs", &self.logs)?;
        map.serialize_entry("files_touched", &self.files_touched)?;
        if !self.truncated.is_empty() {
            map.serialize_entry("truncated", &self.truncated)?;
        }
        map.end()
    }
}

/// Why [`Outcome::decode`] has no value.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The script failed or was stopped.
    #[error(transparent)]
    Script(ScriptError),
    /// The result is not of the type that was asked for.
    #[error("the result has another shape: {0}")]
    Shape(serde_json::Error),
}

/// Why a script has no result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct ScriptError {
    /// Whose fault it is, or which limit stopped it.
    pub kind: ErrorKind,
    /// What happened, in one line.
    pub message: String,
    /// The calls that led there, innermost first, one a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traceback: Option<String>,
}

impl ScriptError {
    /// An error without a traceback.
    #[must_use]
    pub fn new(kind: ErrorKind, message: String) -> Self {
        Self { kind, message, traceback: None }
    }
}

/// Whose fault an error is, or which limit stopped the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ErrorKind {
    /// The text is not a script.
    Syntax,
    /// The script raised an error.
    Runtime,
    /// What the script returned can't be a result.
    Result,
    /// A fault of the host's or of the sandbox; details are in the host's log.
    Internal,
    /// The run used up its fuel.
    Fuel,
    /// The run reached its wall time.
    Timeout,
    /// The run needed more memory than it may have.
    Memory,
    /// Somebody cancelled the run.
    Cancelled,
}

impl ErrorKind {
    /// The word in the outcome.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Syntax => "syntax",
            Self::Runtime => "runtime",
            Self::Result => "result",
            Self::Internal => "internal",
            Self::Fuel => "fuel",
            Self::Timeout => "timeout",
            Self::Memory => "memory",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether a limit or a cancellation stopped the run from outside.
    #[must_use]
    pub const fn is_stop(self) -> bool {
        matches!(self, Self::Fuel | Self::Timeout | Self::Memory | Self::Cancelled)
    }

    /// The exit code of a program that ran the script: 1 for its own fault, 3 for a limit, 130 for a cancellation.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Syntax | Self::Runtime | Self::Result | Self::Internal => 1,
            Self::Fuel | Self::Timeout | Self::Memory => 3,
            Self::Cancelled => 130,
        }
    }
}
