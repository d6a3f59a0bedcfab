//! The same lines looked for here and by `rg`, on one thread each.

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

/// The program beside `rg`, so that the start of a process counts for both; and the library's call beside the same.
pub const GREP: [&str; 2] = ["grep over 10,000 files, beside rg", "grep over 10,000 files in the library, beside rg"];

/// How many times `rg`'s time a search may take.
const TARGET: f64 = 2.0;

const FILES: usize = 10_000;
const FOLDERS: usize = 100;
const FOUND: usize = FOLDERS;
const SAMPLES: usize = 41;
const NEEDLE: &str = "needle in the hay";

/// What all lines are made of.
const WORDS: [&str; 16] = [
    "account", "the", "of", "invoice", "paid", "delivery", "on", "customer", "needed", "in", "return", "hay", "price", "and", "order",
    "late",
];

/// The same work as ours: a text taken literally, hidden files left out, no rules on what else to leave out.
const RIPGREP: [&str; 9] =
    ["--no-config", "--threads=1", "--no-ignore", "--fixed-strings", "--line-number", "--color=never", "--regexp", NEEDLE, "."];

/// Searches on both sides, in turns; no rows where `rg` is not installed.
pub fn grep_beside_ripgrep(program: &Path) -> Result<Vec<Row>> {
    if !is_installed()? {
        println!("skipped, as there is no rg (install the Debian package ripgrep): {}", GREP.join("; "));
        return Ok(Vec::new());
    }
    let folder = tempfile::tempdir()?;
    let root = folder.path();
    fill(root)?;
    let (mut through, mut here, mut ripgrep) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..=SAMPLES {
        let (program_took, program_lines) = run(Command::new(program).args(["files", "grep", NEEDLE, "--io-dir"]).arg(root), root)?;
        let (ripgrep_took, ripgrep_lines) = run(Command::new("rg").args(RIPGREP), root)?;
        let (library_took, found) = search(root)?;
        // The first round warms up, and is checked: all must find the same.
        if round > 0 {
            through.push(program_took);
            here.push(library_took);
            ripgrep.push(ripgrep_took);
        } else {
            let lines = sorted(&ripgrep_lines);
            ensure!(lines.len() == FOUND, "rg found {} lines", lines.len());
            ensure!(sorted(&program_lines) == lines, "the program found other lines than rg");
            ensure!(sorted(&written(&found)?) == lines, "the library found other lines than rg");
            ensure!(found.files == FILES as u64 && !found.truncated, "not all files were searched: {}", found.files);
        }
    }
    let ripgrep = Some(median(ripgrep));
    Ok(vec![Row::new(GREP[0], median(through), ripgrep, Some(TARGET), "µs"), Row::new(GREP[1], median(here), ripgrep, Some(TARGET), "µs")])
}

fn is_installed() -> Result<bool> {
    match Command::new("rg").arg("--version").output() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        output => Ok(output.context("rg does not start")?.status.success()),
    }
}

/// Files of 2 to 4 KiB, always the same; one in each folder has a line with the needle.
fn fill(root: &Path) -> Result<()> {
    let mut random = 1_u64;
    for folder in 0..FOLDERS {
        let path = root.join(format!("folder-{folder:02}"));
        fs::create_dir(&path)?;
        for file in (folder..FILES).step_by(FOLDERS) {
            let size = 2048 + file % 2048;
            let mut text = String::new();
            let mut line = 1;
            while text.len() < size {
                write!(text, "{line}:")?;
                for _ in 0..10 {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    write!(text, " {}", WORDS[(random >> 60) as usize])?;
                }
                let last = if line == 20 && file / FOLDERS == folder { NEEDLE } else { "" };
                writeln!(text, " {last}.")?;
                line += 1;
            }
            fs::write(path.join(format!("file-{file:04}.txt")), text)?;
        }
    }
    Ok(())
}

/// Runs a program to its end; how long that took, and what it wrote.
fn run(command: &mut Command, folder: &Path) -> Result<(Duration, String)> {
    let started = Instant::now();
    let output = command.current_dir(folder).output()?;
    let took = started.elapsed();
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok((took, String::from_utf8(output.stdout)?))
}

/// The same in this process.
fn search(root: &Path) -> Result<(Duration, GrepResult)> {
    let started = Instant::now();
    let found = Files::new(root)?.grep(&GrepQuery::new(NEEDLE), &|| true)?;
    Ok((started.elapsed(), found))
}

/// Matches as both programs write them.
fn written(found: &GrepResult) -> Result<String> {
    let mut text = String::new();
    for line in &found.matches {
        writeln!(text, "{}:{}:{}", line.name, line.line, line.text)?;
    }
    Ok(text)
}

/// Lines in an order that does not depend on who found them; `rg` names files from the folder on that it was given.
fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<_> = text.lines().map(|line| line.trim_start_matches("./")).collect();
    lines.sort_unstable();
    lines
}
