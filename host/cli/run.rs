//! `toolscript run`.

use super::terminal::{self, LivePrinter};
use crate::config::Config;
use anyhow::{Context as _, Result, bail};
use clap::Args;
use std::{
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};
use tokio_util::sync::CancellationToken;
use toolscript::{ErrorKind, Io, Limits, RunOptions, Script};

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

    /// Wall time in seconds [default: 30]
    #[arg(long, value_name = "S", value_parser = seconds)]
    timeout: Option<Duration>,

    /// Fuel, about an instruction each [default: scales with the wall time]
    #[arg(long, value_name = "N")]
    fuel: Option<u64>,

    /// Memory of the script in MiB [default: 64]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(4..=4096))]
    memory_limit: Option<u64>,

    /// Folder for the script's files, made when it is first written to [default: ./toolscript-files]
    #[arg(long, value_name = "DIR", conflicts_with = "no_io")]
    io_dir: Option<PathBuf>,

    /// Gives the script no files
    #[arg(long)]
    no_io: bool,

    /// Was replaced by --io-dir
    #[arg(long, hide = true)]
    output_dir: Option<PathBuf>,

    /// Configuration [default: toolscript.toml in the working directory, if it is there]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

/// Runs the script; an error is wrong usage or configuration.
pub fn run(arguments: Arguments) -> Result<ExitCode> {
    let config = Config::find(arguments.config.as_deref())?;
    let limits = limits(&arguments, &config)?;
    let files = files(&arguments, &config)?;
    let source = source(&arguments, limits.script)?;
    let script = Script::new(source).with_arguments(&arguments.arguments);

    // One worker beside this thread, so that a second signal ends the program even while the output is stuck.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().context("can't start the runtime")?;
    let engine = match config.limits.engine().concurrency(1).allow_blocking_current_thread(true).build() {
        Ok(engine) => engine,
        Err(error) => {
            terminal::error_line(&error.to_string());
            return Ok(ExitCode::from(ErrorKind::Internal.exit_code()));
        }
    };
    let cancellation = CancellationToken::new();
    runtime.spawn(cancel_on_signal(cancellation.clone()));

    let (listener, printing) = if arguments.json {
        (None, None)
    } else {
        let (printer, thread) = LivePrinter::start();
        (Some(Arc::new(printer) as Arc<dyn toolscript::Listener>), Some(thread))
    };
    let mut options = RunOptions::default().with_limits(limits).with_cancellation(cancellation);
    options.listener = listener;
    options.io = files;
    let run = runtime.block_on(engine.run(&script, options))?;
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

fn limits(arguments: &Arguments, config: &Config) -> Result<Limits> {
    let mut limits = config.limits.clone().resolve();
    if let Some(timeout) = arguments.timeout {
        limits.timeout = timeout;
    }
    if arguments.fuel.is_some() {
        limits.fuel = arguments.fuel;
    }
    if let Some(mebibytes) = arguments.memory_limit {
        limits.memory = usize::try_from(mebibytes << 20).context("--memory-limit is too large for this machine")?;
    }
    limits.check()?;
    Ok(limits)
}

fn files(arguments: &Arguments, config: &Config) -> Result<Option<Io>> {
    if arguments.output_dir.is_some() {
        bail!("--output-dir was replaced by --io-dir");
    }
    if arguments.no_io {
        return Ok(None);
    }
    config.io.resolve(arguments.io_dir.as_deref(), true)
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

/// The first signal stops the script, which then reports what it did; the second ends the program.
async fn cancel_on_signal(cancellation: CancellationToken) {
    signal().await;
    cancellation.cancel();
    signal().await;
    #[expect(clippy::exit, reason = "the person asked twice, and the output may be stuck")]
    std::process::exit(130);
}

async fn signal() {
    #[cfg(unix)]
    if let Ok(mut terminate) = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = terminate.recv() => {}
        }
        return;
    }
    let _ = tokio::signal::ctrl_c().await;
}
