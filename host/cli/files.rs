//! `toolscript files`: the files of scripts, for a person.

use super::terminal::{self, Output};
use crate::{
    Files,
    files::{FileError, FileInfo, FileKind, GlobQuery, GrepQuery},
};
use crate::{config::Config, text::one_line, timestamp::format_rfc3339};
use anstyle::{AnsiColor, Style};
use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};
use std::{
    io::{self, BufRead, BufReader, Read as _},
    path::PathBuf,
    process::ExitCode,
};

/// Nothing was found, or a file can't be used.
const EXIT_FAILED: u8 = 1;

/// Lines and bytes that a search shows at most: they are held before they are shown.
const MAX_MATCHES: usize = 100_000;
const MAX_BYTES: usize = 64 << 20;

/// Bytes of a line that a terminal is given at once.
const MAX_LINE: u64 = 1 << 20;

const FOLDER: Style = AnsiColor::Blue.on_default().bold();
const PATH: Style = AnsiColor::Magenta.on_default();
const LINE: Style = AnsiColor::Green.on_default();
const FAINT: Style = Style::new().dimmed();

#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,

    /// Folder for the files of scripts [default: ./toolscript-files]
    #[arg(long, value_name = "DIR", global = true)]
    io_dir: Option<PathBuf>,

    /// Configuration [default: toolscript.toml in the working directory, if it is there]
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Command {
    /// Lists a folder: size, time of change, name
    Ls {
        /// Folder in the io dir
        #[arg(default_value = ".")]
        path: String,
    },
    /// Prints a file
    Cat {
        /// File in the io dir
        path: String,
    },
    /// Finds lines in files
    Grep {
        /// The text, taken literally
        pattern: String,
        /// Folder or file in the io dir
        #[arg(default_value = ".")]
        path: String,
        /// Which files: a pattern for their names, or with a slash for their paths
        #[arg(long, short, value_name = "PATTERN")]
        glob: Option<String>,
        /// Takes the text as a regular expression
        #[arg(long, short)]
        regex: bool,
        /// Searches files and folders too whose names begin with a dot
        #[arg(long)]
        hidden: bool,
    },
    /// Finds files and folders by a pattern such as '**/*.csv'
    Glob {
        /// What their paths look like: *, ?, [a-z], {a,b}, and ** for folders at any depth
        pattern: String,
        /// Folder in the io dir
        #[arg(default_value = ".")]
        path: String,
        /// Finds names too that begin with a dot
        #[arg(long)]
        hidden: bool,
    },
    /// Removes files
    Rm {
        /// Files in the io dir
        #[arg(required = true)]
        paths: Vec<String>,
    },
}

/// Works on the files; an error is wrong usage or configuration.
pub fn files(arguments: &Arguments) -> Result<ExitCode> {
    let config = Config::find(arguments.config.as_deref())?;
    let io = config.open_io(arguments.io_dir.as_deref(), true)?;
    let files = io.context("files are switched off by [io] enabled; name a folder with --io-dir")?.files;
    let mut output = Output::new();
    let done = match &arguments.command {
        Command::Ls { path } => list(&files, path, &mut output),
        Command::Cat { path } => cat(&files, path, &mut output),
        Command::Grep { pattern, path, glob, regex, hidden } => {
            let mut query = GrepQuery::new(pattern).with_path(path);
            (query.glob, query.regex, query.hidden) = (glob.clone(), *regex, *hidden);
            (query.max_matches, query.max_bytes) = (MAX_MATCHES, MAX_BYTES);
            grep(&files, &query, &mut output)
        }
        Command::Glob { pattern, path, hidden } => {
            let mut query = GlobQuery::new(pattern).with_path(path);
            query.hidden = *hidden;
            (query.max_results, query.max_bytes) = (MAX_MATCHES, MAX_BYTES);
            glob(&files, &query, &mut output)
        }
        Command::Rm { paths } => Ok(remove(&files, paths)),
    };
    let code = done.unwrap_or_else(|error| {
        terminal::error_line(&error.to_string());
        ExitCode::from(EXIT_FAILED)
    });
    if let Err(error) = output.finish() {
        terminal::error_line(&format!("standard output can't be written to: {error}"));
        return Ok(ExitCode::from(EXIT_FAILED));
    }
    Ok(code)
}

