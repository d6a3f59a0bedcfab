//! The program `toolscript`.

mod cli;
mod config;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
