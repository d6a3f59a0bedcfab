//! What an operator counts: runs by outcome, seconds, fuel, bytes, the queue. Nothing in it names a tenant or a script.

use crate::{Engine, Run};
use prometheus_client::{
    encoding::{EncodeLabelSet, text},
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::Registry,
};

/// The media type of [`Metrics::text`].
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

/// The counts of one server.
pub struct Metrics {
    registry: Registry,
    runs: Family<Outcome, Counter>,
    seconds: Histogram,
    fuel: Counter,
    bytes: Family<Direction, Counter>,
    refused: Family<Reason, Counter>,
    running: Gauge,
    waiting: Gauge,
    /// Connections that are open.
    pub connections: Gauge,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("toolscript");
        let metrics = Self {
            runs: Family::default(),
            seconds: Histogram::new([0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0]),
            fuel: Counter::default(),
            bytes: Family::default(),
            refused: Family::default(),
            running: Gauge::default(),
            waiting: Gauge::default(),
            connections: Gauge::default(),
            registry: Registry::default(),
        };
        registry.register("runs", "Runs that ended, by outcome", metrics.runs.clone());
        registry.register("run_seconds", "Wall time of runs", metrics.seconds.clone());
        registry.register("fuel", "Fuel that runs have burnt", metrics.fuel.clone());
        registry.register("file_bytes", "Bytes that runs have read from files and written to them", metrics.bytes.clone());
        registry.register("refused", "Runs, requests and connections that were refused, by reason", metrics.refused.clone());
        registry.register("runs_running", "Runs that are under way", metrics.running.clone());
        registry.register("runs_waiting", "Runs that wait for their turn", metrics.waiting.clone());
        registry.register("connections", "Connections that are open", metrics.connections.clone());
        Self { registry, ..metrics }
    }
}

impl Metrics {
    /// Counts a run that ended.
    pub fn ran(&self, run: &Run) {
        let outcome = run.outcome.result.as_ref().err().map_or("done", |error| error.kind.name());
        self.runs.get_or_create(&Outcome { outcome }).inc();
        self.seconds.observe(run.receipt.microseconds as f64 / 1e6);
        self.fuel.inc_by(run.receipt.fuel);
        self.bytes.get_or_create(&Direction { direction: "read" }).inc_by(run.receipt.bytes_read);
        self.bytes.get_or_create(&Direction { direction: "written" }).inc_by(run.receipt.bytes_written);
    }

    /// Counts what was turned away.
    pub fn refused(&self, reason: &'static str) {
        self.refused.get_or_create(&Reason { reason }).inc();
    }

    /// All counts, for a monitor to read.
    /// `begun` are all runs, those that wait for their turn too.
    pub fn text(&self, engine: &Engine, begun: usize) -> String {
        let running = engine.running();
        self.running.set(i64::try_from(running).unwrap_or(i64::MAX));
        self.waiting.set(i64::try_from(begun.saturating_sub(running)).unwrap_or(i64::MAX));
        let mut text = String::new();
        if text::encode(&mut text, &self.registry).is_err() {
            tracing::error!("the metrics can't be written");
        }
        text
    }
}
