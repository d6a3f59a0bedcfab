//! The command line: arguments are parsed here, and each command then resolves them together with the configuration file.

mod apis;
mod check;
mod component;
mod docs;
mod escape;
mod excerpt;
mod files;
mod init;
mod install;
mod json_layout;
mod limit_hints;
mod live;
mod options;
mod outcome;
mod output;
mod process;
mod reference;
mod run;
mod script_arguments;
mod serve;
mod signals;
mod usage;
mod user_file;

use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, parser::ValueSource};
use std::{ffi::OsString, io::IsTerminal as _, process::ExitCode};
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
    /// Run a script and print its result.
    #[command(override_usage = "toolscript run [OPTIONS] FILE [ARGS]...\n       toolscript run [OPTIONS] -e CODE [ARGS]...")]
    Run(run::Arguments),
    /// Find mistakes in scripts without running them.
    Check(check::Arguments),
    /// Serve scripts to a model over MCP.
    Serve(Box<serve::Arguments>),
    /// List, print, search and remove the files of scripts.
    Files(files::Arguments),
    /// Print the documentation of the functions that scripts can call.
    Docs(docs::DocsArguments),
    /// Write type definitions of the functions and built-ins, for the language server of an editor.
    Types(docs::TypesArguments),
    /// Write the sandbox as a WebAssembly component, for other hosts.
    Component(component::Arguments),
    /// Print the WIT contract between the sandbox and its host.
    Wit(component::WitArguments),
    /// Write a configuration and an example script.
    Init(init::Arguments),
    /// Print or write the configuration of an MCP client.
    Install(install::Arguments),
    /// Print completions for a shell.
    Completions(reference::CompletionsArguments),
    /// Print the manual page.
    Man(reference::ManArguments),
}

/// Runs the program with the arguments of the process, and returns its exit code.
pub fn main() -> ExitCode {
    main_with(std::env::args_os().collect(), &[])
}

/// Runs the program and returns its exit code. The first argument is the name of the program.
///
/// `start` is the command that starts the program, with its first arguments. It is empty if the program is the executable of the process.
pub fn main_with(arguments: Vec<OsString>, start: &[String]) -> ExitCode {
    let command = Arguments::command();
    let separated = script_arguments::separate(&command, arguments);
    let parsed = command.clone().try_get_matches_from(&separated);
    let parsed = parsed.and_then(|matches| Ok((Arguments::from_arg_matches(&matches)?, matches)));
    let (arguments, matches) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return usage::report(&error, &command, &separated),
    };
    log_to_stderr();
    let ended = match arguments.command {
        Command::Run(arguments) => run::run(arguments),
        Command::Check(arguments) => check::check(&arguments),
        Command::Serve(arguments) => serve::serve(&arguments, |id| is_from_command_line(&matches, id)),
        Command::Files(arguments) => files::files(&arguments),
        Command::Docs(arguments) => docs::docs(&arguments),
        Command::Types(arguments) => docs::types(&arguments),
        Command::Component(arguments) => component::component(&arguments),
        Command::Wit(arguments) => component::wit(&arguments),
        Command::Init(arguments) => init::init(&arguments),
        Command::Install(arguments) => install::install(&arguments, start),
        Command::Completions(arguments) => reference::completions(&arguments, command),
        Command::Man(arguments) => reference::man(&arguments, command),
    };
    ended.unwrap_or_else(|error| {
        output::print_error(&format!("{error:#}"));
        ExitCode::from(EXIT_USAGE)
    })
}

/// Returns `true` if an argument of the subcommand is on the command line, not only in an environment variable.
fn is_from_command_line(matches: &ArgMatches, id: &str) -> bool {
    matches.subcommand().is_some_and(|(_, matches)| matches.value_source(id) == Some(ValueSource::CommandLine))
}

/// Sends log lines to standard error, filtered by `TOOLSCRIPT_LOG`.
///
/// By default warnings and errors are shown, except those of rmcp, which reports every mistake and disconnect of a client.
fn log_to_stderr() {
    let filter = EnvFilter::try_from_env("TOOLSCRIPT_LOG").unwrap_or_else(|_| EnvFilter::new("warn,rmcp=off"));
    let stderr = std::io::stderr;
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(stderr).with_ansi(stderr().is_terminal()).init();
}
