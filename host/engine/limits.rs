//! What a run may use. Every limit is on by default.

use std::time::Duration;

/// Wall time of a run. Bounds how long a script may hold its permit, its instance and its caller.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// Longest wall time that can be asked for: a day. Beyond that, a run is a daemon.
const MAX_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// Fuel that the fastest loops of pure Luau burn in a second, measured as `docs/performance.md` tells.
const FUEL_PER_SECOND: u64 = 10_000_000_000;

/// How much faster than that machine a machine may be, or how much more fuel its instructions may cost, before fuel ends a
/// run earlier than its wall time does.
const FUEL_HEADROOM: u64 = 4;

/// Bytes of all memories of an instance: the heap, the stacks and what the script keeps in them.
const DEFAULT_MEMORY: usize = 64 << 20;

/// Below this, the image of the guest itself does not fit.
const MIN_MEMORY: usize = 4 << 20;

/// A 32-bit memory ends here.
pub const MAX_MEMORY: usize = 4 << 30;

/// Bytes of script text, which the host copies into the guest.
const DEFAULT_SCRIPT: usize = 1 << 20;

/// Bytes of log lines that the host keeps: each line costs its text and [`LOG_LINE_OVERHEAD`].
const DEFAULT_LOGS: usize = 1 << 20;

/// What an empty log line costs: the host's own bookkeeping for it.
pub const LOG_LINE_OVERHEAD: usize = 24;

/// Bytes of JSON that the host copies out of the guest as the result.
const DEFAULT_RESULT: usize = 1 << 20;

/// Calls of functions by a run: requests that the host makes on a script's behalf.
const DEFAULT_API_CALLS: u64 = 100;

/// Nesting of a result: a reader may recurse once for each level.
pub const RESULT_DEPTH: usize = 128;

/// Bytes of an error's message and of its traceback that the host copies out of the guest.
pub const ERROR_TEXT: usize = 8 << 10;

/// Bytes of all arguments of a script together, which the host copies into the guest.
pub const ARGUMENTS: usize = 1 << 20;

/// The limits of a run.
///
/// The defaults:
/// - `timeout`: 30 s
/// - `fuel`: none of its own; [`Limits::effective_fuel`] scales it with `timeout`
/// - `memory`: 64 MiB
/// - `script`, `logs`, `result`: 1 MiB each
/// - `api_calls`: 100
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Wall time, from the moment the run has its permit.
    pub timeout: Duration,
    /// Fuel, about an instruction each; `None` scales with `timeout`.
    pub fuel: Option<u64>,
    /// Bytes of all memories of the instance together.
    pub memory: usize,
    /// Bytes of script text.
    pub script: usize,
    /// Bytes of log lines; what is over it is cut, and the outcome says so.
    pub logs: usize,
    /// Bytes of the result as JSON; a larger one is an error.
    pub result: usize,
    /// Calls of functions; one more raises an error.
    pub api_calls: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            timeout: DEFAULT_TIMEOUT,
            fuel: None,
            memory: DEFAULT_MEMORY,
            script: DEFAULT_SCRIPT,
            logs: DEFAULT_LOGS,
            result: DEFAULT_RESULT,
            api_calls: DEFAULT_API_CALLS,
        }
    }
}

impl Limits {
    /// The fuel of a run: as set, or four times what pure Luau burns in the wall time.
    #[must_use]
    pub fn effective_fuel(&self) -> u64 {
        self.fuel.unwrap_or_else(|| {
            let microseconds = u64::try_from(self.timeout.as_micros()).unwrap_or(u64::MAX).max(1);
            microseconds.saturating_mul(FUEL_PER_SECOND / 1_000_000).saturating_mul(FUEL_HEADROOM)
        })
    }

    /// Names the first limit that no run could work with.
    ///
    /// # Errors
    ///
    /// When the wall time is nothing or over a day, the fuel is nothing, or the memory is under 4 MiB or over 4 GiB.
    pub fn check(&self) -> Result<(), InvalidLimit> {
        if self.timeout.is_zero() || self.timeout > MAX_TIMEOUT {
            return Err(InvalidLimit("timeout must be more than 0 and at most 86400 seconds"));
        }
        if self.fuel == Some(0) {
            return Err(InvalidLimit("fuel must be more than 0"));
        }
        if !(MIN_MEMORY..=MAX_MEMORY).contains(&self.memory) {
            return Err(InvalidLimit("memory must be between 4 MiB and 4096 MiB"));
        }
        Ok(())
    }
}

/// A limit that no run could work with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidLimit(pub(crate) &'static str);
