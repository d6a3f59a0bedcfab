//! The check of a script before it runs.

use crate::functions::RunFunctions;
use pyo3::prelude::*;
use toolscript::{
    Engine, ErrorKind, Limits, RunOptions, Script,
    engine::{self, CheckMode, Definitions, NotChecked, RunRejected},
    functions::FunctionProvider,
};

/// A mistake that was found before a script ran.
#[pyclass(frozen, get_all, eq, hash, module = "toolscript")]
#[derive(PartialEq, Eq, Hash)]
pub struct Diagnostic {
    /// ``"error"`` if the code is certainly wrong, or ``"note"`` if it is probably wrong.
    severity: &'static str,
    /// The line in which the wrong code begins, counted from 1.
    line: u32,
    /// The column in which it begins, in characters, counted from 1.
    column: u32,
    /// The number of characters that it takes in that line, or 0 if that is not known or if it continues in the next line.
    length: u32,
    /// The mistake, with the nearest right name if there is one.
    message: String,
}

#[pymethods]
impl Diagnostic {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let Self { severity, line, column, length, message } = self;
        let message = message.into_pyobject(py)?.repr()?;
        Ok(format!("Diagnostic(severity='{severity}', line={line}, column={column}, length={length}, message={message})"))
    }

    fn __str__(&self) -> String {
        format!("script:{}:{}: {}", self.line, self.column, self.message)
    }
}

impl Diagnostic {
    /// Creates a diagnostic for an error of the compiler, whose message names the line.
    fn from_syntax_error(error: &toolscript::ScriptError) -> Self {
        let position = error.message.strip_prefix("script:").and_then(|rest| rest.split_once(": "));
        let position = position.and_then(|(line, message)| Some((line.parse().ok()?, message)));
        let (line, message) = position.unwrap_or((1, &error.message));
        Self { severity: "error", line, column: error.column.unwrap_or(1), length: 0, message: message.to_owned() }
    }
}

impl From<&engine::Diagnostic> for Diagnostic {
    fn from(found: &engine::Diagnostic) -> Self {
        Self {
            severity: if found.is_error() { "error" } else { "note" },
            line: found.line,
            column: found.column,
            length: found.length,
            message: found.message.clone(),
        }
    }
}

/// Converts the diagnostics of an outcome.
pub fn diagnostics(py: Python<'_>, found: &[engine::Diagnostic]) -> PyResult<Vec<Py<Diagnostic>>> {
    found.iter().map(|diagnostic| Py::new(py, Diagnostic::from(diagnostic))).collect()
}

/// The reason why a script was not checked.
pub enum CheckRejected {
    NotStarted(RunRejected),
    NotChecked(String),
}

impl From<RunRejected> for CheckRejected {
    fn from(reason: RunRejected) -> Self {
        Self::NotStarted(reason)
    }
}

/// Finds mistakes in a script. If it has a syntax error, this is the only one.
pub async fn check(
    engine: Engine,
    script: Script,
    functions: Option<RunFunctions>,
    has_io: bool,
    limits: Limits,
) -> Result<Vec<Diagnostic>, CheckRejected> {
    let (size, limit) = (script.source.len(), limits.script);
    if size > limit {
        return Err(RunRejected::ScriptTooLarge { size, limit }.into());
    }
    let functions = functions.as_ref().map(|functions| functions as &dyn FunctionProvider);
    let definitions = Definitions::for_script(&script, functions).with_io(has_io);
    let checked = engine.check(&script, &definitions).await;
    if checked == Err(NotChecked::Busy) {
        return Err(RunRejected::Busy { running: engine.running(), waiting: engine.waiting() }.into());
    }
    // The compiler finds mistakes that the checker does not, such as too many variables.
    match engine.compile(&script, RunOptions::default().with_limits(limits)).await? {
        Some(error) if error.kind == ErrorKind::Syntax => Ok(vec![Diagnostic::from_syntax_error(&error)]),
        Some(error) => Err(CheckRejected::NotChecked(error.message)),
        None => match checked {
            Ok(found) => Ok(found.iter().map(Diagnostic::from).collect()),
            Err(reason) => Err(CheckRejected::NotChecked(reason.to_string())),
        },
    }
}

/// Returns the mode of a name. Returns `None` if there is none of that name.
pub fn mode(name: &str) -> Option<CheckMode> {
    match name {
        "off" => Some(CheckMode::Off),
        "warn" => Some(CheckMode::Warn),
        "errors" => Some(CheckMode::Errors),
        _ => None,
    }
}
