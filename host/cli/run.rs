//! `toolscript run`.

use super::{
    apis::ApiArguments,
    excerpt::{SANDBOX_NAME, Source},
    limit_hints::LimitHints,
    live::{LivePrinter, ProgressForm},
    options::LimitArguments,
    outcome,
    output::{self, Output},
    signals,
    user_file::read_script,
};
use crate::{
    CancellationToken, ErrorKind, Files, RunOptions, Script,
    config::Config,
    engine::{CheckMode, FileIo, RunRejected},
};
use anyhow::{Context as _, Result, anyhow};
use clap::Args;
use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

#[derive(Args)]
pub struct Arguments {
    /// Script to run; `-` is standard input
    #[arg(required_unless_present = "code")]
    file: Option<PathBuf>,

    /// Run CODE instead of a file
    #[arg(short = 'e', value_name = "CODE", conflicts_with = "file", allow_hyphen_values = true)]
    code: Option<String>,

    /// Arguments that the script receives as `...`; write `--` before one that is also an option of `run`
    #[arg(last = true, value_name = "ARGS")]
    arguments: Vec<String>,

    /// Print the outcome as one JSON object on standard output
    #[arg(long)]
    json: bool,

    /// Print each report of progress as a line on standard error, if that is not a terminal; a terminal shows a bar
    #[arg(long)]
    progress: bool,

    /// Run the script even if mistakes are found in it
    #[arg(long)]
    no_check: bool,

    /// Print the cost of the run as one JSON line on standard error
    #[arg(long)]
    receipt: bool,

    #[command(flatten)]
    limits: LimitArguments,

    #[command(flatten)]
    apis: ApiArguments,
}

/// Runs the script. An error means wrong usage or an invalid configuration.
pub fn run(arguments: Arguments) -> Result<ExitCode> {
    let config = Config::find(arguments.limits.config.as_deref())?;
    let limits = arguments.limits.resolve(&config)?;
    let mut io = arguments.limits.open_io(&config, true)?;
    if let Some(io) = &mut io {
        io.modules = arguments.file.as_deref().and_then(script_directory);
    }
    let source = read_source(&arguments, limits.script)?;
    let name = match arguments.file.as_deref() {
        None => SANDBOX_NAME.into(),
        Some(file) if file == Path::new("-") => "stdin".into(),
        Some(file) => file.display().to_string(),
    };
    let limit_hints = LimitHints::new(&limits, io.as_ref());
    let script = Script::new(source.clone()).with_arguments(&arguments.arguments);

    // One worker in addition to this thread, so that a second signal exits the program even while the output blocks.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().context("can't start the runtime")?;
    let sdk = runtime.block_on(arguments.apis.load(&config, &[]))?;
    let engine = match config.limits.engine().concurrency(1).file_io(FileIo::Inline).build() {
        Ok(engine) => engine,
        Err(error) => {
            output::print_error(&format!("{:#}", anyhow::Error::from(error)));
            return Ok(ExitCode::from(ErrorKind::Internal.exit_code()));
        }
    };
    let cancellation = CancellationToken::new();
    let in_runtime = runtime.enter();
    tokio::spawn(signals::cancel_on_signal(cancellation.clone()));
    drop(in_runtime);

    let (printer, printing) = LivePrinter::start(!arguments.json, ProgressForm::for_stderr(arguments.progress));
    let check = if arguments.no_check { CheckMode::Off } else { config.check.mode() };
    let mut options = RunOptions::default().with_limits(limits).with_cancellation(cancellation).with_check(check);
    if let Some(sdk) = &sdk {
        options = options.with_functions(Arc::clone(sdk));
    }
    options.listener = Some(Arc::new(printer));
    options.io = io;
    let run = runtime.block_on(engine.run(&script, options));
    if let Some(sdk) = sdk {
        sdk.close();
    }
    let run = run.map_err(name_key)?;
    // The run dropped the last sender, so the thread prints the remaining lines and ends.
    let mut printed = printing.join().unwrap_or_else(|_| Err(anyhow!("can't print the log")));
    if arguments.json {
        let mut output = Output::stdout();
        output.json(&serde_json::to_string(&run.outcome)?);
        printed = printed.and(output.finish());
    } else {
        printed = printed.and(outcome::print(&run.outcome, &Source { name: &name, text: &source }, &limit_hints));
    }
    if arguments.receipt {
        let _ = writeln!(io::stderr(), "{}", serde_json::to_string(&run.receipt)?);
    }
    runtime.shutdown_background();
    if let Err(error) = printed {
        output::print_error(&format!("{error:#}"));
        return Ok(ExitCode::from(ErrorKind::Internal.exit_code()));
    }
    Ok(run.outcome.result.as_ref().err().map_or(ExitCode::SUCCESS, |error| ExitCode::from(error.kind.exit_code())))
}

/// Opens the directory of a script for `require`. Returns `None` for standard input and for a script in the root of the file system.
fn script_directory(file: &Path) -> Option<Files> {
    if file == Path::new("-") {
        return None;
    }
    #[expect(clippy::disallowed_methods, reason = "resolves a path that the user gave, not one of a script")]
    let file = std::fs::canonicalize(file).ok()?;
    Files::new(file.parent()?).ok()
}

/// Reads the script.
fn read_source(arguments: &Arguments, limit: usize) -> Result<Vec<u8>> {
    if let Some(code) = &arguments.code {
        return Ok(code.clone().into_bytes());
    }
    read_script(arguments.file.as_deref().context("no script: name a FILE, or use -e CODE")?, limit)
}

/// Returns the error with the name of the key that fixes it.
fn name_key(error: RunRejected) -> anyhow::Error {
    match error {
        RunRejected::ScriptTooLarge { .. } => anyhow!("{error}; raise the limit with [limits] script in toolscript.toml"),
        other => other.into(),
    }
}
