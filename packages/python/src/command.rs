//! The `toolscript` program, which the package installs.

use pyo3::prelude::*;
use std::{ffi::OsString, io::Write as _, process::ExitCode};

/// Runs the program with these arguments, the first of which is its name. `start` is the command that starts it. Returns its exit code.
#[pyfunction]
pub fn main(py: Python<'_>, arguments: Vec<OsString>, start: Vec<String>) -> u8 {
    py.detach(|| {
        let code = toolscript::cli::main_with(arguments, &start);
        // The runtime of a Rust program would do this at its end.
        let _ = std::io::stdout().flush();
        // An exit code can't be converted to a number, but it can be compared.
        (0..=u8::MAX).find(|number| ExitCode::from(*number) == code).unwrap_or(1)
    })
}
