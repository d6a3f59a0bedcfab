//! Runs scripts as commands, with text output and an exit code.

use super::{
    Sandbox,
    luau_command::{Command, Source},
};
use crate::engine::{Listener, Outcome, Run, RunOptions, Script};
use std::{fmt, sync::Arc, time::Duration};
use tokio_util::sync::CancellationToken;

/// The exit code of an invalid command. There was no run.
const EXIT_USAGE: u8 = 2;

/// Options for one execution of a script.
///
/// The defaults:
/// - no arguments
/// - the working directory and the timeout of the sandbox
/// - no listener
/// - a cancellation token that is never cancelled
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct ExecOptions {
    /// The arguments, which the script receives as `...`.
    pub arguments: Vec<String>,
    /// The directory that relative paths start at, relative to the working directory of the sandbox.
    pub working_directory: Option<String>,
    /// The limit on wall time. It can only lower the timeout of the sandbox.
    pub timeout: Option<Duration>,
    /// Receives log lines and progress while the script runs.
    pub listener: Option<Arc<dyn Listener>>,
    /// Stops the run when it is cancelled.
    pub cancellation: CancellationToken,
}

impl ExecOptions {
    /// Sets the arguments.
    #[must_use]
    pub fn with_arguments(mut self, arguments: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.arguments = arguments.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the directory that relative paths start at.
    #[must_use]
    pub fn with_working_directory(mut self, directory: impl Into<String>) -> Self {
        self.working_directory = Some(directory.into());
        self
    }

    /// Sets the limit on wall time.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets the listener.
    #[must_use]
    pub fn with_listener(mut self, listener: Arc<dyn Listener>) -> Self {
        self.listener = Some(listener);
        self
    }

    /// Sets the cancellation token.
    #[must_use]
    pub fn with_cancellation(mut self, cancellation: CancellationToken) -> Self {
        self.cancellation = cancellation;
        self
    }
}

impl fmt::Debug for ExecOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ExecOptions")
            .field("arguments", &self.arguments)
            .field("working_directory", &self.working_directory)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// The result of a script or a command.
#[derive(Debug)]
#[non_exhaustive]
pub struct Execution {
    /// The log lines, followed by a line with the result as JSON or with the error.
    pub output: String,
    /// The exit code, as on the command line: 0 success, 1 script error, 2 invalid command, 3 limit exceeded, 130 cancelled.
    pub exit_code: u8,
    /// The output was truncated by a limit.
    pub truncated: bool,
    /// The outcome and the receipt, or `None` if the script did not run.
    pub run: Option<Run>,
}

impl Execution {
    fn from_run(run: Run) -> Self {
        let Outcome { result, logs, truncated, replaced, .. } = &run.outcome;
        let mut output = String::new();
        let mut line = |text: &str| output.extend([text, "\n"]);
        logs.iter().for_each(|text| line(text));
        match result {
            Ok(result) if result.get() == "null" => {}
            Ok(result) => line(result.get()),
            Err(error) => {
                line(&format!("error: {}: {}", error.kind.name(), error.message));
                error.traceback.iter().flat_map(|traceback| traceback.lines()).for_each(|frame| line(&format!("  at {frame}")));
            }
        }
        replaced.iter().for_each(|replacement| line(&format!("note: {replacement}")));
        let exit_code = result.as_ref().err().map_or(0, |error| error.kind.exit_code());
        Self { exit_code, truncated: !truncated.is_empty(), output, run: Some(run) }
    }

    /// Returns the result of a command that was not run.
    pub(super) fn rejected(reason: &str) -> Self {
        Self { output: format!("error: {reason}\n"), exit_code: EXIT_USAGE, truncated: false, run: None }
    }
}

impl Sandbox {
    /// Runs Luau source text. If the options are invalid or the run is rejected, the output contains the error and the exit code is 2.
    pub async fn exec(&self, script: impl Into<Vec<u8>>, options: ExecOptions) -> Execution {
        let mut io = self.io.clone();
        if let Some(directory) = &options.working_directory {
            io.files = match io.files.with_working_directory(directory) {
                Ok(files) => files,
                Err(error) => return Execution::rejected(&format!("invalid working directory: {error}")),
            };
        }
        let mut limits = self.limits.clone();
        limits.timeout = options.timeout.map_or(limits.timeout, |timeout| timeout.min(limits.timeout));
        let mut run_options = RunOptions::default().with_limits(limits).with_io(io).with_cancellation(options.cancellation);
        run_options.listener = options.listener;
        run_options.quota = self.run_quota.clone();
        let script = Script::new(script).with_arguments(options.arguments);
        match self.engine.run(&script, run_options).await {
            Ok(run) => Execution::from_run(run),
            Err(error) => Execution::rejected(&error.to_string()),
        }
    }

    /// Runs a `luau` command, the only one supported: `luau FILE [ARGS…]`, `luau -e CODE [ARGS…]`, or `luau - [ARGS…]` with the script as a
    /// here-document (`luau - <<'END'`, the script, `END`). Errors are reported in the output.
    pub async fn execute(&self, command: &str) -> Execution {
        match Command::parse(command) {
            Ok(command) => self.run_command(command).await,
            Err(reason) => Execution::rejected(&reason),
        }
    }

    pub(super) async fn run_command(&self, Command { script, arguments }: Command) -> Execution {
        let source = match script {
            Source::Text(text) => text.into_bytes(),
            Source::File(path) => {
                let max_bytes = self.limits.script as u64;
                match self.blocking(move |io| io.files.read_raw(&path, max_bytes)).await {
                    Ok(source) => source,
                    Err(error) => return Execution::rejected(&format!("can't read the script: {error}")),
                }
            }
        };
        self.exec(source, ExecOptions { arguments, ..ExecOptions::default() }).await
    }
}
