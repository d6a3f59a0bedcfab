//! The outcome of a run, for a caller or a model. It contains no statistics: those are in the receipt.

use super::check::Diagnostic;
use crate::files::TouchedFile;
use serde::{Serialize, Serializer, de::DeserializeOwned, ser::SerializeMap as _};
use serde_json::value::RawValue;

/// The outcome of a run. It has logs and files even if the run failed.
///
/// It serializes to `{"result", "logs", "files_touched"}` or `{"error", "logs", "files_touched"}`. The keys `"truncated"`,
/// `"replaced"` and `"diagnostics"` are present only if something was truncated, replaced or found.
#[derive(Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The result as valid JSON, or the error that ended the run.
    pub result: Result<Box<RawValue>, ScriptError>,
    /// The lines that the script printed.
    pub logs: Vec<String>,
    /// The files that the run created, changed or removed, sorted by name.
    pub files_touched: Vec<TouchedFile>,
    /// The parts that were truncated: `logs`, `message`, `traceback`.
    pub truncated: Vec<&'static str>,
    /// The parts of the result that JSON can't represent, with their replacements, such as `result.ratio: NaN became null`.
    pub replaced: Vec<String>,
    /// The mistakes that were found before a script ran with [`CheckMode::Warn`](super::CheckMode::Warn).
    pub diagnostics: Vec<Diagnostic>,
}

impl Outcome {
    /// Creates an outcome without logs and files.
    pub(super) fn new(result: Result<Box<RawValue>, ScriptError>) -> Self {
        Self { result, logs: Vec::new(), files_touched: Vec::new(), truncated: Vec::new(), replaced: Vec::new(), diagnostics: Vec::new() }
    }

    /// Deserializes the result.
    ///
    /// # Errors
    ///
    /// Returns an error if the run failed, or if its result does not match the type.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, DecodeError> {
        let json = self.result.as_ref().map_err(|error| DecodeError::Script(error.clone()))?;
        let mut decoder = serde_json::Deserializer::from_str(json.get());
        // The engine has checked the depth. Its limit is one level above that of serde_json.
        decoder.disable_recursion_limit();
        T::deserialize(&mut decoder).map_err(DecodeError::Type)
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
        if !self.replaced.is_empty() {
            map.serialize_entry("replaced", &self.replaced)?;
        }
        if !self.diagnostics.is_empty() {
            map.serialize_entry("diagnostics", &self.diagnostics)?;
        }
        map.end()
    }
}

/// The reason why [`Outcome::decode`] returned no value.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The script failed or was stopped.
    #[error(transparent)]
    Script(ScriptError),
    /// The result does not match the requested type.
    #[error("the result does not match the expected type")]
    Type(#[source] serde_json::Error),
}

/// The error that ended a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct ScriptError {
    /// The kind of the error.
    pub kind: ErrorKind,
    /// The message, in one line.
    pub message: String,
    /// The call stack, innermost call first, one per line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traceback: Option<String>,
    /// The column of a syntax error in the line that the message names: a number of characters, from 1. Not serialized.
    #[serde(skip)]
    pub column: Option<u32>,
    /// The mistakes that were found before the script ran. Empty for all kinds but [`ErrorKind::Check`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<Diagnostic>,
}

impl ScriptError {
    /// Creates an error without a traceback.
    #[must_use]
    pub fn new(kind: ErrorKind, message: String) -> Self {
        Self { kind, message, traceback: None, column: None, diagnostics: Vec::new() }
    }
}

/// The kind of an error: a fault of the script, a fault of the sandbox, or the limit that stopped the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ErrorKind {
    /// The source text is not valid Luau.
    Syntax,
    /// Mistakes were found before the script ran, and nothing was run.
    Check,
    /// The script raised an error.
    Runtime,
    /// The value that the script returned can't be a result.
    Result,
    /// The host or the sandbox failed. The host's log contains the cause.
    Internal,
    /// The run used up its fuel.
    Fuel,
    /// The run reached its wall time.
    Timeout,
    /// The run exceeded its memory limit.
    Memory,
    /// The run made as many function calls as its limit allows, and then another one.
    Calls,
    /// The run was cancelled.
    Cancelled,
}

impl ErrorKind {
    /// Returns the name of the kind, as in the serialized outcome.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Syntax => "syntax",
            Self::Check => "check",
            Self::Runtime => "runtime",
            Self::Result => "result",
            Self::Internal => "internal",
            Self::Fuel => "fuel",
            Self::Timeout => "timeout",
            Self::Memory => "memory",
            Self::Calls => "calls",
            Self::Cancelled => "cancelled",
        }
    }

    /// Returns `true` if a limit or a cancellation stopped the run.
    #[must_use]
    pub const fn is_stop(self) -> bool {
        matches!(self, Self::Fuel | Self::Timeout | Self::Memory | Self::Calls | Self::Cancelled)
    }

    /// Returns the exit code of the `toolscript` program: 1 for a failure, 3 for a limit, 130 for a cancellation.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Syntax | Self::Check | Self::Runtime | Self::Result | Self::Internal => 1,
            Self::Fuel | Self::Timeout | Self::Memory | Self::Calls => 3,
            Self::Cancelled => 130,
        }
    }
}
