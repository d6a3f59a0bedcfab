//! `[limits]`: limits per run, and limits on the number of runs.

use crate::{Engine, EngineBuilder, Limits, mcp::Allotment};
use serde::Deserialize;
use std::{num::NonZeroU32, time::Duration};

/// The number of runs that a tenant may start per minute, if the configuration does not set it.
const DEFAULT_PER_MINUTE: NonZeroU32 = NonZeroU32::new(600).unwrap();

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
    /// Function calls per run.
    api_calls: Option<u64>,
    /// Concurrent runs.
    concurrency: Option<usize>,
    /// Runs that wait in the queue.
    queue: Option<usize>,
    /// Concurrent runs of one tenant.
    tenant_concurrency: Option<usize>,
    /// Queued runs of one tenant.
    tenant_queue: Option<usize>,
    /// Runs that one tenant may start per minute.
    tenant_per_minute: Option<NonZeroU32>,
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

    /// What one tenant may use of an engine: a quarter of its runs and of its queue, and ten runs a second, where nothing is set.
    pub fn allotment(&self) -> Allotment {
        let concurrency = self.concurrency.unwrap_or_else(EngineBuilder::default_concurrency).clamp(1, EngineBuilder::MAX_CONCURRENCY);
        let queue_limit = self.queue.unwrap_or(EngineBuilder::DEFAULT_QUEUE_LIMIT);
        Allotment {
            running: self.tenant_concurrency.unwrap_or(concurrency / 4).max(1),
            waiting: self.tenant_queue.unwrap_or(queue_limit / 4),
            per_minute: self.tenant_per_minute.unwrap_or(DEFAULT_PER_MINUTE),
        }
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
