//! What a check returns.

use crate::text::one_line;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The treatment of mistakes that are found before a script runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "mcp", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum CheckMode {
    /// Scripts are not checked.
    #[default]
    Off,
    /// Scripts run, and the outcome has the errors.
    Warn,
    /// A script with an error does not run.
    Errors,
}

/// The weight of a mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Severity {
    /// The code is certainly wrong: it fails whenever it is executed, or reads what cannot be there.
    Error,
    /// The code is probably wrong.
    Note,
}

/// A mistake in a script.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Diagnostic {
    /// The weight of the mistake.
    pub severity: Severity,
    /// The line in which the wrong code begins, from 1.
    pub line: u32,
    /// The column in which it begins: a number of characters, from 1.
    pub column: u32,
    /// The number of characters that it takes in that line. 0 if it continues in the next one.
    #[serde(skip)]
    pub length: u32,
    /// The mistake, with the nearest right name if there is one.
    pub message: String,
}

impl Diagnostic {
    /// Returns `true` if the code is certainly wrong.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "script:{}:{}: {}", self.line, self.column, self.message)
    }
}

/// The reason why a script was not checked. It can run nevertheless.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotChecked {
    /// The checker can't read the script, as after a syntax error, or its definitions.
    #[error("{0}")]
    Script(String),
    /// The checker was stopped by its limits on fuel, memory and time.
    #[error("the check takes too long or needs too much memory")]
    Stopped,
    /// The queue of the engine is full.
    #[error("busy: too many scripts are running and waiting; try again later")]
    Busy,
    /// The package was built without the feature `check`, or with `TOOLSCRIPT_GUEST`.
    #[error("this build has no checker: it was built without the feature `check`, or with TOOLSCRIPT_GUEST")]
    Unavailable,
}

/// Returns a text of the guest on one line, without control characters and truncated.
pub fn printable(text: &str, max_bytes: usize) -> String {
    let end = text.floor_char_boundary(max_bytes);
    let shown = one_line(text.get(..end).unwrap_or_default());
    if end < text.len() { format!("{shown}…") } else { shown }
}
