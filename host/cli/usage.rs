//! Errors in command-line arguments, as one line on standard error.

use super::{EXIT_USAGE, output};
use clap::{
    Command,
    error::{ContextKind, ContextValue, ErrorKind},
};
use std::{error::Error as _, ffi::OsString, process::ExitCode};

/// Prints help and the version to standard output, and an error to standard error.
///
/// `arguments` are those of the process. They select the help that the error refers to.
pub fn report(error: &clap::Error, program: &Command, arguments: &[OsString]) -> ExitCode {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand) {
        // A closed pipe is not an error.
        let _ = error.print();
        return if error.use_stderr() { ExitCode::from(EXIT_USAGE) } else { ExitCode::SUCCESS };
    }
    output::print_error(&format!("{} (see '{} --help')", message(error), command_path(program, arguments)));
    ExitCode::from(EXIT_USAGE)
}

/// Returns the names of the program and of the subcommand in the arguments, such as `toolscript files grep`.
fn command_path(program: &Command, arguments: &[OsString]) -> String {
    let mut path = program.get_name().to_owned();
    let mut command = program;
    for argument in arguments.iter().skip(1) {
        if let Some(found) = command.find_subcommand(argument) {
            path = format!("{path} {}", found.get_name());
            command = found;
        }
    }
    path
}

/// Composes the message from the context that clap attaches to the error.
fn message(error: &clap::Error) -> String {
    let context = |kind| error.get(kind).map(ContextValue::to_string).unwrap_or_default();
    let argument = context(ContextKind::InvalidArg);
    let value = context(ContextKind::InvalidValue);
    let message = match error.kind() {
        ErrorKind::ArgumentConflict if context(ContextKind::PriorArg).is_empty() || context(ContextKind::PriorArg) == argument => {
            format!("the argument '{argument}' cannot be used multiple times")
        }
        ErrorKind::ArgumentConflict => format!("the argument '{argument}' cannot be used with '{}'", context(ContextKind::PriorArg)),
        ErrorKind::InvalidSubcommand => format!("unrecognized subcommand '{}'", context(ContextKind::InvalidSubcommand)),
        ErrorKind::InvalidValue if value.is_empty() => format!("a value is required for '{argument}' but none was supplied"),
        ErrorKind::InvalidValue => {
            format!("invalid value '{value}' for '{argument}' [possible values: {}]", context(ContextKind::ValidValue))
        }
        ErrorKind::MissingRequiredArgument => format!("the following required arguments were not provided: {argument}"),
        ErrorKind::UnknownArgument => format!("unexpected argument '{argument}' found"),
        ErrorKind::ValueValidation => {
            let reason = error.source().map(|source| format!(": {source}")).unwrap_or_default();
            format!("invalid value '{value}' for '{argument}'{reason}")
        }
        ErrorKind::TooManyValues => format!("unexpected value '{value}' for '{argument}'"),
        other => match argument.as_str() {
            "" => other.to_string(),
            argument => format!("{other}: '{argument}'"),
        },
    };
    let similar = [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand, ContextKind::SuggestedValue];
    let similar = similar.into_iter().map(context).find(|suggestion| !suggestion.is_empty());
    // A tip of clap, such as how to pass an argument to the script.
    let tip = context(ContextKind::Suggested);
    match similar {
        Some(suggestion) => format!("{message}; did you mean '{suggestion}'?"),
        None if !tip.is_empty() => format!("{message}; {tip}"),
        None => message,
    }
}
