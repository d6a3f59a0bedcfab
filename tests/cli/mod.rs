//! Tests of the command line: the real program, its output and its exit codes.

mod configuration;
mod docs;
#[cfg(target_os = "linux")]
mod documentation;
mod examples;
mod files;
mod init;
mod install;
mod isolation;
mod modules;
#[cfg(target_os = "linux")]
mod progress;
#[cfg(unix)]
mod protected_configuration;
mod reference;
mod run;
mod rust_examples;
#[cfg(target_os = "linux")]
mod serve;
#[cfg(target_os = "linux")]
mod signals;
mod usage;

use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// Returns a command that runs the program in a directory.
fn toolscript(directory: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolscript"));
    command.current_dir(directory).args(arguments).env_remove("TOOLSCRIPT_LOG").stdin(Stdio::null());
    command
}

/// Runs the program in an empty directory.
fn run(arguments: &[&str]) -> Output {
    toolscript(&TempDir::new().expect("a directory"), arguments).output().expect("output")
}

/// Runs the program, and returns its standard output followed by its standard error.
fn run_in(directory: &TempDir, arguments: &[&str]) -> String {
    let output = toolscript(directory, arguments).output().expect("output");
    format!("{}{}", text(&output.stdout), text(&output.stderr))
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("UTF-8")
}

/// Asserts a usage error: nothing on standard output, one line on standard error, exit code 2.
fn rejected(output: &Output, message: &str) {
    assert_eq!(text(&output.stderr), format!("error: {message}\n"));
    assert_eq!(text(&output.stdout), "");
    assert_eq!(output.status.code(), Some(2));
}
