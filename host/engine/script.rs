//! What to run, and how this once.

use super::{contract::OsErrorMode, limits::Limits, queue::RunQuota};
use crate::{
    engine::bridge::{FunctionProvider, Listener},
    files::{FileSession, Files, WriteBudget},
};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// A script and its arguments.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Script {
    /// Luau source text. Bytes, as the guest decides whether they are text.
    pub source: Vec<u8>,
    /// What the script gets as `...`.
    pub arguments: Vec<String>,
}

impl Script {
    /// A script without arguments.
    pub fn new(source: impl Into<Vec<u8>>) -> Self {
        Self { source: source.into(), arguments: Vec::new() }
    }

    /// The same script with these arguments.
    #[must_use]
    pub fn with_arguments(mut self, arguments: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.arguments = arguments.into_iter().map(Into::into).collect();
        self
    }
}

/// How to run a script this once.
///
/// The defaults: the limits of [`Limits::default`], no files, a token that nobody cancels, nobody listening, a seed from the system, no
/// share, the functions of the engine.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct RunOptions {
    /// The limits of this run.
    pub limits: Limits,
    /// The files that the script may use; without it there are no `io`, no `file` and no `os.remove`.
    pub io: Option<IoOptions>,
    /// Cancelling it stops the run, which then reports what was done so far.
    pub cancellation: CancellationToken,
    /// Hears of log lines and progress as they come.
    pub listener: Option<Arc<dyn Listener>>,
    /// Seeds `math.random`, for a run that can be repeated.
    pub seed: Option<u64>,
    /// The part of the engine's runs that this one belongs to; without it, it may be any.
    pub quota: Option<RunQuota>,
    /// The functions that the script may call as `sdk.…`; without it, those of the engine.
    pub functions: Option<Arc<dyn FunctionProvider>>,
}

impl RunOptions {
    /// The same options with these limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The same options with these files.
    #[must_use]
    pub fn with_io(mut self, io: IoOptions) -> Self {
        self.io = Some(io);
        self
    }

    /// The same options with this token.
    #[must_use]
    pub fn with_cancellation(mut self, cancellation: CancellationToken) -> Self {
        self.cancellation = cancellation;
        self
    }

    /// The same options with this listener.
    #[must_use]
    pub fn with_listener(mut self, listener: Arc<dyn Listener>) -> Self {
        self.listener = Some(listener);
        self
    }

    /// The same options with this share.
    #[must_use]
    pub fn with_quota(mut self, share: RunQuota) -> Self {
        self.quota = Some(share);
        self
    }

    /// The same options with these functions, such as [`Functions`](crate::Functions).
    #[must_use]
    pub fn with_functions(mut self, functions: impl FunctionProvider + 'static) -> Self {
        self.functions = Some(Arc::new(functions));
        self
    }

    /// The same options with this seed.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }
}

/// The files of a run: which they are, how much of them, and how refusals are told.
///
/// The defaults: 50 MiB written, 10,000 files made, refusals raise.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct IoOptions {
    /// The directory.
    pub files: Files,
    /// Bytes that the run may write: cumulative, rewrites count, holes made by `seek` count.
    pub max_bytes: u64,
    /// Files that the run may make, and as many folders.
    pub max_files: u64,
    /// What happens when the operating system refuses a call.
    pub errors: IoErrorMode,
}

/// What a script sees when the operating system refuses a call on files. Bad paths and limits always raise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum IoErrorMode {
    /// An error.
    #[default]
    Raise,
    /// `nil, message, number`, as in Lua.
    Return,
}

impl From<Files> for IoOptions {
    /// The files of a directory, with the default limits.
    fn from(files: Files) -> Self {
        Self::new(files)
    }
}

impl IoOptions {
    /// The files of a directory, with the default limits.
    #[must_use]
    pub fn new(files: Files) -> Self {
        let budget = WriteBudget::default();
        Self { files, max_bytes: budget.max_bytes(), max_files: budget.max_files(), errors: IoErrorMode::default() }
    }

    /// Returns a new write budget for one run or one file operation.
    #[must_use]
    pub fn write_budget(&self) -> WriteBudget {
        WriteBudget::new(self.max_bytes, self.max_files)
    }

    /// A session for one run.
    pub(super) fn session(&self) -> FileSession {
        FileSession::new(self.files.clone(), self.write_budget())
    }

    /// What the guest is told.
    pub(super) fn refusals(&self) -> OsErrorMode {
        match self.errors {
            IoErrorMode::Raise => OsErrorMode::Raise,
            IoErrorMode::Return => OsErrorMode::Return,
        }
    }
}
