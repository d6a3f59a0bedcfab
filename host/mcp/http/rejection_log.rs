//! The log of rejected requests, for operators.
//!
//! It contains the reason and nothing that the client sent. Its rate is bounded, because everyone who reaches the server can cause lines.

use axum::http::StatusCode;
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use std::{
    num::NonZeroU32,
    sync::atomic::{AtomicU64, Ordering},
};

/// The maximum number of lines per minute.
const LINES_PER_MINUTE: NonZeroU32 = NonZeroU32::new(60).unwrap();

/// Logs rejected requests.
pub struct RejectionLog {
    rate_limit: DefaultDirectRateLimiter,
    /// The rejections since the last line that were not logged.
    skipped: AtomicU64,
}

impl Default for RejectionLog {
    fn default() -> Self {
        Self { rate_limit: RateLimiter::direct(Quota::per_minute(LINES_PER_MINUTE)), skipped: AtomicU64::new(0) }
    }
}

impl RejectionLog {
    /// Logs that a request was rejected.
    pub fn add(&self, status: StatusCode, reason: &str) {
        let status = status.as_u16();
        if self.rate_limit.check().is_err() {
            self.skipped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        match self.skipped.swap(0, Ordering::Relaxed) {
            0 => tracing::warn!(status, "rejected a request: {reason}"),
            skipped => tracing::warn!(status, skipped, "rejected a request: {reason}"),
        }
    }
}
