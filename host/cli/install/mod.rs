//! `toolscript install`: the entry of this server in the configuration of an MCP client.

mod client;
mod comments;
mod merge;

use super::{
    output::{self, Output},
    user_file::{self, IfExists},
};
use crate::config::{Config, DEFAULT_FILE, DEFAULT_IO_DIR, Transport};
use anyhow::{Context as _, Result, anyhow};
use clap::Args;
use client::{Client, Entry};
use std::{
    path::{Path, PathBuf, absolute},
    process::ExitCode,
};

/// The name of the program and of its entry.
const NAME: &str = "toolscript";

#[derive(Args)]
pub struct Arguments {
    /// Client to configure
    client: Client,

    /// Write the entry to the configuration of the client, and keep everything else in it
    #[arg(long, conflicts_with = "print")]
    write: bool,

    /// Print the configuration with the entry; this is the default
    #[arg(long)]
    print: bool,

    /// Use the configuration of the project in the working directory; vscode always does
    #[arg(long, conflicts_with = "path")]
    project: bool,

    /// Configuration file of the client
    #[arg(long, value_name = "FILE")]
    path: Option<PathBuf>,

    /// Replace an entry with other settings
    #[arg(long, requires = "write")]
    force: bool,

    /// Directory that scripts can access [default: that of the configuration, or ./toolscript-files]
    #[arg(long, value_name = "DIR")]
    io_dir: Option<PathBuf>,

    /// Configuration file of toolscript [default: toolscript.toml in the working directory, if it exists]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// Prints the entry, or writes it to the configuration of the client. `start` is the command that starts this program.
pub fn install(arguments: &Arguments, start: &[String]) -> Result<ExitCode> {
    let client = arguments.client;
    let (program, mut words) = match start {
        [] => (program(&std::env::current_exe().context("can't find this program")?)?, Vec::new()),
        [script] => (program(Path::new(script))?, Vec::new()),
        [interpreter, rest @ ..] => (interpreter.clone(), rest.to_vec()),
    };
    words.extend(server_arguments(arguments)?);
    let entry = client.entry(program, words);
    let path = arguments.path.clone().map_or_else(|| client.file(arguments.project), Ok)?;
    let block = merge::add("", client.section(), NAME, &entry, false)?.unwrap_or_default();
    if !arguments.write {
        print(&block)?;
        output::print_note(&format!("this belongs to {}; --write adds it there", path.display()));
        if client == Client::Claude && !arguments.project {
            output::print_note(&format!("for Claude Code, run: claude mcp add {NAME} -- {}", command_line(&entry)));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let existing = user_file::read(&path)?.unwrap_or_default();
    let merged = merge::add(&existing, client.section(), NAME, &entry, arguments.force).or_else(|error| {
        // The user can still add the entry.
        print(&block)?;
        Err(anyhow!("{}: {error}; the file is unchanged, and standard output has the entry", path.display()))
    })?;
    let mut output = Output::stdout();
    match merged {
        Some(text) => {
            user_file::write(&path, &text, IfExists::Replace)?;
            output.line(&format!("wrote {}", path.display()));
        }
        None => drop(output.line(&format!("{} is up to date", path.display()))),
    }
    output.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the arguments of the server. Paths are absolute, because the client starts it in another directory.
///
/// # Errors
///
/// When the server would not start with them.
fn server_arguments(arguments: &Arguments) -> Result<Vec<String>> {
    let config = Config::find(arguments.config.as_deref())?;
    config.open_io(arguments.io_dir.as_deref(), true)?;
    let mut server = vec!["serve".to_owned()];
    let file = arguments.config.as_deref().or_else(|| Path::new(DEFAULT_FILE).exists().then_some(Path::new(DEFAULT_FILE)));
    if let Some(file) = file {
        server.extend(["--config".into(), absolute_text(file)?]);
    }
    if config.server.transport == Some(Transport::Http) {
        server.extend(["--transport".into(), "stdio".into()]);
    }
    match (&arguments.io_dir, file) {
        (Some(directory), _) => server.extend(["--io-dir".into(), absolute_text(directory)?]),
        (None, None) => server.extend(["--io-dir".into(), absolute_text(Path::new(DEFAULT_IO_DIR))?]),
        // Without a directory in the configuration, the default would be relative to the directory in which the client starts the server.
        (None, Some(_)) if config.io.dir.is_none() && config.io.is_enabled(true) => {
            server.extend(["--io-dir".into(), absolute_text(Path::new(DEFAULT_IO_DIR))?]);
        }
        (None, Some(_)) => {}
    }
    Ok(server)
}

fn absolute_text(path: &Path) -> Result<String> {
    let path = absolute(path).with_context(|| format!("can't use {}", path.display()))?;
    path.into_os_string().into_string().map_err(|path| anyhow!("{}: the path is not UTF-8", path.display()))
}

/// Returns the name of this program if the search path has it under this name, and otherwise its absolute path.
fn program(this: &Path) -> Result<String> {
    #[expect(clippy::disallowed_methods, reason = "compares programs, and opens no file of a script")]
    let is_this = |other: PathBuf| matches!((std::fs::canonicalize(&other), std::fs::canonicalize(this)), (Ok(a), Ok(b)) if a == b);
    let file_name = format!("{NAME}{}", std::env::consts::EXE_SUFFIX);
    let search_path = std::env::var_os("PATH").unwrap_or_default();
    // The first program of this name is the one that a client starts.
    let first = std::env::split_paths(&search_path).map(|directory| directory.join(&file_name)).find(|program| program.is_file());
    if first.is_some_and(is_this) { Ok(NAME.into()) } else { absolute_text(this) }
}

/// Returns the command of an entry for a shell.
fn command_line(entry: &Entry) -> String {
    let words = [&entry.command].into_iter().chain(&entry.args).map(String::as_str);
    if cfg!(windows) {
        let quoted = words.map(|word| if word.contains(' ') { format!("\"{word}\"") } else { word.to_owned() });
        return quoted.collect::<Vec<_>>().join(" ");
    }
    // A path contains no NUL byte, which is the only error.
    shlex::try_join(words).unwrap_or_default()
}

fn print(block: &str) -> Result<()> {
    let mut output = Output::stdout();
    output.bytes(block.as_bytes());
    output.finish()
}
