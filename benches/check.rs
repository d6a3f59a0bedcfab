//! The check of scripts before they run.

use crate::{
    specification::specification,
    table::{Row, median},
};
use anyhow::{Context as _, Result, ensure};
use serde_json::{Map, Value};
use std::{
    fs,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};
use toolscript::{
    Engine, Script,
    engine::Definitions,
    sdk::{ApiOptions, Sdk},
};

/// The names of the rows. They are measured together.
pub const CHECK_ROWS: [&str; 3] =
    ["check the typical script", "check a script with an API of 20 functions", "check a script with an API of 1,000 functions"];

/// Longest times of the checks in microseconds.
const TARGETS: [f64; 3] = [1000.0, 2000.0, 5000.0];

/// Paths of an API with 20 functions. Each has two.
const FEW_PATHS: usize = 10;

const ROUNDS: usize = 500;

const API_SCRIPT: &str = include_str!("scripts/api_pages.luau");

/// Measures all rows: the time to select the definitions and to check the script.
pub async fn check(engine: &Engine, directory: &Path) -> Result<Vec<Row>> {
    let many = specification("http://127.0.0.1:1");
    let mut few = many.clone();
    let paths = few["paths"].as_object_mut().context("the specification has no paths")?;
    *paths = std::mem::take(paths).into_iter().take(FEW_PATHS).collect::<Map<String, Value>>();
    let typical = include_str!("scripts/typical.luau");
    let mut rows = Vec::new();
    for (number, (script, document)) in [(typical, None), (API_SCRIPT, Some(few)), (API_SCRIPT, Some(many))].into_iter().enumerate() {
        let sdk = match document {
            None => None,
            Some(document) => {
                let file = directory.join("api.json");
                fs::write(&file, document.to_string())?;
                Some(Arc::new(Sdk::builder().api("api", ApiOptions::new(file.to_string_lossy())).build().await?))
            }
        };
        let times = measure(engine, &Script::new(script), sdk.as_ref()).await?;
        rows.push(Row::new(CHECK_ROWS[number], median(times), None, Some(TARGETS[number]), "µs"));
    }
    Ok(rows)
}

async fn measure(engine: &Engine, script: &Script, sdk: Option<&Arc<Sdk>>) -> Result<Vec<Duration>> {
    let mut times = Vec::new();
    for round in 0..=ROUNDS {
        let started = Instant::now();
        let definitions = Definitions::for_script(script, sdk.map(|sdk| sdk as _));
        let mistakes = engine.check(script, &definitions).await?;
        // The first round loads the checker.
        if round > 0 {
            times.push(started.elapsed());
        }
        ensure!(mistakes.iter().all(|mistake| !mistake.is_error()), "unexpected mistakes: {mistakes:?}");
    }
    Ok(times)
}
