//! Puts a mixed load on both transports for some minutes, and fails if memory, descriptors, threads or latency of a server grow.
//!
//! Start it with `cargo run --release --example soak -- MINUTES`. It starts the servers itself, and leaves neither processes nor files.

#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a program for measurements")]
#![expect(clippy::expect_used, reason = "the key server is shared with the tests, which fail by panicking")]

mod cases;
mod http_load;
#[path = "../../tests/support/key_server.rs"]
#[expect(dead_code, reason = "the tests use all of it")]
mod key_server;
#[path = "../../tests/support/kill_on_drop.rs"]
mod kill_on_drop;
mod samples;
mod servers;
mod stdio_load;

use anyhow::{Context as _, Result, bail, ensure};
use cases::Report;
use samples::{Series, Window};
use servers::Servers;
use std::{
    env,
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};

/// The number of windows of a run. Each has one sample for each server.
const WINDOWS: u32 = 30;

/// The windows that are not compared, because buffers, pools and caches still fill.
const WARM_UP: usize = 6;

/// The number of probe calls in a window, for each server.
const PROBES: u32 = 10;

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("failed: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<()> {
    let minutes: f64 = env::args().nth(1).as_deref().unwrap_or("5").parse().context("usage: soak MINUTES")?;
    ensure!(minutes.is_finite() && minutes > 0.0, "usage: soak MINUTES");
    let window = Duration::from_secs_f64(minutes * 60.0) / WINDOWS;
    let servers = Servers::start().await?;
    let report = Arc::new(Report::default());
    let mut load = http_load::start(&servers.http, &report);
    load.extend(stdio_load::start(&servers.stdio, &report));
    let measured = measure(&servers, &report, window).await;
    for task in &load {
        task.abort();
    }
    for task in load {
        let _ = task.await;
    }
    println!("\nload:\n{report}");
    // The servers end before their directories are removed, also after a failure.
    let stopped = servers.stop().await;
    let series = measured?;
    stopped?;
    let mut growth = Vec::new();
    for series in &series {
        growth.extend(series.judge(WARM_UP));
    }
    if !growth.is_empty() {
        bail!("{}", growth.join("; "));
    }
    println!("no growth");
    Ok(())
}

/// Measures both servers while they are under load.
async fn measure(servers: &Servers, report: &Report, window: Duration) -> Result<[Series; 2]> {
    let mut series = [Series::new("HTTP"), Series::new("stdio")];
    for number in 1..=WINDOWS {
        let (mut http, mut stdio) = (Window::default(), Window::default());
        let started = Instant::now();
        for probe in 1..=PROBES {
            let (one, other) = tokio::join!(servers.http.probe(), servers.stdio.probe());
            http.add(servers.http.process(), one?)?;
            stdio.add(servers.stdio.process(), other?)?;
            tokio::time::sleep((window * probe / PROBES).saturating_sub(started.elapsed())).await;
        }
        series[0].samples.push(http.sample());
        series[1].samples.push(stdio.sample());
        let [one, other] = series.each_ref().map(|series| series.samples.last().map_or(String::new(), ToString::to_string));
        println!("{number:>2}/{WINDOWS}  HTTP {one}   stdio {other}");
        report.check()?;
    }
    Ok(series)
}
