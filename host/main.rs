//! The program `toolscript`.

mod cli;
mod config;
mod mcp;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
