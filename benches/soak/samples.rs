//! Samples of a server, and the comparison of the first with the last ones.

use anyhow::{Context as _, Result};
use std::{fmt, fs, time::Duration};

/// The state of a server in one window.
pub struct Sample {
    /// The smallest value of the window: a script that uses all of its memory adds 64 MiB while it runs.
    resident_kib: f64,
    descriptors: f64,
    threads: f64,
    latency_ms: f64,
}

/// The measurements of one window.
#[derive(Default)]
pub struct Window {
    resident_kib: Vec<f64>,
    descriptors: Vec<f64>,
    threads: Vec<f64>,
    latency_ms: Vec<f64>,
}

impl Window {
    /// Adds the time of a probe call, and the current state of the server.
    pub fn add(&mut self, process: u32, probe: Duration) -> Result<()> {
        let status = fs::read_to_string(format!("/proc/{process}/status")).context("a server has exited, or this is not Linux")?;
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).context("no such field")?;
            anyhow::Ok(line.trim().trim_end_matches(" kB").parse()?)
        };
        self.resident_kib.push(field("VmRSS:")?);
        self.threads.push(field("Threads:")?);
        self.descriptors.push(fs::read_dir(format!("/proc/{process}/fd"))?.count() as f64);
        self.latency_ms.push(probe.as_secs_f64() * 1e3);
        Ok(())
    }

    pub fn sample(self) -> Sample {
        Sample {
            resident_kib: self.resident_kib.into_iter().fold(f64::INFINITY, f64::min),
            descriptors: median(self.descriptors.into_iter()),
            threads: median(self.threads.into_iter()),
            latency_ms: median(self.latency_ms.into_iter()),
        }
    }
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { resident_kib, descriptors, threads, latency_ms } = self;
        write!(f, "{:>6.1} MiB {descriptors:>4} descriptors {threads:>3} threads {latency_ms:>7.2} ms", resident_kib / 1024.0)
    }
}

/// A quantity that must not grow.
struct Quantity {
    name: &'static str,
    value: fn(&Sample) -> f64,
    /// The growth that is tolerated: a part of the first value, and an amount.
    tolerance: (f64, f64),
}

/// The tolerances cover the noise of a busy machine. A longer run finds a smaller leak.
const QUANTITIES: [Quantity; 4] = [
    Quantity { name: "resident MiB", value: |sample| sample.resident_kib / 1024.0, tolerance: (0.1, 4.0) },
    Quantity { name: "descriptors", value: |sample| sample.descriptors, tolerance: (0.1, 8.0) },
    Quantity { name: "threads", value: |sample| sample.threads, tolerance: (0.1, 4.0) },
    // The machine may become busier.
    Quantity { name: "p50 ms", value: |sample| sample.latency_ms, tolerance: (0.5, 2.0) },
];

/// The samples of one server.
pub struct Series {
    server: &'static str,
    pub samples: Vec<Sample>,
}

impl Series {
    pub fn new(server: &'static str) -> Self {
        Self { server, samples: Vec::new() }
    }

    /// Prints the medians of the first and the last third after the warm-up. Returns the quantities that grew.
    pub fn judge(&self, warm_up: usize) -> Vec<String> {
        let samples = self.samples.get(warm_up..).unwrap_or_default();
        let third = samples.len() / 3;
        let mut grown = Vec::new();
        println!("\n{:<16} {:>12} {:>12} {:>12}", self.server, "first third", "last third", "at most");
        for Quantity { name, value, tolerance: (part, amount) } in QUANTITIES {
            let first = median(samples.iter().take(third).map(value));
            let last = median(samples.iter().rev().take(third).map(value));
            let max = first * (1.0 + part) + amount;
            println!("{name:<16} {first:>12.2} {last:>12.2} {max:>12.2}");
            if last > max {
                grown.push(format!("{} of {} grew from {first:.2} to {last:.2}, at most {max:.2} is tolerated", name, self.server));
            }
        }
        grown
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
