//! The same search with toolscript and with `rg`, on one thread each.

use crate::table::{Row, median};
use anyhow::{Context as _, Result, ensure};
use std::{
    fmt::Write as _,
    fs, io,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};
use toolscript::{
    Files,
    files::{GrepQuery, GrepResult},
};

/// The names of the rows: the program, where both sides include the start of a process, and the library without one.
pub const GREP_ROWS: [&str; 2] = ["grep over 10,000 files vs. rg", "grep over 10,000 files in the library vs. rg"];

/// Largest ratio to the time of `rg`.
const TARGET: f64 = 2.0;

const FILES: usize = 10_000;
const DIRECTORIES: usize = 100;
const MATCHES: usize = DIRECTORIES;
const SAMPLES: usize = 41;
const NEEDLE: &str = "needle in the hay";

/// The words of the generated lines.
const WORDS: [&str; 16] = [
    "account", "the", "of", "invoice", "paid", "delivery", "on", "customer", "needed", "in", "return", "hay", "price", "and", "order",
    "late",
];

/// Options for the same work: a literal pattern, without hidden files, and without ignore files.
const RIPGREP_OPTIONS: [&str; 9] =
    ["--no-config", "--threads=1", "--no-ignore", "--fixed-strings", "--line-number", "--color=never", "--regexp", NEEDLE, "."];

/// Searches with both, alternating. Returns no rows if `rg` is not installed.
pub fn grep(program: &Path) -> Result<Vec<Row>> {
    if !is_installed()? {
        println!("skipped, because rg is not installed (Debian package ripgrep): {}", GREP_ROWS.join("; "));
        return Ok(Vec::new());
    }
    let directory = tempfile::tempdir()?;
    let root = directory.path();
    create_files(root)?;
    let (mut program_times, mut library_times, mut ripgrep_times) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..=SAMPLES {
        let (program_time, program_lines) = run(Command::new(program).args(["files", "grep", NEEDLE, "--io-dir"]).arg(root), root)?;
        let (ripgrep_time, ripgrep_lines) = run(Command::new("rg").args(RIPGREP_OPTIONS), root)?;
        let (library_time, found) = search(root)?;
        // The first round is a warm-up, and checks that all find the same lines.
        if round > 0 {
            program_times.push(program_time);
            library_times.push(library_time);
            ripgrep_times.push(ripgrep_time);
        } else {
            let lines = sorted(&ripgrep_lines);
            ensure!(lines.len() == MATCHES, "rg found {} lines", lines.len());
            ensure!(sorted(&program_lines) == lines, "the program and rg found different lines");
            ensure!(sorted(&format_matches(&found)?) == lines, "the library and rg found different lines");
            ensure!(found.files == FILES as u64 && !found.truncated, "not all files were searched: {}", found.files);
        }
    }
    let ripgrep = Some(median(ripgrep_times));
    Ok(vec![
        Row::new(GREP_ROWS[0], median(program_times), ripgrep, Some(TARGET), "µs"),
        Row::new(GREP_ROWS[1], median(library_times), ripgrep, Some(TARGET), "µs"),
    ])
}

fn is_installed() -> Result<bool> {
    match Command::new("rg").arg("--version").output() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        output => Ok(output.context("can't start rg")?.status.success()),
    }
}

/// Creates files of 2 to 4 KiB with deterministic contents. One file in each directory has a line with the needle.
fn create_files(root: &Path) -> Result<()> {
    let mut random = 1_u64;
    for directory in 0..DIRECTORIES {
        let path = root.join(format!("folder-{directory:02}"));
        fs::create_dir(&path)?;
        for file in (directory..FILES).step_by(DIRECTORIES) {
            let size = 2048 + file % 2048;
            let mut text = String::new();
            let mut line = 1;
            while text.len() < size {
                write!(text, "{line}:")?;
                for _ in 0..10 {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    write!(text, " {}", WORDS[(random >> 60) as usize])?;
                }
                let last = if line == 20 && file / DIRECTORIES == directory { NEEDLE } else { "" };
                writeln!(text, " {last}.")?;
                line += 1;
            }
            fs::write(path.join(format!("file-{file:04}.txt")), text)?;
        }
    }
    Ok(())
}

/// Runs a program. Returns how long it took, and its output.
fn run(command: &mut Command, directory: &Path) -> Result<(Duration, String)> {
    let started = Instant::now();
    let output = command.current_dir(directory).output()?;
    let elapsed = started.elapsed();
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok((elapsed, String::from_utf8(output.stdout)?))
}

/// Searches in this process.
fn search(root: &Path) -> Result<(Duration, GrepResult)> {
    let started = Instant::now();
    let found = Files::new(root)?.grep(&GrepQuery::new(NEEDLE), &|| true)?;
    Ok((started.elapsed(), found))
}

/// Formats the matches as both programs do.
fn format_matches(found: &GrepResult) -> Result<String> {
    let mut text = String::new();
    for line in &found.matches {
        writeln!(text, "{}:{}:{}", line.name, line.line, line.text)?;
    }
    Ok(text)
}

/// Returns the lines sorted, without the `./` that `rg` puts before file names.
fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<_> = text.lines().map(|line| line.trim_start_matches("./")).collect();
    lines.sort_unstable();
    lines
}
