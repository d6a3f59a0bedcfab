//! `toolscript serve`.

mod http;

use super::{apis::ApiArguments, options::LimitArguments, output, signals};
use crate::{
    ErrorKind,
    engine::{EngineError, FileIo, IoOptions},
};
use crate::{
    config::{Config, Transport},
    mcp::{Metrics, Server, Settings, Tenant, max_message, serve_stdio},
};
use anyhow::{Context as _, Result, ensure};
use clap::Args;
use std::{
    io::{self, IsTerminal as _, Write as _},
    process::ExitCode,
    sync::Arc,
};
use tokio::runtime::Runtime;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

#[derive(Args)]
pub struct Arguments {
    /// OpenAPI specifications, as --api has them
    #[arg(value_name = "[NAME=]SPEC")]
    specifications: Vec<String>,

    #[command(flatten)]
    apis: ApiArguments,

    #[command(flatten)]
    http: http::HttpArguments,

    #[command(flatten)]
    limits: LimitArguments,
}

/// Serves until the client goes or a signal comes; an error is wrong usage or configuration.
pub fn serve(arguments: &Arguments) -> Result<ExitCode> {
    let config = Config::find(arguments.limits.config.as_deref())?;
    let limits = arguments.limits.resolve(&config)?;
    let transport = arguments.http.transport(&config)?;
    let mut files = arguments.limits.open_io(&config, transport == Transport::Stdio)?;
    signals::raise_descriptor_limit();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("can't start the runtime")?;
    let sdk = runtime.block_on(arguments.apis.load(&config, &arguments.specifications))?;
    let http = match transport {
        Transport::Stdio => None,
        Transport::Http => {
            let http = arguments.http.resolve(&config, &limits)?;
            let listener = runtime.block_on(http.listen())?;
            Some((http, listener))
        }
    };
    // Where each tenant has files of their own, each has a limit of their own.
    let has_tenants = http.as_ref().is_some_and(|(http, _)| http.has_tenants());
    if let (Some(io), Some(bytes), false) = (&mut files, config.io.tenant_bytes, has_tenants) {
        io.files = io.files.clone().with_disk_quota(bytes).context("the files of the io dir can't be counted")?;
    }
    // Each run is a task of this runtime's.
    let engine = match config.limits.engine().file_io(FileIo::BlockInPlace).build() {
        Ok(engine) => engine,
        Err(error) => return Ok(no_engine(error)),
    };
    // Many clients share a server over HTTP, and none is to wait behind the script of another.
    let scripts = http.is_some().then(scripts_runtime).transpose()?;
    let settings = Arc::new(Settings {
        engine,
        limits,
        sdk: sdk.clone(),
        metrics: Metrics::default(),
        scripts: scripts.as_ref().map(|runtime| runtime.handle().clone()),
        runs: TaskTracker::new(),
        draining: CancellationToken::new(),
        shutdown: CancellationToken::new(),
    });
    let served = match http {
        None => over_stdio(&runtime, settings, files),
        Some((http, listener)) => runtime.block_on(http.serve(listener, settings, files)),
    };
    if let Some(sdk) = sdk {
        sdk.close();
    }
    // A thread may wait for input that never comes.
    runtime.shutdown_background();
    if let Some(scripts) = scripts {
        scripts.shutdown_background();
    }
    served.map(|()| ExitCode::SUCCESS).or_else(|error| {
        output::print_error(&format!("{error:#}"));
        Ok(ExitCode::from(ErrorKind::Internal.exit_code()))
    })
}

/// Threads for scripts alone, which leave the cores to the others first.
fn scripts_runtime() -> Result<Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.thread_name("scripts").enable_all().on_thread_start(signals::lower_priority);
    builder.build().context("can't start the runtime for scripts")
}

fn no_engine(error: EngineError) -> ExitCode {
    output::print_error(&format!("{:#}", anyhow::Error::from(error)));
    ExitCode::from(ErrorKind::Internal.exit_code())
}

fn over_stdio(runtime: &Runtime, settings: Arc<Settings>, files: Option<IoOptions>) -> Result<()> {
    let shutdown = settings.shutdown.clone();
    runtime.spawn(signals::cancel_on_signal(shutdown.clone()));
    if io::stdin().is_terminal() {
        let _ = writeln!(io::stderr(), "serving MCP on standard input and output, for a client that starts this program; Ctrl-D ends it");
    }
    let most = max_message(&settings.limits);
    let server = Server::new(Arc::new(Tenant::new(settings, files, None)));
    runtime.block_on(serve_stdio(server, most, shutdown))
}

/// Refuses what only a server over HTTP has.
fn only_over_http(is_there: bool, name: &str) -> Result<()> {
    ensure!(!is_there, "{name} is for servers over HTTP; add --transport http");
    Ok(())
}
