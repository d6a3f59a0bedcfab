//! The cost of a run. It is for operators and callers, and is not shown to a model.

use super::outcome::ErrorKind;
use serde::Serialize;

/// The cost of a run, and the limit that stopped it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Receipt {
    /// The fuel that the run used, including the price of host calls.
    pub fuel: u64,
    /// The wall time in microseconds, counted from the moment when the run left the queue.
    pub microseconds: u64,
    /// The peak size in bytes of all memories of the instance together.
    pub memory_peak: u64,
    /// The size in bytes of the log lines that were kept.
    pub log_bytes: u64,
    /// The size in bytes of the result.
    pub result_bytes: u64,
    /// The number of bytes read from files.
    pub bytes_read: u64,
    /// The number of bytes that counted against the write limit, including rewritten bytes and holes made by `seek`.
    pub bytes_written: u64,
    /// The number of files created.
    pub files_created: u64,
    /// The calls from the guest to the host.
    pub host_calls: HostCalls,
    /// The limit that stopped the run, as the kind of its error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<ErrorKind>,
}

/// Statistics on the calls from the guest to the host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct HostCalls {
    /// The number of calls.
    pub count: u64,
    /// The time in microseconds that the calls took.
    pub microseconds: u64,
}
