//! The result of a script or a command: its output and its exit code.

use crate::engine::{Outcome, Run};

/// The exit code of an invalid command. There was no run.
const EXIT_USAGE: u8 = 2;

/// The result of a script or a command.
#[derive(Debug)]
#[non_exhaustive]
pub struct Execution {
    /// The log lines, followed by a line with the result as JSON or by the error. It is [`stdout`](Self::stdout) followed by
    /// [`stderr`](Self::stderr).
    pub output: String,
    /// The exit code, as on the command line: 0 success, 1 script error, 2 invalid command, 3 limit exceeded, 130 cancelled.
    pub exit_code: u8,
    /// The output was truncated by a limit.
    pub truncated: bool,
    /// The outcome and the receipt, or `None` if the script did not run.
    pub run: Option<Run>,
    /// The position in `output` at which the error starts.
    stderr_start: usize,
}

impl Execution {
    pub(super) fn from_run(run: Run) -> Self {
        let Outcome { result, logs, truncated, replaced, .. } = &run.outcome;
        let mut output = String::new();
        let line = |output: &mut String, text: &str| output.extend([text, "\n"]);
        logs.iter().for_each(|text| line(&mut output, text));
        if let Ok(result) = result
            && result.get() != "null"
        {
            line(&mut output, result.get());
        }
        let stderr_start = output.len();
        if let Err(error) = result {
            line(&mut output, &format!("error: {}: {}", error.kind.name(), error.message));
            let frames = error.traceback.iter().flat_map(|traceback| traceback.lines());
            frames.for_each(|frame| line(&mut output, &format!("  at {frame}")));
        }
        replaced.iter().for_each(|replacement| line(&mut output, &format!("note: {replacement}")));
        let exit_code = result.as_ref().err().map_or(0, |error| error.kind.exit_code());
        Self { exit_code, truncated: !truncated.is_empty(), output, run: Some(run), stderr_start }
    }

    /// Returns the result of a command that was not run.
    pub(super) fn rejected(reason: &str) -> Self {
        Self { output: format!("error: {reason}\n"), exit_code: EXIT_USAGE, truncated: false, run: None, stderr_start: 0 }
    }

    /// Returns the log lines, followed by a line with the result as JSON unless it is null.
    #[must_use]
    pub fn stdout(&self) -> &str {
        self.output.get(..self.stderr_start).unwrap_or(&self.output)
    }

    /// Returns the error with its traceback, or notes about parts of the result that JSON can't represent. It is empty after a success
    /// without notes.
    #[must_use]
    pub fn stderr(&self) -> &str {
        self.output.get(self.stderr_start..).unwrap_or_default()
    }
}
