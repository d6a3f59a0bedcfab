//! Scripts as programs: text out, and an exit code.

use super::{
    Sandbox,
    command::{Command, Source},
};
use crate::{
    engine::bridge::Listener,
    engine::{Outcome, Run, RunOptions, Script},
};
use std::{sync::Arc, time::Duration};
use tokio_util::sync::CancellationToken;

/// Wrong usage: there was no run.
const EXIT_USAGE: u8 = 2;

/// How to run a script this once.
///
/// The defaults: no arguments, the sandbox's working folder and timeout, nobody listening, a token that nobody cancels.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct ExecOptions {
    /// What the script gets as `...`.
    pub arguments: Vec<String>,
    /// Where its relative paths start; counts from the sandbox's working folder.
    pub working: Option<String>,
    /// Wall time; it only lowers the sandbox's.
    pub timeout: Option<Duration>,
    /// Hears of what the script prints as it comes.
    pub listener: Option<Arc<dyn Listener>>,
    /// Cancelling it stops the run.
    pub cancellation: CancellationToken,
}

impl ExecOptions {
    /// The same options with these arguments.
    #[must_use]
    pub fn with_arguments(mut self, arguments: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.arguments = arguments.into_iter().map(Into::into).collect();
        self
    }

    /// The same options with this folder.
    #[must_use]
    pub fn with_working_directory(mut self, folder: impl Into<String>) -> Self {
        self.working = Some(folder.into());
        self
    }

    /// The same options with this wall time.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// The same options with this listener.
    #[must_use]
    pub fn with_listener(mut self, listener: Arc<dyn Listener>) -> Self {
        self.listener = Some(listener);
        self
    }

    /// The same options with this token.
    #[must_use]
    pub fn with_cancellation(mut self, cancellation: CancellationToken) -> Self {
        self.cancellation = cancellation;
        self
    }
}

/// What came of a script.
#[derive(Debug)]
#[non_exhaustive]
pub struct Execution {
    /// What it printed, then its result as JSON if it has one, or its error; each on a line of its own.
    pub output: String,
    /// As the command line's: 0 done, 1 the script's fault, 2 wrong usage, 3 a limit, 130 cancelled.
    pub exit_code: u8,
    /// Some of what it printed is missing.
    pub truncated: bool,
    /// The outcome and what it cost, if it ran at all.
    pub run: Option<Run>,
}

impl Execution {
    fn of_run(run: Run) -> Self {
        let Outcome { result, logs, truncated, .. } = &run.outcome;
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
        let exit_code = result.as_ref().err().map_or(0, |error| error.kind.exit_code());
        Self { exit_code, truncated: !truncated.is_empty(), output, run: Some(run) }
    }

    pub(super) fn not_run(reason: &str) -> Self {
        Self { output: format!("error: {reason}\n"), exit_code: EXIT_USAGE, truncated: false, run: None }
    }
}

impl Sandbox {
    /// Runs Luau source text. What is wrong with the call itself is an output too, with exit code 2: there was no run.
    pub async fn exec(&self, script: impl Into<Vec<u8>>, options: ExecOptions) -> Execution {
        let mut io = self.io.clone();
        if let Some(folder) = &options.working {
            io.files = match io.files.with_working_directory(folder) {
                Ok(files) => files,
                Err(error) => return Execution::not_run(&format!("the working folder: {error}")),
            };
        }
        let mut limits = self.limits.clone();
        limits.timeout = options.timeout.map_or(limits.timeout, |timeout| timeout.min(limits.timeout));
        let mut run_options = RunOptions::default().with_limits(limits).with_io(io).with_cancellation(options.cancellation);
        run_options.listener = options.listener;
        run_options.quota = self.share.clone();
        let script = Script::new(script).with_arguments(options.arguments);
        match self.engine.run(&script, run_options).await {
            Ok(run) => Execution::of_run(run),
            Err(refusal) => Execution::not_run(&refusal.to_string()),
        }
    }

    /// Runs a command as a shell would, of which there is one: `luau FILE args…`, `luau -e CODE args…`, or `luau - args…` with the
    /// script as a here-document (`luau - <<'END'`, the script, `END`). Whatever is wrong is in the output.
    pub async fn execute(&self, command: &str) -> Execution {
        match Command::parse(command) {
            Ok(command) => self.run_command(command).await,
            Err(reason) => Execution::not_run(&reason),
        }
    }

    pub(super) async fn run_command(&self, Command { script, arguments }: Command) -> Execution {
        let source = match script {
            Source::Text(text) => text.into_bytes(),
            Source::File(path) => {
                let most = self.limits.script as u64;
                match self.blocking(move |io| io.files.read_raw(&path, most)).await {
                    Ok(source) => source,
                    Err(error) => return Execution::not_run(&format!("can't read the script: {error}")),
                }
            }
        };
        self.exec(source, ExecOptions { arguments, ..ExecOptions::default() }).await
    }
}
