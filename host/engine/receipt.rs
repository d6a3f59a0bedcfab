//! What a run cost. For operators and callers, never for a model.

use super::outcome::ErrorKind;
use serde::Serialize;

/// What a run cost, and the limit that stopped it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Receipt {
    /// Fuel burnt, host calls included.
    pub fuel: u64,
    /// Microseconds from the permit to the end.
    pub microseconds: u64,
    /// The most bytes that all memories of the instance had together.
    pub memory_peak: u64,
    /// Bytes of log lines that were kept.
    pub log_bytes: u64,
    /// Bytes of the result.
    pub result_bytes: u64,
    /// Bytes read from files.
    pub bytes_read: u64,
    /// Bytes that counted against the run's write limit: written, written again, or skipped over.
    pub bytes_written: u64,
    /// Files made.
    pub files_created: u64,
    /// Calls from the guest to the host.
    pub host_calls: HostCalls,
    /// The limit that stopped the run, by the name of its error kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<ErrorKind>,
}

/// Calls from the guest to the host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct HostCalls {
    /// How many.
    pub count: u64,
    /// Microseconds spent in them.
    pub microseconds: u64,
}
