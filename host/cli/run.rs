//! `toolscript run`.

use super::{
    apis::ApiArguments,
    options::LimitArguments,
    output::{self, LivePrinter, Output},
    signals,
};
use crate::{
    CancellationToken, ErrorKind, RunOptions, Script,
    config::Config,
    engine::{FileIo, Listener},
};
use anyhow::{Context as _, Result, bail};
use clap::Args;
use std::{
    io::{self, Read as _, Write as _},
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

    /// Arguments that the script receives as `...`
    #[arg(last = true, value_name = "ARGS")]
    arguments: Vec<String>,

    /// Print the outcome as one JSON object on standard output
    #[arg(long)]
    json: bool,

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
    let io = arguments.limits.open_io(&config, true)?;
    let source = read_source(&arguments, limits.script)?;
    let script = Script::new(source).with_arguments(&arguments.arguments);

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

    let (listener, printing) = if arguments.json {
        (None, None)
    } else {
        let (printer, thread) = LivePrinter::start();
        (Some(Arc::new(printer) as Arc<dyn Listener>), Some(thread))
    };
    let mut options = RunOptions::default().with_limits(limits).with_cancellation(cancellation);
    if let Some(sdk) = &sdk {
        options = options.with_functions(Arc::clone(sdk));
    }
    options.listener = listener;
    options.io = io;
    let run = runtime.block_on(engine.run(&script, options));
    if let Some(sdk) = sdk {
        sdk.close();
    }
    let run = run?;
    // The run dropped the last sender, so the thread prints the remaining lines and ends.
    let mut printed = printing.map_or(Ok(()), |thread| thread.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into())));
    if arguments.json {
        let mut output = Output::new();
        output.json(&serde_json::to_string(&run.outcome)?);
        printed = printed.and(output.finish());
    } else {
        printed = printed.and(output::print_outcome(&run.outcome));
    }
    if arguments.receipt {
        let _ = writeln!(io::stderr(), "{}", serde_json::to_string(&run.receipt)?);
    }
    runtime.shutdown_background();
    if let Err(error) = printed {
        output::print_error(&format!("can't write to standard output: {error}"));
        return Ok(ExitCode::from(ErrorKind::Internal.exit_code()));
    }
    Ok(run.outcome.result.as_ref().err().map_or(ExitCode::SUCCESS, |error| ExitCode::from(error.kind.exit_code())))
}

/// Reads the script. Stops reading one byte after the limit.
fn read_source(arguments: &Arguments, limit: usize) -> Result<Vec<u8>> {
    if let Some(code) = &arguments.code {
        return Ok(code.clone().into_bytes());
    }
    let file = arguments.file.as_deref().context("no script: name a FILE, or use -e CODE")?;
    let mut source = Vec::new();
    let read_limit = limit as u64 + 1;
    if file == Path::new("-") {
        io::stdin().lock().take(read_limit).read_to_end(&mut source).context("can't read the script from standard input")?;
    } else {
        let context = || format!("can't read the script {}", file.display());
        #[expect(clippy::disallowed_types, reason = "reads a file that the user named, not one of a script")]
        let opened = std::fs::File::open(file).with_context(context)?;
        opened.take(read_limit).read_to_end(&mut source).with_context(context)?;
    }
    if source.len() > limit {
        bail!("the script {} is larger than {limit} bytes; raise [limits] script in toolscript.toml", file.display());
    }
    Ok(source)
}
