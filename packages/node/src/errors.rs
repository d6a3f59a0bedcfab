//! Errors in the form in which `lib/errors.ts` creates an instance of a class from them.

use serde::Serialize;
use std::error::Error;
use toolscript::{engine::RunRejected, files::FileError};

/// An error of an operation.
#[derive(Debug, Serialize)]
pub struct Failure {
    /// The class: `file`, `rejected`, `engine`, `source` or `argument`.
    class: &'static str,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    errno: Option<i32>,
}

impl Failure {
    /// An invalid argument.
    pub fn argument(message: impl Into<String>) -> Self {
        Self { class: "argument", message: message.into(), code: None, errno: None }
    }

    /// A file operation in a sandbox without a directory.
    pub fn no_directory() -> Self {
        let message = "this sandbox has no directory; open it with one, as in Sandbox.open(\"./data\")".into();
        Self { class: "file", message, code: Some("no_directory"), errno: None }
    }

    /// A script that can't be checked, although it may run.
    pub fn not_checked(reason: String) -> Self {
        Self { class: "rejected", message: reason, code: Some("not_checked"), errno: None }
    }

    /// An operation that ended without a result, because of an error in this addon.
    pub fn internal() -> Self {
        Self { class: "engine", message: "the operation failed unexpectedly".into(), code: None, errno: None }
    }

    /// The messages of an error and of its causes.
    pub fn with_causes(class: &'static str, error: &dyn Error) -> Self {
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            message = format!("{message}: {cause}");
            source = cause.source();
        }
        Self { class, message, code: None, errno: None }
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        let errno = if let FileError::System { number, .. } = &error { Some(*number) } else { None };
        Self { class: "file", message: error.to_string(), code: Some(error.code().name()), errno }
    }
}

impl From<RunRejected> for Failure {
    fn from(error: RunRejected) -> Self {
        let code = match error {
            RunRejected::ScriptTooLarge { .. } => "script_too_large",
            RunRejected::ArgumentsTooLarge { .. } => "arguments_too_large",
            RunRejected::EnvironmentTooLarge { .. } => "environment_too_large",
            RunRejected::Busy { .. } => "busy",
            _ => "invalid_limit",
        };
        Self { class: "rejected", message: error.to_string(), code: Some(code), errno: None }
    }
}
