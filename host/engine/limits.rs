//! The limits of a run. Every limit is on by default.

use std::time::Duration;

/// Default wall time of a run. It bounds how long a script can occupy its permit, its instance and its caller.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// Longest wall time that a run can have: one day.
const MAX_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// Fuel that the fastest scripts without large copies burn per second, rounded. `docs/performance.md` has the measurements.
const FUEL_PER_SECOND: u64 = 10_000_000_000;

/// Factor on [`FUEL_PER_SECOND`] for machines that are faster than the measured one, and for library functions that burn more fuel.
/// It makes a busy run reach its timeout before it runs out of fuel.
const FUEL_HEADROOM: u64 = 4;

/// Default size in bytes of all memories of an instance: heap, stacks and the exception heap.
const DEFAULT_MEMORY: usize = 64 << 20;

/// Smallest memory limit. The initial image of the guest does not fit into less.
const MIN_MEMORY: usize = 4 << 20;

/// Largest memory limit: the size of a 32-bit address space.
pub const MAX_MEMORY: usize = 4 << 30;

/// Default size in bytes of the script, which the host copies into the guest.
const DEFAULT_SCRIPT: usize = 1 << 20;

/// Default size in bytes of the log lines that the host keeps. Each line counts as its text plus [`LOG_LINE_OVERHEAD`].
const DEFAULT_LOGS: usize = 1 << 20;

/// Bytes that each log line costs in addition to its text: the size of the host's `String`. It bounds the number of empty lines.
pub const LOG_LINE_OVERHEAD: usize = 24;

/// Default size in bytes of the JSON result, which the host copies out of the guest.
const DEFAULT_RESULT: usize = 1 << 20;

/// Default number of function calls. Each can be a request that the host sends on behalf of the script.
const DEFAULT_API_CALLS: u64 = 1000;

/// Nesting depth of a result. A JSON reader may recurse once per level.
pub const MAX_RESULT_DEPTH: usize = 128;

/// Size in bytes of an error message and of a traceback, which the host copies out of the guest.
pub const MAX_ERROR_TEXT: usize = 8 << 10;

/// Total size in bytes of the arguments of a script, which the host copies into the guest.
pub const MAX_ARGUMENTS: usize = 1 << 20;

/// Total size in bytes of the environment values of a script, which the host copies into the guest.
pub const MAX_ENVIRONMENT: usize = 256 << 10;

/// The limits of a run.
///
/// The defaults:
/// - `timeout`: 30 s
/// - `fuel`: `None`, so that it scales with `timeout`; see [`effective_fuel`](Self::effective_fuel)
/// - `memory`: 64 MiB
/// - `script`, `logs`, `result`: 1 MiB each
/// - `api_calls`: 1,000
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The wall time, counted from the moment when the run leaves the queue.
    pub timeout: Duration,
    /// The fuel, 10 units for each iteration of a loop in the guest. A Luau instruction is at least one. `None` scales with `timeout`.
    pub fuel: Option<u64>,
    /// The size in bytes of all memories of the instance together.
    pub memory: usize,
    /// The size in bytes of the script.
    pub script: usize,
    /// The size in bytes of the log lines. Logs over the limit are truncated, and the outcome is flagged.
    pub logs: usize,
    /// The size in bytes of the result as JSON. A larger result fails the run.
    pub result: usize,
    /// The number of function calls. The call after the last one ends the run.
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
    /// Sets the wall time.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets the fuel, 10 units for each iteration of a loop in the guest.
    #[must_use]
    pub fn with_fuel(mut self, fuel: u64) -> Self {
        self.fuel = Some(fuel);
        self
    }

    /// Sets the size in bytes of all memories of the instance together.
    #[must_use]
    pub fn with_memory(mut self, bytes: usize) -> Self {
        self.memory = bytes;
        self
    }

    /// Sets the size in bytes of the script.
    #[must_use]
    pub fn with_script(mut self, bytes: usize) -> Self {
        self.script = bytes;
        self
    }

    /// Sets the size in bytes of the log lines.
    #[must_use]
    pub fn with_logs(mut self, bytes: usize) -> Self {
        self.logs = bytes;
        self
    }

    /// Sets the size in bytes of the result as JSON.
    #[must_use]
    pub fn with_result(mut self, bytes: usize) -> Self {
        self.result = bytes;
        self
    }

    /// Sets the number of function calls.
    #[must_use]
    pub fn with_api_calls(mut self, calls: u64) -> Self {
        self.api_calls = calls;
        self
    }

    /// Returns the fuel of a run: `fuel` if it is set, otherwise 40 billion units per second of `timeout`.
    #[must_use]
    pub fn effective_fuel(&self) -> u64 {
        self.fuel.unwrap_or_else(|| {
            let microseconds = u64::try_from(self.timeout.as_micros()).unwrap_or(u64::MAX).max(1);
            microseconds.saturating_mul(FUEL_PER_SECOND / 1_000_000).saturating_mul(FUEL_HEADROOM)
        })
    }

    /// Checks that a run is possible within these limits.
    ///
    /// # Errors
    ///
    /// Returns the first limit that is out of range.
    pub fn check(&self) -> Result<(), InvalidLimit> {
        if self.timeout.is_zero() || self.timeout > MAX_TIMEOUT {
            return Err(InvalidLimit::Timeout);
        }
        if self.fuel == Some(0) {
            return Err(InvalidLimit::Fuel);
        }
        if !(MIN_MEMORY..=MAX_MEMORY).contains(&self.memory) {
            return Err(InvalidLimit::Memory);
        }
        Ok(())
    }
}

/// A limit that is out of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidLimit {
    /// The wall time is zero, or longer than a day.
    #[error("timeout must be more than 0 and at most 86400 seconds")]
    Timeout,
    /// The fuel is zero.
    #[error("fuel must be more than 0")]
    Fuel,
    /// The memory is smaller than 4 MiB or larger than 4 GiB.
    #[error("memory must be between 4 MiB and 4096 MiB")]
    Memory,
}

#[cfg(test)]
mod tests {
    use super::{InvalidLimit, Limits};
    use std::time::Duration;

    #[test]
    fn each_setter_changes_its_own_limit() {
        let limits = Limits::default()
            .with_timeout(Duration::from_secs(1))
            .with_fuel(2)
            .with_memory(3)
            .with_script(4)
            .with_logs(5)
            .with_result(6)
            .with_api_calls(7);
        let expected = Limits { timeout: Duration::from_secs(1), fuel: Some(2), memory: 3, script: 4, logs: 5, result: 6, api_calls: 7 };
        assert_eq!(limits, expected);
    }

    #[test]
    fn limits_at_the_edge_of_their_range_are_accepted() {
        let check = |limits: Limits| limits.check();
        assert_eq!(check(Limits::default().with_timeout(Duration::from_secs(86_400)).with_fuel(1).with_memory(4 << 20)), Ok(()));
        assert_eq!(check(Limits::default().with_memory(4 << 30)), Ok(()));
        assert_eq!(check(Limits::default().with_timeout(Duration::from_secs(86_401))), Err(InvalidLimit::Timeout));
        assert_eq!(check(Limits::default().with_fuel(0)), Err(InvalidLimit::Fuel));
        assert_eq!(check(Limits::default().with_memory((4 << 20) - 1)), Err(InvalidLimit::Memory));
        assert_eq!(check(Limits::default().with_memory((4 << 30) + 1)), Err(InvalidLimit::Memory));
    }
}
