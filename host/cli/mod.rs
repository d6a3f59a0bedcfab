//! The command line, in two stages: parsed here, then resolved with the configuration file by each command.

mod apis;
mod component;
mod docs;
mod files;
mod options;
mod run;
mod serve;
mod signals;
mod terminal;

use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, error::ErrorKind, parser::ValueSource};
use std::{io::IsTerminal as _, process::ExitCode};
use tracing_subscriber::EnvFilter;

/// Wrong usage or a wrong configuration.
const EXIT_USAGE: u8 = 2;

/// Runs Luau scripts inside WebAssembly, metered and boxed in.
#[derive(Parser)]
#[command(name = "toolscript", version, arg_required_else_help = true, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs a script and prints what it says, then its result.
    Run(run::Arguments),
    /// Serves scripts to a model over MCP.
    Serve(Box<serve::Arguments>),
    /// Looks at the files of scripts, and removes them.
    Files(files::Arguments),
    /// Prints the functions of APIs, and how to call them.
    Docs(docs::DocsArguments),
    /// Writes the functions of APIs as types, for an editor's language server.
    Types(docs::TypesArguments),
    /// Writes the box as a WebAssembly component, for other hosts.
    Component(component::Arguments),
    /// Prints the contract between the box and its host.
    Wit,
}

/// Runs the program and returns its exit code.
pub fn main() -> ExitCode {
    let matches = match Arguments::command().try_get_matches() {
        Ok(matches) => matches,
        Err(error) => return usage(&error),
    };
    let arguments = match Arguments::from_arg_matches(&matches) {
        Ok(arguments) => arguments,
        Err(error) => return usage(&error),
    };
    log_to_stderr();
    let ended = match arguments.command {
        Command::Run(arguments) => run::run(arguments),
        Command::Serve(arguments) => serve::serve(&arguments, |id| is_from_command_line(&matches, id)),
        Command::Files(arguments) => files::files(&arguments),
        Command::Docs(arguments) => docs::docs(&arguments),
        Command::Types(arguments) => docs::types(&arguments),
        Command::Component(arguments) => component::component(&arguments),
        Command::Wit => component::wit(),
    };
    ended.unwrap_or_else(|error| {
        terminal::error_line(&format!("{error:#}"));
        ExitCode::from(EXIT_USAGE)
    })
}

/// Returns `true` if an argument of the subcommand is on the command line, not only in an environment variable.
fn is_from_command_line(matches: &ArgMatches, id: &str) -> bool {
    matches.subcommand().is_some_and(|(_, matches)| matches.value_source(id) == Some(ValueSource::CommandLine))
}

/// Help goes to standard output; a mistake is one line on standard error.
fn usage(error: &clap::Error) -> ExitCode {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand) {
        // A reader that went away is no error.
        let _ = error.print();
        return if error.use_stderr() { ExitCode::from(EXIT_USAGE) } else { ExitCode::SUCCESS };
    }
    let text = error.to_string();
    let first = text.split("\n\n").next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    let tip = text.lines().find_map(|line| line.trim().strip_prefix("tip: ")).map(|tip| format!("; {tip}")).unwrap_or_default();
    terminal::error_line(&format!("{}{tip} (see 'toolscript --help')", first.trim_start_matches("error: ")));
    ExitCode::from(EXIT_USAGE)
}

/// `TOOLSCRIPT_LOG` is a filter such as `debug`; warnings and errors are shown without it, but not rmcp's, which tells of each
/// client that makes a mistake or goes away.
fn log_to_stderr() {
    let filter = EnvFilter::try_from_env("TOOLSCRIPT_LOG").unwrap_or_else(|_| EnvFilter::new("warn,rmcp=off"));
    let stderr = std::io::stderr;
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(stderr).with_ansi(stderr().is_terminal()).init();
}
