//! `toolscript serve`.

mod http;

use super::{apis::ApiArguments, options::LimitArguments, output, process, signals};
use crate::{
    ErrorKind,
    config::{Config, Transport},
    engine::FileIo,
    mcp::{McpServer, ServeError},
};
use anyhow::{Context as _, Result};
use clap::Args;
use std::{
    io::{self, IsTerminal as _, Write as _},
    process::ExitCode,
};
use tokio::{net::TcpListener, runtime::Runtime};

/// The number of threads for other work that blocks: standard input, name resolution, and opening the directories of tenants.
const SPARE_THREADS: usize = 16;

#[derive(Args)]
pub struct Arguments {
    /// OpenAPI specifications, as with --api
    #[arg(value_name = "[NAME=]SPEC")]
    specifications: Vec<String>,

    #[command(flatten)]
    apis: ApiArguments,

    #[command(flatten)]
    http: http::HttpArguments,

    #[command(flatten)]
    limits: LimitArguments,
}

/// Serves until the client disconnects or a signal arrives. `is_from_command_line` returns `true` for the id of an argument whose value
/// is not from an environment variable.
///
/// # Errors
///
/// When the arguments or the configuration are invalid.
pub fn serve(arguments: &Arguments, is_from_command_line: impl Fn(&str) -> bool) -> Result<ExitCode> {
    let config = Config::find(arguments.limits.config.as_deref())?;
    let limits = arguments.limits.resolve(&config)?;
    let transport = arguments.http.transport(&config, is_from_command_line)?;
    let mut io = arguments.limits.open_io(&config, transport == Transport::Stdio)?;
    process::raise_descriptor_limit();
    let engine = config.limits.engine().file_io(FileIo::BlockInPlace);
    let blocking_threads = max_blocking_threads(engine.planned_concurrency());
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.enable_all().max_blocking_threads(blocking_threads).build().context("can't start the runtime")?;
    let sdk = runtime.block_on(arguments.apis.load(&config, &arguments.specifications))?;
    let http = match transport {
        Transport::Stdio => None,
        Transport::Http => {
            let settings = arguments.http.resolve(&config)?;
            let listener = runtime.block_on(settings.listen())?;
            Some((settings, listener))
        }
    };
    // With tenants, the limit applies to the directory of each tenant.
    let has_tenants = http.as_ref().is_some_and(|(settings, _)| settings.has_tenants);
    if let (Some(io), Some(bytes), false) = (&mut io, config.io.tenant_bytes, has_tenants) {
        io.files = io.files.clone().with_disk_quota(bytes).context("can't count the files of the io directory")?;
    }
    // Runs are tasks of a multi-threaded runtime, so they can block in place.
    let engine = match engine.build() {
        Ok(engine) => engine,
        Err(error) => return Ok(internal_error(&error.into())),
    };
    let mut server = McpServer::builder(engine).limits(limits).resource_links(config.server.resource_links.unwrap_or(false));
    server = server.check(config.check.mode()).check_tool(config.check.tool);
    if let Some(bytes) = config.limits.inline() {
        server = server.inline_limit(bytes);
    }
    if let Some(bytes) = config.limits.response() {
        server = server.response_limit(bytes);
    }
    if let Some(io) = io {
        server = server.io(io);
    }
    if let Some(sdk) = &sdk {
        server = server.sdk(sdk.clone());
    }
    // Over HTTP, no client waits for the script of another.
    let script_runtime = http.is_some().then(|| script_runtime(blocking_threads)).transpose()?;
    if let Some(runtime) = &script_runtime {
        server = server.script_runtime(runtime.handle().clone());
    }
    let server = server.build();
    let served = match http {
        None => runtime.block_on(serve_stdio(&server)),
        Some((settings, listener)) => runtime.block_on(serve_http(&server, listener, &settings)),
    };
    if let Some(sdk) = sdk {
        sdk.close();
    }
    // A thread may be blocked in a read of standard input.
    runtime.shutdown_background();
    if let Some(runtime) = script_runtime {
        runtime.shutdown_background();
    }
    Ok(match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => internal_error(&error.into()),
    })
}

/// Returns the maximum number of threads that a runtime has in addition to one per core.
///
/// Each file operation of a script moves the other tasks of its thread to another one. If the operations are short, tokio starts threads
/// faster than they end, up to this number. More operations than that are never in progress: one per run, and as many file jobs.
fn max_blocking_threads(concurrency: usize) -> usize {
    2 * concurrency + SPARE_THREADS
}

/// Builds the runtime for scripts. Its threads have a lower priority than those that serve clients.
fn script_runtime(blocking_threads: usize) -> Result<Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.thread_name("scripts").enable_all().max_blocking_threads(blocking_threads).on_thread_start(process::lower_priority);
    builder.build().context("can't start the runtime for scripts")
}

async fn serve_stdio(server: &McpServer) -> Result<(), ServeError> {
    tokio::spawn(signals::cancel_on_signal(server.shutdown_token()));
    if io::stdin().is_terminal() {
        let _ =
            writeln!(io::stderr(), "serving MCP on standard input and output, for a client that starts this program; press Ctrl-D to stop");
    }
    server.serve_stdio().await
}

async fn serve_http(server: &McpServer, listener: TcpListener, settings: &http::HttpSettings) -> Result<(), ServeError> {
    tokio::spawn(signals::drain_on_signal(server.drain_token(), server.shutdown_token()));
    if let Ok(address) = listener.local_addr() {
        let public = settings.public_url.as_ref().map(|url| format!(", public URL {url}mcp")).unwrap_or_default();
        let _ = writeln!(io::stderr(), "serving MCP on http://{address}/mcp{public}");
    }
    server.serve_http(listener, &settings.options).await
}

/// Prints an error with its causes.
fn internal_error(error: &anyhow::Error) -> ExitCode {
    output::print_error(&format!("{error:#}"));
    ExitCode::from(ErrorKind::Internal.exit_code())
}
