//! `[limits]`: limits per run, and limits on the number of runs.

use crate::{Engine, EngineBuilder, Limits};
use serde::Deserialize;
use std::{num::NonZeroU32, time::Duration};

/// `[limits]`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitsSection {
    /// Wall time in seconds.
    timeout: Option<f64>,
    fuel: Option<u64>,
    memory: Option<usize>,
    script: Option<usize>,
    logs: Option<usize>,
    result: Option<usize>,
    /// The size of a result, a log and a page of a file in one response of `serve`.
    pub inline: Option<usize>,
    /// Function calls per run.
    api_calls: Option<u64>,
    /// Concurrent runs.
    pub concurrency: Option<usize>,
    /// Runs that wait in the queue.
    pub queue: Option<usize>,
    /// Concurrent runs of one tenant.
    pub tenant_concurrency: Option<usize>,
    /// Queued runs of one tenant.
    pub tenant_queue: Option<usize>,
    /// Runs that one tenant may start per minute.
    pub tenant_per_minute: Option<NonZeroU32>,
}

impl LimitsSection {
    /// Returns a builder for an engine with these limits on concurrent and queued runs.
    pub fn engine(&self) -> EngineBuilder {
        let mut builder = Engine::builder();
        if let Some(runs) = self.concurrency {
            builder = builder.concurrency(runs);
        }
        if let Some(runs) = self.queue {
            builder = builder.queue_limit(runs);
        }
        builder
    }

    /// Returns the limits of a run, with defaults for missing keys.
    pub fn resolve(self) -> Limits {
        let mut limits = Limits::default();
        if let Some(seconds) = self.timeout {
            // `Limits::check` rejects a number that is not a valid duration.
            limits.timeout = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        }
        limits.fuel = self.fuel.or(limits.fuel);
        limits.memory = self.memory.unwrap_or(limits.memory);
        limits.script = self.script.unwrap_or(limits.script);
        limits.logs = self.logs.unwrap_or(limits.logs);
        limits.result = self.result.unwrap_or(limits.result);
        limits.api_calls = self.api_calls.unwrap_or(limits.api_calls);
        limits
    }
}
