//! The `toolscript` program, which the package installs.

use napi_derive::napi;
use std::{ffi::OsString, io::Write as _, process::ExitCode};

/// Runs the program with these arguments, the first of which is its name. `start` is the command that starts it. Blocks until it ends, and
/// returns its exit code.
#[napi]
pub fn run_command_line(args: Vec<String>, start: Vec<String>) -> u32 {
    let code = toolscript::cli::main_with(args.into_iter().map(OsString::from).collect(), &start);
    // The runtime of a Rust program would do this at its end.
    let _ = std::io::stdout().flush();
    // An exit code can't be converted to a number, but it can be compared.
    (0..=u8::MAX).find(|number| ExitCode::from(*number) == code).unwrap_or(1).into()
}
