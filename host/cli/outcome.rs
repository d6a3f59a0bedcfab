//! The outcome of a run for people: the result on standard output, everything else beside it.

use super::{
    excerpt::Source,
    limit_hints::LimitHints,
    output::{self, Output},
};
use crate::{ErrorKind, Outcome, ScriptError, engine::Diagnostic, files::TouchedFile, text::one_line};
use anyhow::Result;

/// Prints the result or the error with its position and traceback, then the changed files, and notes on replaced parts and limits.
pub fn print(outcome: &Outcome, source: &Source<'_>, limits: &LimitHints) -> Result<()> {
    let mut stdout = Output::stdout();
    match &outcome.result {
        Ok(result) if result.get() == "null" => {}
        Ok(result) => stdout.json_for_reader(result.get()),
        Err(error) => print_error(error, source),
    }
    stdout.finish()?;
    let mut beside = Output::beside_result();
    for file in &outcome.files_touched {
        beside.line(&describe(file));
    }
    outcome.diagnostics.iter().for_each(|diagnostic| print_diagnostic(diagnostic, source));
    for note in outcome.replaced.iter().chain(&limits.notes(outcome)) {
        output::print_note(note);
    }
    beside.finish()
}

/// Prints the error of a script with its position, its source line and its traceback.
pub fn print_error(error: &ScriptError, source: &Source<'_>) {
    if error.kind == ErrorKind::Check {
        error.diagnostics.iter().for_each(|diagnostic| print_diagnostic(diagnostic, source));
        return output::print_note("nothing was executed; --no-check runs the script nevertheless");
    }
    let located = source.locate(&error.message, error.column);
    let message = located.as_ref().map_or_else(|| error.message.clone(), |located| located.message(source.name));
    match error.kind {
        // The position shows that the script is at fault.
        ErrorKind::Syntax | ErrorKind::Runtime if located.is_some() => output::print_error(&message),
        kind => output::print_error(&format!("{}: {message}", kind.name())),
    }
    let mut stderr = Output::stderr();
    for line in located.and_then(|located| located.excerpt()).into_iter().flatten() {
        stderr.line(&line);
    }
    for frame in error.traceback.iter().flat_map(|traceback| traceback.lines()) {
        stderr.line(&format!("  at {}", source.rename(frame)));
    }
}

/// Prints a mistake with its position and its source line.
pub fn print_diagnostic(diagnostic: &Diagnostic, source: &Source<'_>) {
    let Diagnostic { line, column, length, message, .. } = diagnostic;
    let located = source.at(*line, *column, *length, message);
    let print = if diagnostic.is_error() { output::print_error } else { output::print_note };
    print(&located.message(source.name));
    let mut stderr = Output::stderr();
    for line in located.excerpt().into_iter().flatten() {
        stderr.line(&line);
    }
}

/// Describes a changed file in one line.
fn describe(file: &TouchedFile) -> String {
    let name = one_line(&file.name);
    let size = file.bytes.map(|bytes| format!(" ({bytes} {})", if bytes == 1 { "byte" } else { "bytes" })).unwrap_or_default();
    let incomplete = if file.truncated { ", incomplete: the script was stopped before all buffered data was written" } else { "" };
    format!("{} {name}{size}{incomplete}", file.op.name())
}
