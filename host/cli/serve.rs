//! `toolscript serve`.

use super::{options::LimitArguments, signals, terminal};
use crate::{
    config::Config,
    mcp::{Server, Settings, serve_stdio},
};
use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum};
use std::{
    io::{self, IsTerminal as _, Write as _},
    process::ExitCode,
};
use tokio_util::sync::CancellationToken;
use toolscript::{Blocking, ErrorKind};

#[derive(Args)]
pub struct Arguments {
    /// How clients reach the server
    #[arg(long, value_enum, default_value_t = Transport::Stdio)]
    transport: Transport,

    #[command(flatten)]
    limits: LimitArguments,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Transport {
    /// Standard input and output, for a client that starts this program
    Stdio,
}

/// Serves until the client goes or a signal comes; an error is wrong usage or configuration.
pub fn serve(arguments: &Arguments) -> Result<ExitCode> {
    let Transport::Stdio = arguments.transport;
    let config = Config::find(arguments.limits.config.as_deref())?;
    let limits = arguments.limits.resolve(&config)?;
    let files = arguments.limits.files(&config, true)?;
    signals::raise_descriptor_limit();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("can't start the runtime")?;
    // Each run is a task of this runtime's.
    let engine = match config.limits.engine().blocking(Blocking::InPlace).build() {
        Ok(engine) => engine,
        Err(error) => {
            terminal::error_line(&error.to_string());
            return Ok(ExitCode::from(ErrorKind::Internal.exit_code()));
        }
    };
    let shutdown = CancellationToken::new();
    runtime.spawn(signals::cancel_on_signal(shutdown.clone()));
    if io::stdin().is_terminal() {
        let _ = writeln!(io::stderr(), "serving MCP on standard input and output, for a client that starts this program; Ctrl-D ends it");
    }
    let server = Server::new(Settings { engine, limits, io: files, shutdown: shutdown.clone() });
    let served = runtime.block_on(serve_stdio(server, shutdown));
    // A thread may wait for input that never comes.
    runtime.shutdown_background();
    served.map(|()| ExitCode::SUCCESS).or_else(|error| {
        terminal::error_line(&format!("{error:#}"));
        Ok(ExitCode::from(ErrorKind::Internal.exit_code()))
    })
}
