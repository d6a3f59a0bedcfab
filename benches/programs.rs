//! Programs that only compute, beside native Luau in the same process.

use crate::{
    native::run_native,
    table::{Row, median},
};
use anyhow::{Context as _, Result, ensure};
use std::{
    env, fs,
    path::{Path, PathBuf},
    time::Instant,
};
use toolscript::{Engine, RunOptions, Script};

/// The names of the rows for all programs together.
pub const PROGRAM_ROWS: [&str; 2] = ["CPU programs: geometric mean", "CPU programs: worst"];

/// Largest ratios to native Luau.
const TARGETS: [f64; 2] = [1.25, 1.6];

/// The prefix of the row of one program.
const PREFIX: &str = "CPU program ";

/// A directory with other programs, such as the benchmarks of Luau.
const DIRECTORY: &str = "TOOLSCRIPT_BENCH_PROGRAMS";

/// Runs of each program on each side. The first one is a warm-up.
const ROUNDS: usize = 8;

/// Runs the programs whose row is selected. The rows for all programs follow the rows of single programs, if all were run.
pub async fn programs(is_selected: &impl Fn(&str) -> bool) -> Result<Vec<Row>> {
    let engine = Engine::builder().concurrency(1).build()?;
    let is_all = PROGRAM_ROWS.into_iter().any(is_selected);
    let mut rows = Vec::new();
    for (name, source) in sources()? {
        if is_all || is_selected(&name) {
            rows.push(run(&engine, name, &source).await?);
        }
    }
    if is_all {
        let ratios = || rows.iter().filter_map(|row| Some((row.ratio?, row.name.clone())));
        let mean = (ratios().map(|(ratio, _)| ratio.ln()).sum::<f64>() / rows.len() as f64).exp();
        let (worst, name) = ratios().max_by(|a, b| a.0.total_cmp(&b.0)).context("there are no programs")?;
        rows.push(Row::new(PROGRAM_ROWS[0], mean, Some(1.0), Some(TARGETS[0]), "x"));
        let name = format!("{} ({})", PROGRAM_ROWS[1], name.trim_start_matches(PREFIX));
        rows.push(Row::new(name, worst, Some(1.0), Some(TARGETS[1]), "x"));
    }
    Ok(rows)
}

/// Returns the names of the rows and the sources of the programs, sorted.
fn sources() -> Result<Vec<(String, String)>> {
    let own = || Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let directory = env::var_os(DIRECTORY).map_or_else(own, PathBuf::from);
    let mut programs = Vec::new();
    for entry in fs::read_dir(&directory).with_context(|| format!("reading the programs in {}", directory.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "luau" || extension == "lua") {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            programs.push((format!("{PREFIX}{name}"), fs::read_to_string(&path)?));
        }
    }
    programs.sort();
    Ok(programs)
}

/// Runs one program on both sides, alternating.
async fn run(engine: &Engine, name: String, source: &str) -> Result<Row> {
    let script = Script::new(source);
    let (mut here, mut native) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let started = Instant::now();
        let run = engine.run(&script, RunOptions::default()).await?;
        let run_time = started.elapsed();
        let started = Instant::now();
        let (expected, _) = run_native(source, None).map_err(|error| anyhow::anyhow!("{name}: {error}"))?;
        let native_time = started.elapsed();
        if round == 0 {
            let actual = run.outcome.result.map_err(|error| anyhow::anyhow!("{name}: {}", error.message))?;
            ensure!(actual.get() == expected, "{name}: the result is {}, with native Luau {expected}", actual.get());
        } else {
            here.push(run_time);
            native.push(native_time);
        }
    }
    Ok(Row::new(name, median(here), Some(median(native)), None, "µs"))
}
