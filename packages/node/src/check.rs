//! The check of a script before it runs.

use crate::errors::Failure;
use serde::Serialize;
use toolscript::{
    CancellationToken, Engine, ErrorKind, Limits, Outcome, RunOptions, Script, ScriptError,
    engine::{self, Definitions, NotChecked, RunRejected},
    functions::FunctionProvider,
};

/// A mistake, as JavaScript receives it.
#[derive(Serialize)]
pub struct Diagnostic {
    severity: engine::Severity,
    line: u32,
    column: u32,
    length: u32,
    message: String,
}

impl From<&engine::Diagnostic> for Diagnostic {
    fn from(found: &engine::Diagnostic) -> Self {
        Self { severity: found.severity, line: found.line, column: found.column, length: found.length, message: found.message.clone() }
    }
}

impl Diagnostic {
    /// Creates a diagnostic for an error of the compiler, whose message names the line.
    fn from_syntax_error(error: &ScriptError) -> Self {
        let position = error.message.strip_prefix("script:").and_then(|rest| rest.split_once(": "));
        let position = position.and_then(|(line, message)| Some((line.parse().ok()?, message)));
        let (line, message) = position.unwrap_or((1, &error.message));
        let column = error.column.unwrap_or(1);
        Self { severity: engine::Severity::Error, line, column, length: 0, message: message.to_owned() }
    }
}

/// Returns the mistakes that were found before a run: those for which it did not run, or those that it ran with.
pub fn of_outcome(outcome: &Outcome) -> Vec<Diagnostic> {
    let rejecting = outcome.result.as_ref().err().map(|error| &error.diagnostics);
    rejecting.into_iter().chain([&outcome.diagnostics]).flatten().map(Diagnostic::from).collect()
}

/// Finds mistakes in a script. If it has a syntax error, this is the only one.
pub async fn check(
    engine: Engine,
    script: Script,
    functions: Option<&dyn FunctionProvider>,
    has_io: bool,
    limits: Limits,
    cancellation: CancellationToken,
) -> Result<Vec<Diagnostic>, Failure> {
    // The compiler finds mistakes that the checker does not, such as too many variables.
    let compile = RunOptions::default().with_limits(limits).with_cancellation(cancellation);
    match engine.compile(&script, compile).await? {
        Some(error) if error.kind == ErrorKind::Syntax => return Ok(vec![Diagnostic::from_syntax_error(&error)]),
        Some(error) => return Err(Failure::not_checked(error.message)),
        None => {}
    }
    let definitions = Definitions::for_script(&script, functions).with_io(has_io);
    match engine.check(&script, &definitions).await {
        Ok(found) => Ok(found.iter().map(Diagnostic::from).collect()),
        Err(NotChecked::Busy) => Err(RunRejected::Busy { running: engine.running(), waiting: engine.waiting() }.into()),
        Err(reason) => Err(Failure::not_checked(reason.to_string())),
    }
}
