//! The results of runs and commands as JSON.

use crate::{
    check::{self, Diagnostic},
    errors::Failure,
    events::Output,
};
use serde::Serialize;
use toolscript::{Outcome, Run, engine::Receipt, sandbox::Execution};

#[derive(Serialize)]
struct CompletedRun<'a> {
    outcome: &'a Outcome,
    receipt: &'a Receipt,
    /// Those of the outcome, with their lengths.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    diagnostics: Vec<Diagnostic>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CompletedCommand<'a> {
    output: &'a str,
    stdout: &'a str,
    stderr: &'a str,
    exit_code: u8,
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<CompletedRun<'a>>,
}

fn completed(run: &Run) -> CompletedRun<'_> {
    CompletedRun { outcome: &run.outcome, receipt: &run.receipt, diagnostics: check::of_outcome(&run.outcome) }
}

/// The outcome and the receipt of a run.
pub fn run(run: &Run) -> Result<Output, Failure> {
    Output::json(&completed(run))
}

/// The output and the exit code of a command, and its run.
pub fn command(execution: &Execution) -> Result<Output, Failure> {
    Output::json(&CompletedCommand {
        output: &execution.output,
        stdout: execution.stdout(),
        stderr: execution.stderr(),
        exit_code: execution.exit_code,
        truncated: execution.truncated,
        run: execution.run.as_ref().map(completed),
    })
}
