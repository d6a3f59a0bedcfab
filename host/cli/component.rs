//! `toolscript component` and `toolscript wit`: the box for hosts of other kinds.

use super::terminal::{self, Output};
use crate::ErrorKind;
use anyhow::{Context as _, Result};
use clap::Args;
use std::{
    io::{self, IsTerminal as _, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
};

#[derive(Args)]
pub struct Arguments {
    /// The file to write; `-` is standard output
    #[arg(short, long, value_name = "FILE", default_value = "toolscript.wasm")]
    output: PathBuf,

    /// As a command that any WASI host runs, with files in the directory that it grants
    #[arg(long, conflicts_with = "core")]
    wasi: bool,

    /// The same as a core module of WASI preview 1, for Node and browsers
    #[arg(long)]
    core: bool,
}

/// Writes the component; an error is wrong usage.
pub fn component(arguments: &Arguments) -> Result<ExitCode> {
    let component = match (arguments.wasi, arguments.core) {
        (true, _) => crate::component::wasi_command(),
        (_, true) => crate::component::wasi_core_module(),
        _ => crate::component::component(),
    };
    let component = match component {
        Ok(component) => component,
        Err(error) => {
            terminal::error_line(&error.to_string());
            return Ok(ExitCode::from(ErrorKind::Internal.exit_code()));
        }
    };
    if arguments.output == Path::new("-") {
        anyhow::ensure!(!io::stdout().is_terminal(), "the component is not text; name a file with -o, or use a pipe");
        io::stdout().lock().write_all(component).context("standard output can't be written to")?;
    } else {
        #[expect(clippy::disallowed_methods, reason = "a file that the person named, not one of a script's")]
        std::fs::write(&arguments.output, component).with_context(|| format!("can't write {}", arguments.output.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the contract.
pub fn wit() -> Result<ExitCode> {
    let mut output = Output::new();
    output.bytes(crate::component::wit().as_bytes());
    output.finish().context("standard output can't be written to")?;
    Ok(ExitCode::SUCCESS)
}
