//! The metrics of a server: runs by outcome, time, fuel, bytes, queue length. They contain nothing about single tenants or scripts.

use crate::{Engine, Run};
use prometheus_client::{
    encoding::{EncodeLabelSet, text},
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::Registry,
};

/// The media type of [`Metrics::encode`].
pub const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Outcome {
    outcome: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Direction {
    direction: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Reason {
    reason: &'static str,
}

/// The metrics of one server.
pub struct Metrics {
    registry: Registry,
    runs: Family<Outcome, Counter>,
    seconds: Histogram,
    fuel: Counter,
    bytes: Family<Direction, Counter>,
    rejected: Family<Reason, Counter>,
    running: Gauge,
    waiting: Gauge,
    /// The number of open connections.
    pub connections: Gauge,
    /// The number of tenants in memory.
    pub tenants: Gauge,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("toolscript");
        let metrics = Self {
            runs: Family::default(),
            seconds: Histogram::new([0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0]),
            fuel: Counter::default(),
            bytes: Family::default(),
            rejected: Family::default(),
            running: Gauge::default(),
            waiting: Gauge::default(),
            connections: Gauge::default(),
            tenants: Gauge::default(),
            registry: Registry::default(),
        };
        registry.register("runs", "Finished runs by outcome", metrics.runs.clone());
        registry.register("run_seconds", "Wall time of runs", metrics.seconds.clone());
        registry.register("fuel", "Fuel used by runs", metrics.fuel.clone());
        registry.register("file_bytes", "Bytes that runs read from files and wrote to files", metrics.bytes.clone());
        registry.register("refused", "Rejected runs, requests and connections by reason", metrics.rejected.clone());
        registry.register("runs_running", "Running runs", metrics.running.clone());
        registry.register("runs_waiting", "Runs in the queue", metrics.waiting.clone());
        registry.register("connections", "Open connections", metrics.connections.clone());
        registry.register("tenants", "Tenants in memory", metrics.tenants.clone());
        Self { registry, ..metrics }
    }
}

impl Metrics {
    /// Counts a finished run.
    pub fn count_run(&self, run: &Run) {
        let outcome = run.outcome.result.as_ref().err().map_or("done", |error| error.kind.name());
        self.runs.get_or_create(&Outcome { outcome }).inc();
        self.seconds.observe(run.receipt.microseconds as f64 / 1e6);
        self.fuel.inc_by(run.receipt.fuel);
        self.bytes.get_or_create(&Direction { direction: "read" }).inc_by(run.receipt.bytes_read);
        self.bytes.get_or_create(&Direction { direction: "written" }).inc_by(run.receipt.bytes_written);
    }

    /// Counts a rejected run, request or connection. The metric name and the values of `reason` are documented for operators, so they
    /// keep their names.
    pub fn count_rejected(&self, reason: &'static str) {
        self.rejected.get_or_create(&Reason { reason }).inc();
    }

    /// Returns all metrics as OpenMetrics text. `active_runs` is the number of running and queued runs.
    pub fn encode(&self, engine: &Engine, active_runs: usize) -> String {
        let running = engine.running();
        self.running.set(i64::try_from(running).unwrap_or(i64::MAX));
        self.waiting.set(i64::try_from(active_runs.saturating_sub(running)).unwrap_or(i64::MAX));
        let mut text = String::new();
        if text::encode(&mut text, &self.registry).is_err() {
            tracing::error!("can't encode the metrics");
        }
        text
    }
}
