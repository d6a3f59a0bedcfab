//! Raises the exceptions of the package, which are classes in `toolscript._errors`.

use crate::check::CheckRejected;
use pyo3::{
    prelude::*,
    sync::PyOnceLock,
    types::{PyDict, PyType},
};
use std::error::Error;
use toolscript::{engine::RunRejected, files::FileError};

macro_rules! exception {
    ($function:ident, $name:literal) => {
        pub fn $function<'py>(py: Python<'py>) -> PyResult<&'py Bound<'py, PyType>> {
            static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
            CLASS.import(py, "toolscript._errors", $name)
        }
    };
}

exception!(script_error_class, "ScriptError");
exception!(file_error_class, "FileError");
exception!(run_rejected_class, "RunRejected");
exception!(source_error_class, "SourceError");
exception!(engine_error_class, "EngineError");
exception!(function_error_class, "FunctionError");

/// Returns the exception for an error of a file operation.
pub fn file_error(py: Python<'_>, error: &FileError) -> PyErr {
    coded(py, file_error_class(py), &error.to_string(), error.code().name(), errno(error))
}

/// Returns the exception for a file operation in a sandbox without a directory.
pub fn no_directory(py: Python<'_>) -> PyErr {
    coded(py, file_error_class(py), "this sandbox has no directory; create it as Sandbox(\"./data\")", "no_directory", None)
}

/// Returns the exception for a run that did not start.
pub fn run_rejected(py: Python<'_>, error: &RunRejected) -> PyErr {
    let code = match error {
        RunRejected::ScriptTooLarge { .. } => "script_too_large",
        RunRejected::ArgumentsTooLarge { .. } => "arguments_too_large",
        RunRejected::EnvironmentTooLarge { .. } => "environment_too_large",
        RunRejected::Busy { .. } => "busy",
        _ => "invalid_limit",
    };
    coded(py, run_rejected_class(py), &error.to_string(), code, None)
}

/// Returns the exception for a script that was not checked.
pub fn check_rejected(py: Python<'_>, error: &CheckRejected) -> PyErr {
    match error {
        CheckRejected::NotStarted(error) => run_rejected(py, error),
        CheckRejected::NotChecked(reason) => coded(py, run_rejected_class(py), reason, "not_checked", None),
    }
}

/// Returns an exception with the messages of an error and of its causes.
pub fn with_causes(class: PyResult<&Bound<'_, PyType>>, error: &dyn Error) -> PyErr {
    let mut message = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        message = format!("{message}: {cause}");
        source = cause.source();
    }
    class.map_or_else(|error| error, |class| PyErr::from_type(class.clone(), message))
}

fn coded(py: Python<'_>, class: PyResult<&Bound<'_, PyType>>, message: &str, code: &str, errno: Option<i32>) -> PyErr {
    let raised = || {
        let details = PyDict::new(py);
        details.set_item("code", code)?;
        if let Some(errno) = errno {
            details.set_item("errno", errno)?;
        }
        class?.call((message,), Some(&details))
    };
    raised().map_or_else(|error| error, PyErr::from_value)
}

fn errno(error: &FileError) -> Option<i32> {
    if let FileError::System { number, .. } = error { Some(*number) } else { None }
}