fn list(files: &Files, path: &str, output: &mut Output) -> Result<ExitCode, FileError> {
    let infos = files.list(path)?;
    let width = infos.iter().map(|info| size(info).len()).max().unwrap_or(0);
    for info in &infos {
        let time = info.modified.and_then(format_rfc3339).unwrap_or_default();
        let (size, time) = (format!("{:>width$}", size(info)), output.paint(FAINT, &format!("{time:20}")));
        let name = name(info, output);
        output.plain(&format!("{size}  {time}  {name}"));
    }
    Ok(ExitCode::SUCCESS)
}

fn size(info: &FileInfo) -> String {
    if info.kind == FileKind::File { info.bytes.to_string() } else { "-".into() }
}

fn name(info: &FileInfo, output: &Output) -> String {
    let name = one_line(&info.name);
    match info.kind {
        FileKind::File => output.paint(Style::new(), &name),
        FileKind::Directory => output.paint(FOLDER, &format!("{name}/")),
        other => format!("{} {}", output.paint(Style::new(), &name), output.paint(FAINT, &format!("({})", other.name()))),
    }
}

fn cat(files: &Files, path: &str, output: &mut Output) -> Result<ExitCode, FileError> {
    let mut reader = BufReader::with_capacity(64 << 10, files.reader(path)?);
    let printed = if output.is_terminal() { by_lines(&mut reader, output) } else { by_blocks(&mut reader, output) };
    Ok(printed.map_or_else(
        |error| {
            terminal::error_line(&format!("{path}: {}", error.kind()));
            ExitCode::from(EXIT_FAILED)
        },
        |()| ExitCode::SUCCESS,
    ))
}

/// As a person can read it: what is not text is shown as such, and a line without an end in parts.
fn by_lines(reader: &mut impl BufRead, output: &mut Output) -> io::Result<()> {
    let mut line = Vec::new();
    loop {
        line.clear();
        if reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let line = line.strip_suffix(b"\n").unwrap_or(&line);
        if !output.line(&String::from_utf8_lossy(line)) {
            return Ok(());
        }
    }
}

/// As it is.
fn by_blocks(reader: &mut impl BufRead, output: &mut Output) -> io::Result<()> {
    loop {
        let block = reader.fill_buf()?;
        let size = block.len();
        if size == 0 || !output.bytes(block) {
            return Ok(());
        }
        reader.consume(size);
    }
}

fn grep(files: &Files, query: &GrepQuery, output: &mut Output) -> Result<ExitCode, FileError> {
    let found = files.grep(query, &|| true)?;
    for found in &found.matches {
        let (path, line) = (output.paint(PATH, &one_line(&found.name)), output.paint(LINE, &found.line.to_string()));
        let cut = if found.truncated { output.paint(FAINT, " (cut)") } else { String::new() };
        let text = output.paint(Style::new(), &found.text);
        output.plain(&format!("{path}:{line}:{text}{cut}"));
    }
    if found.truncated {
        terminal::note(&format!("there are more; only {} lines are shown", found.matches.len()));
    }
    skipped(found.skipped);
    Ok(if found.matches.is_empty() { ExitCode::from(EXIT_FAILED) } else { ExitCode::SUCCESS })
}

fn glob(files: &Files, query: &GlobQuery, output: &mut Output) -> Result<ExitCode, FileError> {
    let found = files.glob(query, &|| true)?;
    for info in &found.entries {
        let name = name(info, output);
        output.plain(&name);
    }
    if found.truncated {
        terminal::note(&format!("there are more; only {} names are shown", found.entries.len()));
    }
    skipped(found.skipped);
    Ok(if found.entries.is_empty() { ExitCode::from(EXIT_FAILED) } else { ExitCode::SUCCESS })
}

fn skipped(count: u64) {
    if count > 0 {
        terminal::note(&format!("left out, as they can't be read: {count}"));
    }
}

/// What can't be removed does not keep the others.
fn remove(files: &Files, paths: &[String]) -> ExitCode {
    let failed = paths.iter().filter_map(|path| files.remove(path).err()).inspect(|error| terminal::error_line(&error.to_string()));
    if failed.count() == 0 { ExitCode::SUCCESS } else { ExitCode::from(EXIT_FAILED) }
}
