//! The options of a run.

use super::{
    bridge::{FunctionProvider, Listener},
    check::CheckMode,
    contract::OsErrorMode,
    limits::Limits,
    queue::RunQuota,
};
use crate::files::{FileSession, Files, WriteBudget};
use std::{fmt, sync::Arc};
use tokio_util::sync::CancellationToken;

/// The options of a run.
///
/// The defaults:
/// - `limits`: [`Limits::default`]
/// - `io`: no files
/// - `cancellation`: a new token
/// - `listener`: none
/// - `seed`: a random number
/// - `quota`: none
/// - `functions`: those of the engine
/// - `check`: off
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct RunOptions {
    /// The limits of the run.
    pub limits: Limits,
    /// The files that the script can access. Without it, scripts have no `io`, no `file`, no `os.remove` and no `os.rename`.
    pub io: Option<IoOptions>,
    /// The token that stops the run. The outcome then contains the logs and files up to that point.
    pub cancellation: CancellationToken,
    /// The receiver of log lines and progress while the script runs.
    pub listener: Option<Arc<dyn Listener>>,
    /// The seed of `math.random`, for reproducible runs.
    pub seed: Option<u64>,
    /// The quota that the run counts against, in addition to the limits of the engine.
    pub quota: Option<RunQuota>,
    /// The functions that the script can call as `sdk.name(...)`. They replace those of the engine.
    pub functions: Option<Arc<dyn FunctionProvider>>,
    /// The check before the run. It has its own limits, and its time does not count.
    pub check: CheckMode,
}

impl RunOptions {
    /// Sets the limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the files that the script can access.
    #[must_use]
    pub fn with_io(mut self, io: IoOptions) -> Self {
        self.io = Some(io);
        self
    }

    /// Sets the token that stops the run.
    #[must_use]
    pub fn with_cancellation(mut self, cancellation: CancellationToken) -> Self {
        self.cancellation = cancellation;
        self
    }

    /// Sets the receiver of log lines and progress.
    #[must_use]
    pub fn with_listener(mut self, listener: Arc<dyn Listener>) -> Self {
        self.listener = Some(listener);
        self
    }

    /// Sets the seed of `math.random`.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Sets the quota that the run counts against.
    #[must_use]
    pub fn with_quota(mut self, quota: RunQuota) -> Self {
        self.quota = Some(quota);
        self
    }

    /// Sets the functions, for example [`Functions`](crate::Functions).
    #[must_use]
    pub fn with_functions(mut self, functions: impl FunctionProvider + 'static) -> Self {
        self.functions = Some(Arc::new(functions));
        self
    }

    /// Sets whether mistakes are looked for before the script runs.
    #[must_use]
    pub fn with_check(mut self, check: CheckMode) -> Self {
        self.check = check;
        self
    }
}

impl fmt::Debug for RunOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { limits, io, cancellation, listener, seed, quota, functions, check } = self;
        f.debug_struct("RunOptions")
            .field("limits", limits)
            .field("io", io)
            .field("cancellation", cancellation)
            .field("listener", &listener.is_some())
            .field("seed", seed)
            .field("quota", quota)
            .field("functions", &functions.is_some())
            .field("check", check)
            .finish()
    }
}

/// The io directory of a run and its limits.
///
/// The defaults:
/// - `max_bytes`: 50 MiB
/// - `max_files`: 10,000
/// - `errors`: [`IoErrorMode::Raise`]
/// - `modules`: none
/// - names that other programs execute or trust are protected
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct IoOptions {
    /// The io directory.
    pub files: Files,
    /// The number of bytes that the run can write in total. Rewritten bytes and holes made by `seek` count.
    pub max_bytes: u64,
    /// The number of files that the run can create, and the number of directories.
    pub max_files: u64,
    /// The behaviour when the operating system returns an error.
    pub errors: IoErrorMode,
    /// A directory in which `require` looks for modules before it looks in the io directory. Scripts can't access it in another way.
    pub modules: Option<Files>,
}

/// The behaviour of the `io` library when the operating system returns an error. Invalid paths and limits always raise an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum IoErrorMode {
    /// Raises an error.
    #[default]
    Raise,
    /// Returns `nil, message, number`, as in Lua.
    Return,
}

impl From<Files> for IoOptions {
    /// Uses the default limits.
    fn from(files: Files) -> Self {
        Self::new(files)
    }
}

impl IoOptions {
    /// Gives access to a directory with the default limits.
    #[must_use]
    pub fn new(files: Files) -> Self {
        let budget = WriteBudget::default();
        Self { files, max_bytes: budget.max_bytes(), max_files: budget.max_files(), errors: IoErrorMode::default(), modules: None }
    }

    /// Sets the number of bytes that the run can write in total.
    #[must_use]
    pub fn with_max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Sets the number of files that the run can create, and the number of directories.
    #[must_use]
    pub fn with_max_files(mut self, files: u64) -> Self {
        self.max_files = files;
        self
    }

    /// Sets the behaviour when the operating system returns an error.
    #[must_use]
    pub fn with_errors(mut self, errors: IoErrorMode) -> Self {
        self.errors = errors;
        self
    }

    /// Sets a directory in which `require` looks for modules before it looks in the io directory.
    #[must_use]
    pub fn with_modules(mut self, modules: Files) -> Self {
        self.modules = Some(modules);
        self
    }

    /// Sets whether names that other programs execute or trust are protected; see [`Files::with_protected_names`].
    #[must_use]
    pub fn with_protected_names(mut self, protect: bool) -> Self {
        self.files = self.files.with_protected_names(protect);
        self
    }

    /// Returns a new write budget for one run or for one file operation.
    #[must_use]
    pub fn write_budget(&self) -> WriteBudget {
        WriteBudget::new(self.max_bytes, self.max_files)
    }

    /// Returns a new session for one run.
    pub(super) fn session(&self) -> FileSession {
        FileSession::new(self.files.clone(), self.modules.clone(), self.write_budget())
    }

    /// Returns `errors` as a type of the WIT contract.
    pub(super) fn os_error_mode(&self) -> OsErrorMode {
        match self.errors {
            IoErrorMode::Raise => OsErrorMode::Raise,
            IoErrorMode::Return => OsErrorMode::Return,
        }
    }
}
