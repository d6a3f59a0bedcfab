//! `toolscript run`.

use super::{
    apis::ApiArguments,
    options::LimitArguments,
    signals,
    terminal::{self, LivePrinter},
};
use crate::config::Config;
use crate::{ErrorKind, RunOptions, Script, engine::FileIo};
use anyhow::{Context as _, Result, bail};
use clap::Args;
use std::{
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};
use tokio_util::sync::CancellationToken;

#[derive(Args)]
pub struct Arguments {
    /// The script; `-` reads it from standard input
    #[arg(required_unless_present = "code")]
    file: Option<PathBuf>,

    /// Runs this text instead of a file
    #[arg(short = 'e', value_name = "CODE", conflicts_with = "file", allow_hyphen_values = true)]
    code: Option<String>,

    /// What the script gets as `...`
    #[arg(last = true, value_name = "ARGS")]
    arguments: Vec<String>,

    /// Prints the outcome as one JSON object, and nothing else on standard output
    #[arg(long)]
    json: bool,

    /// Prints what the run cost as one JSON line on standard error
    #[arg(long)]
    receipt: bool,

    #[command(flatten)]
    limits: LimitArguments,

    #[command(flatten)]
    apis: ApiArguments,
}

/// Runs the script; an error is wrong usage or configuration.
pub fn run(arguments: Arguments) -> Result<ExitCode> {
    let config = Config::find(arguments.limits.config.as_deref())?;
    let limits = arguments.limits.resolve(&config)?;
    let files = arguments.limits.files(&config, true)?;
    let source = source(&arguments, limits.script)?;
    let script = Script::new(source).with_arguments(&arguments.arguments);

    // One worker beside this thread, so that a second signal ends the program even while the output is stuck.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().context("can't start the runtime")?;
    let sdk = runtime.block_on(arguments.apis.load(&config, &[]))?;
    let engine = match config.limits.engine().concurrency(1).file_io(FileIo::Inline).build() {
        Ok(engine) => engine,
        Err(error) => {
            terminal::error_line(&error.to_string());
            return Ok(ExitCode::from(ErrorKind::Internal.exit_code()));
        }
    };
    let cancellation = CancellationToken::new();
    runtime.spawn(signals::cancel_on_signal(cancellation.clone()));

    let (listener, printing) = if arguments.json {
        (None, None)
    } else {
        let (printer, thread) = LivePrinter::start();
        (Some(Arc::new(printer) as Arc<dyn crate::engine::Listener>), Some(thread))
    };
    let mut options = RunOptions::default().with_limits(limits).with_cancellation(cancellation);
    if let Some(sdk) = &sdk {
        options = options.with_functions(Arc::clone(sdk));
    }
    options.listener = listener;
    options.io = files;
    let run = runtime.block_on(engine.run(&script, options));
    if let Some(sdk) = sdk {
        sdk.close();
    }
    let run = run?;
    // All senders are gone with the run; the thread has only to print what is left.
    let mut printed = printing.map_or(Ok(()), |thread| thread.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into())));
    if arguments.json {
        let mut output = terminal::Output::new();
        output.json(&serde_json::to_string(&run.outcome)?);
        printed = printed.and(output.finish());
    } else {
        printed = printed.and(terminal::print_outcome(&run.outcome));
    }
    if arguments.receipt {
        let _ = writeln!(io::stderr(), "{}", serde_json::to_string(&run.receipt)?);
    }
    // Nothing of the run is left to wait for.
    runtime.shutdown_background();
    if let Err(error) = printed {
        terminal::error_line(&format!("standard output can't be written to: {error}"));
        return Ok(ExitCode::from(ErrorKind::Internal.exit_code()));
    }
    Ok(run.outcome.result.as_ref().err().map_or(ExitCode::SUCCESS, |error| ExitCode::from(error.kind.exit_code())))
}

/// The text of the script, refused before it is read whole if it is too large.
fn source(arguments: &Arguments, limit: usize) -> Result<Vec<u8>> {
    if let Some(code) = &arguments.code {
        return Ok(code.clone().into_bytes());
    }
    let file = arguments.file.as_deref().context("no script: name a FILE, or use -e CODE")?;
    let mut source = Vec::new();
    let most = limit as u64 + 1;
    if file == Path::new("-") {
        io::stdin().lock().take(most).read_to_end(&mut source).context("can't read the script from standard input")?;
    } else {
        let context = || format!("can't read the script {}", file.display());
        #[expect(clippy::disallowed_types, reason = "a file that the person named, not one of a script's")]
        let opened = std::fs::File::open(file).with_context(context)?;
        opened.take(most).read_to_end(&mut source).with_context(context)?;
    }
    if source.len() > limit {
        bail!("the script {} is larger than {limit} bytes; the limit is [limits] script in toolscript.toml", file.display());
    }
    Ok(source)
}
