//! The command line: arguments are parsed here, and each command then resolves them together with the configuration file.

mod apis;
mod component;
mod docs;
mod files;
mod options;
mod output;
mod run;
mod serve;
mod signals;
mod usage;

use clap::{Parser, Subcommand};
use std::{io::IsTerminal as _, process::ExitCode};
use tracing_subscriber::EnvFilter;

/// The exit code for wrong usage or an invalid configuration.
const EXIT_USAGE: u8 = 2;

/// Runs LLM-written Luau scripts in a WebAssembly sandbox with hard resource limits.
#[derive(Parser)]
#[command(name = "toolscript", version, arg_required_else_help = true, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a script and print its log lines and its result.
    Run(run::Arguments),
    /// Serve scripts to a model over MCP.
    Serve(Box<serve::Arguments>),
    /// List, print, search and remove the files of scripts.
    Files(files::Arguments),
    /// Print the documentation of the functions that scripts can call.
    Docs(docs::DocsArguments),
    /// Write type definitions of the functions, for the language server of an editor.
    Types(docs::TypesArguments),
    /// Write the sandbox as a WebAssembly component, for other hosts.
    Component(component::Arguments),
    /// Print the WIT contract between the sandbox and its host.
    Wit,
}

/// Runs the program and returns its exit code.
pub fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return usage::report(&error),
    };
    log_to_stderr();
    let ended = match arguments.command {
        Command::Run(arguments) => run::run(arguments),
        Command::Serve(arguments) => serve::serve(&arguments),
        Command::Files(arguments) => files::files(&arguments),
        Command::Docs(arguments) => docs::docs(&arguments),
        Command::Types(arguments) => docs::types(&arguments),
        Command::Component(arguments) => component::component(&arguments),
        Command::Wit => component::wit(),
    };
    ended.unwrap_or_else(|error| {
        output::print_error(&format!("{error:#}"));
        ExitCode::from(EXIT_USAGE)
    })
}

/// Sends log lines to standard error, filtered by `TOOLSCRIPT_LOG`.
///
/// By default warnings and errors are shown, except those of rmcp, which reports every mistake and disconnect of a client.
fn log_to_stderr() {
    let filter = EnvFilter::try_from_env("TOOLSCRIPT_LOG").unwrap_or_else(|_| EnvFilter::new("warn,rmcp=off"));
    let stderr = std::io::stderr;
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(stderr).with_ansi(stderr().is_terminal()).init();
}
