//! The limits of each tenant.

use crate::EngineBuilder;
use std::num::NonZeroU32;

/// The limits of each tenant of a server with [authentication](super::HttpOptions::with_auth).
///
/// The defaults:
/// - `concurrency`: a quarter of [`EngineBuilder::default_concurrency`], which is one run per core
/// - `queue_limit`: a quarter of [`EngineBuilder::DEFAULT_QUEUE_LIMIT`], which is 256 runs
/// - `requests_per_minute`: 600
/// - `disk_bytes`: 1 GiB
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TenantLimits {
    /// The number of runs that can execute at the same time. 0 counts as 1.
    pub concurrency: usize,
    /// The number of runs that can wait in the queue. Further runs are rejected at once.
    pub queue_limit: usize,
    /// The number of runs, file operations and documentation lookups that can start per minute.
    pub requests_per_minute: NonZeroU32,
    /// The quota on all files of the tenant, in bytes.
    pub disk_bytes: u64,
}

impl Default for TenantLimits {
    fn default() -> Self {
        const REQUESTS_PER_MINUTE: NonZeroU32 = NonZeroU32::new(600).unwrap();
        Self {
            concurrency: EngineBuilder::default_concurrency() / 4,
            queue_limit: EngineBuilder::DEFAULT_QUEUE_LIMIT / 4,
            requests_per_minute: REQUESTS_PER_MINUTE,
            disk_bytes: 1 << 30,
        }
    }
}

impl TenantLimits {
    /// Sets the number of runs that can execute at the same time. 0 counts as 1.
    #[must_use]
    pub fn with_concurrency(mut self, runs: usize) -> Self {
        self.concurrency = runs;
        self
    }

    /// Sets the number of runs that can wait in the queue. Further runs are rejected at once.
    #[must_use]
    pub fn with_queue_limit(mut self, runs: usize) -> Self {
        self.queue_limit = runs;
        self
    }

    /// Sets the number of runs, file operations and documentation lookups that can start per minute.
    #[must_use]
    pub fn with_requests_per_minute(mut self, requests: NonZeroU32) -> Self {
        self.requests_per_minute = requests;
        self
    }

    /// Sets the quota on all files of the tenant, in bytes.
    #[must_use]
    pub fn with_disk_bytes(mut self, bytes: u64) -> Self {
        self.disk_bytes = bytes;
        self
    }
}
