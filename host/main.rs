//! The program `toolscript`.

mod cli;
mod config;
mod mcp;
mod names;
mod sdk;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
