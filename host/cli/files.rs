//! `toolscript files`: lists, prints, searches and removes the files of scripts.

use super::output::{self, Output};
use crate::{
    Files,
    config::Config,
    files::{FileError, FileInfo, FileKind, GlobQuery, GrepQuery},
    text::one_line,
    timestamp::format_rfc3339,
};
use anstyle::{AnsiColor, Style};
use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};
use std::{
    io::{self, BufRead, BufReader, Read as _},
    path::PathBuf,
    process::ExitCode,
};

/// The exit code if nothing was found, or if a file can't be used.
const EXIT_FAILED: u8 = 1;

/// The maximum number of results of a search, and of their bytes: they are held in memory before they are printed.
const MAX_RESULTS: usize = 100_000;
const MAX_RESULT_BYTES: usize = 64 << 20;

/// The maximum number of bytes of a line that are written to a terminal at once.
const MAX_LINE_BYTES: u64 = 1 << 20;

const DIRECTORY_STYLE: Style = AnsiColor::Blue.on_default().bold();
const PATH_STYLE: Style = AnsiColor::Magenta.on_default();
const LINE_STYLE: Style = AnsiColor::Green.on_default();
const FAINT_STYLE: Style = Style::new().dimmed();

#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,

    /// Directory that scripts can access [default: ./toolscript-files]
    #[arg(long, value_name = "DIR", global = true)]
    io_dir: Option<PathBuf>,

    /// Configuration file [default: toolscript.toml in the working directory, if it exists]
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Command {
    /// List a directory: size, modification time, name
    Ls {
        /// Directory in the io directory
        #[arg(default_value = ".")]
        path: String,
    },
    /// Print a file
    Cat {
        /// File in the io directory
        path: String,
    },
    /// Search for lines in files
    Grep {
        /// Literal text to search for
        pattern: String,
        /// Directory or file in the io directory
        #[arg(default_value = ".")]
        path: String,
        /// Search only files whose name matches, or whose path matches if the pattern contains a slash
        #[arg(long, short, value_name = "PATTERN")]
        glob: Option<String>,
        /// Treat the pattern as a regular expression
        #[arg(long, short)]
        regex: bool,
        /// Include files and directories whose names begin with a dot
        #[arg(long)]
        hidden: bool,
    },
    /// Find files and directories by a pattern such as '**/*.csv'
    Glob {
        /// Pattern: *, ?, [a-z], {a,b}, and ** for directories at any depth
        pattern: String,
        /// Directory in the io directory
        #[arg(default_value = ".")]
        path: String,
        /// Include names that begin with a dot
        #[arg(long)]
        hidden: bool,
    },
    /// Remove files
    Rm {
        /// Files in the io directory
        #[arg(required = true)]
        paths: Vec<String>,
    },
}

/// Runs the command. An error means wrong usage or an invalid configuration.
pub fn files(arguments: &Arguments) -> Result<ExitCode> {
    let config = Config::find(arguments.config.as_deref())?;
    let io = config.open_io(arguments.io_dir.as_deref(), true)?;
    let files = io.context("io is disabled by [io] enabled = false; name a directory with --io-dir")?.files;
    let mut output = Output::stdout();
    let done = match &arguments.command {
        Command::Ls { path } => list(&files, path, &mut output),
        Command::Cat { path } => cat(&files, path, &mut output),
        Command::Grep { pattern, path, glob, regex, hidden } => {
            let mut query = GrepQuery::new(pattern).with_path(path);
            (query.glob, query.regex, query.hidden) = (glob.clone(), *regex, *hidden);
            (query.max_matches, query.max_bytes) = (MAX_RESULTS, MAX_RESULT_BYTES);
            grep(&files, &query, &mut output)
        }
        Command::Glob { pattern, path, hidden } => {
            let mut query = GlobQuery::new(pattern).with_path(path);
            query.hidden = *hidden;
            (query.max_results, query.max_bytes) = (MAX_RESULTS, MAX_RESULT_BYTES);
            glob(&files, &query, &mut output)
        }
        Command::Rm { paths } => Ok(remove(&files, paths)),
    };
    let code = done.unwrap_or_else(|error| {
        output::print_error(&error.to_string());
        ExitCode::from(EXIT_FAILED)
    });
    if let Err(error) = output.finish() {
        output::print_error(&format!("{error:#}"));
        return Ok(ExitCode::from(EXIT_FAILED));
    }
    Ok(code)
}

