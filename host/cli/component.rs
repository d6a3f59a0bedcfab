//! `toolscript component` and `toolscript wit`: the sandbox for other hosts.

use super::output::{self, Output};
use crate::{ErrorKind, component};
use anyhow::{Context as _, Result, ensure};
use clap::Args;
use std::{
    io::{self, IsTerminal as _, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
};

#[derive(Args)]
pub struct Arguments {
    /// File to write; `-` is standard output
    #[arg(short, long, value_name = "FILE", default_value = "toolscript.wasm")]
    output: PathBuf,

    /// Write a WASI command, which any WASI host can run with a preopened directory
    #[arg(long, conflicts_with = "core")]
    wasi: bool,

    /// Write the WASI command as a preview 1 core module, for browsers
    #[arg(long)]
    core: bool,

    /// Write the checker, which finds mistakes in a script without running it
    #[arg(long, conflicts_with_all = ["core", "wasi"])]
    checker: bool,
}

#[derive(Args)]
pub struct WitArguments {
    /// Print the contract of the checker
    #[arg(long)]
    checker: bool,
}

/// Writes the component.
pub fn component(arguments: &Arguments) -> Result<ExitCode> {
    let component = match (arguments.wasi, arguments.core, arguments.checker) {
        (true, ..) => component::wasi_command(),
        (_, true, _) => component::wasi_core_module(),
        (.., true) => component::checker(),
        _ => component::component(),
    };
    let component = match component {
        Ok(component) => component,
        Err(error) => {
            output::print_error(&error.to_string());
            return Ok(ExitCode::from(ErrorKind::Internal.exit_code()));
        }
    };
    if arguments.output == Path::new("-") {
        ensure!(!io::stdout().is_terminal(), "the component is binary; write it to a file with -o FILE, or use a pipe");
        io::stdout().lock().write_all(component).context("can't write to standard output")?;
    } else {
        #[expect(clippy::disallowed_methods, reason = "writes a file that the user named, not one of a script")]
        std::fs::write(&arguments.output, component).with_context(|| format!("can't write {}", arguments.output.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the WIT contract.
pub fn wit(arguments: &WitArguments) -> Result<ExitCode> {
    let mut output = Output::stdout();
    output.bytes(if arguments.checker { component::checker_wit() } else { component::wit() }.as_bytes());
    output.finish()?;
    Ok(ExitCode::SUCCESS)
}
