//! `[limits]`: limits per run, and limits on the number of runs.

use super::units::{self, DAY, MAX_COUNT, MAX_FUEL, MAX_TEXT, MAX_WAITING};
use crate::{
    Engine, EngineBuilder, Limits,
    mcp::{McpServerBuilder, TenantLimits},
};
use serde::Deserialize;
use std::{num::NonZeroU32, time::Duration};

/// The range of the memory of a run.
const MIN_MEMORY: u64 = *units::MEMORY.start();
const MAX_MEMORY: u64 = *units::MEMORY.end();

/// The smallest limit on a response. It leaves space for errors, file names, and parts of the default size of `inline`.
const MIN_RESPONSE: u64 = McpServerBuilder::MIN_RESPONSE_LIMIT as u64;

/// The largest number of concurrent runs.
const MAX_CONCURRENCY: u64 = EngineBuilder::MAX_CONCURRENCY as u64;

/// `[limits]`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LimitsSection {
    #[serde(deserialize_with = "units::duration::<1, DAY, _>")]
    timeout: Option<Duration>,
    #[serde(deserialize_with = "units::integer::<1, MAX_FUEL, _>")]
    fuel: Option<u64>,
    #[serde(deserialize_with = "units::bytes::<MIN_MEMORY, MAX_MEMORY, _>")]
    memory: Option<u64>,
    #[serde(deserialize_with = "units::bytes::<1, MAX_TEXT, _>")]
    script: Option<u64>,
    #[serde(deserialize_with = "units::bytes::<0, MAX_TEXT, _>")]
    logs: Option<u64>,
    #[serde(deserialize_with = "units::bytes::<0, MAX_TEXT, _>")]
    result: Option<u64>,
    #[serde(deserialize_with = "units::bytes::<0, MAX_TEXT, _>")]
    inline: Option<u64>,
    /// One response.
    #[serde(deserialize_with = "units::bytes::<MIN_RESPONSE, MAX_TEXT, _>")]
    response: Option<u64>,
    /// Function calls per run.
    #[serde(deserialize_with = "units::integer::<0, MAX_COUNT, _>")]
    api_calls: Option<u64>,
    /// Concurrent runs.
    #[serde(deserialize_with = "units::integer::<1, MAX_CONCURRENCY, _>")]
    concurrency: Option<u64>,
    /// Runs that wait in the queue.
    #[serde(deserialize_with = "units::integer::<0, MAX_WAITING, _>")]
    queue: Option<u64>,
    /// Concurrent runs of one tenant.
    #[serde(deserialize_with = "units::integer::<1, MAX_CONCURRENCY, _>")]
    tenant_concurrency: Option<u64>,
    /// Queued runs of one tenant.
    #[serde(deserialize_with = "units::integer::<0, MAX_WAITING, _>")]
    tenant_queue: Option<u64>,
    /// Runs that one tenant may start per minute.
    #[serde(deserialize_with = "units::integer::<1, MAX_WAITING, _>")]
    tenant_per_minute: Option<u64>,
}

/// Converts a number that is in its range.
fn to_usize(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

impl LimitsSection {
    /// Returns a builder for an engine with these limits on concurrent and queued runs.
    pub fn engine(&self) -> EngineBuilder {
        let mut builder = Engine::builder();
        if let Some(runs) = self.concurrency {
            builder = builder.concurrency(to_usize(runs));
        }
        if let Some(runs) = self.queue {
            builder = builder.queue_limit(to_usize(runs));
        }
        builder
    }

    /// Returns the limits of a run, with defaults for missing keys.
    pub fn resolve(self) -> Limits {
        let mut limits = Limits::default();
        limits.timeout = self.timeout.unwrap_or(limits.timeout);
        limits.fuel = self.fuel.or(limits.fuel);
        limits.memory = self.memory.map_or(limits.memory, to_usize);
        limits.script = self.script.map_or(limits.script, to_usize);
        limits.logs = self.logs.map_or(limits.logs, to_usize);
        limits.result = self.result.map_or(limits.result, to_usize);
        limits.api_calls = self.api_calls.unwrap_or(limits.api_calls);
        limits
    }

    /// Returns the size of a result, a log and a page of a file in one response of `serve`.
    pub fn inline(&self) -> Option<usize> {
        self.inline.map(to_usize)
    }

    /// Returns the maximum size of one response of `serve`.
    pub fn response(&self) -> Option<usize> {
        self.response.map(to_usize)
    }

    /// Returns the limits of one tenant: by default a quarter of the engine's runs and of its queue.
    pub fn tenant(&self, disk_bytes: Option<u64>) -> TenantLimits {
        let default = TenantLimits::default();
        let runs = |own: Option<u64>, all: Option<u64>| own.or(all.map(|runs| runs / 4)).map(to_usize);
        let per_minute = self.tenant_per_minute.and_then(|runs| NonZeroU32::new(u32::try_from(runs).unwrap_or(u32::MAX)));
        default
            .with_concurrency(runs(self.tenant_concurrency, self.concurrency).unwrap_or(default.concurrency))
            .with_queue_limit(runs(self.tenant_queue, self.queue).unwrap_or(default.queue_limit))
            .with_requests_per_minute(per_minute.unwrap_or(default.requests_per_minute))
            .with_disk_bytes(disk_bytes.unwrap_or(default.disk_bytes))
    }
}