fn list(files: &Files, path: &str, output: &mut Output) -> Result<ExitCode, FileError> {
    let infos = files.list(path)?;
    let width = infos.iter().map(|info| size(info).len()).max().unwrap_or(0);
    for info in &infos {
        let time = info.modified.and_then(format_rfc3339).unwrap_or_default();
        let (size, time) = (format!("{:>width$}", size(info)), output.paint(FAINT_STYLE, &format!("{time:20}")));
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
        FileKind::Directory => output.paint(DIRECTORY_STYLE, &format!("{name}/")),
        other => format!("{} {}", output.paint(Style::new(), &name), output.paint(FAINT_STYLE, &format!("({})", other.name()))),
    }
}

fn cat(files: &Files, path: &str, output: &mut Output) -> Result<ExitCode, FileError> {
    let mut reader = BufReader::with_capacity(64 << 10, files.reader(path)?);
    let printed = if output.is_terminal() { print_lines(&mut reader, output) } else { print_bytes(&mut reader, output) };
    Ok(printed.map_or_else(
        |error| {
            output::print_error(&format!("{path}: {}", error.kind()));
            ExitCode::from(EXIT_FAILED)
        },
        |()| ExitCode::SUCCESS,
    ))
}

/// Prints text to a terminal: invalid UTF-8 is replaced, and a very long line is printed in parts.
fn print_lines(reader: &mut impl BufRead, output: &mut Output) -> io::Result<()> {
    let mut line = Vec::new();
    loop {
        line.clear();
        #[expect(clippy::disallowed_methods, reason = "the number of bytes is limited")]
        if reader.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let line = line.strip_suffix(b"\n").unwrap_or(&line);
        if !output.line(&String::from_utf8_lossy(line)) {
            return Ok(());
        }
    }
}

/// Prints the bytes unchanged.
fn print_bytes(reader: &mut impl BufRead, output: &mut Output) -> io::Result<()> {
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
        let (path, line) = (output.paint(PATH_STYLE, &one_line(&found.name)), output.paint(LINE_STYLE, &found.line.to_string()));
        let truncated = if found.truncated { output.paint(FAINT_STYLE, " (truncated)") } else { String::new() };
        let text = output.paint(Style::new(), &found.text);
        output.plain(&format!("{path}:{line}:{text}{truncated}"));
    }
    if found.truncated {
        output::print_note(&format!("only the first {} lines are shown", found.matches.len()));
    }
    note_skipped(found.skipped);
    Ok(if found.matches.is_empty() { ExitCode::from(EXIT_FAILED) } else { ExitCode::SUCCESS })
}

fn glob(files: &Files, query: &GlobQuery, output: &mut Output) -> Result<ExitCode, FileError> {
    let found = files.glob(query, &|| true)?;
    for info in &found.entries {
        let name = name(info, output);
        output.plain(&name);
    }
    if found.truncated {
        output::print_note(&format!("only the first {} names are shown", found.entries.len()));
    }
    note_skipped(found.skipped);
    Ok(if found.entries.is_empty() { ExitCode::from(EXIT_FAILED) } else { ExitCode::SUCCESS })
}

fn note_skipped(count: u64) {
    if count > 0 {
        output::print_note(&format!("skipped, not readable: {count}"));
    }
}

/// Removes each file, and reports those that can't be removed.
fn remove(files: &Files, paths: &[String]) -> ExitCode {
    let failed = paths.iter().filter_map(|path| files.remove(path).err()).inspect(|error| output::print_error(&error.to_string()));
    if failed.count() == 0 { ExitCode::SUCCESS } else { ExitCode::from(EXIT_FAILED) }
}
