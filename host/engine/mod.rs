//! The engine: runs each script in a fresh instance of the guest, within the limits of the run.
//!
//! All arithmetic on fuel, deadlines and memory is in this module. The engine never trusts the guest: every value that the guest
//! returns is checked, and truncated or rejected, before the host uses it.

pub(crate) mod bridge;
mod builder;
mod check;
mod config;
mod contract;
mod error;
#[cfg(test)]
mod first_count_tests;
pub(crate) mod functions;
#[cfg(test)]
#[path = "../../tests/engine/hostile_guest/mod.rs"]
mod hostile_guest;
pub(crate) mod image;
mod limits;
mod meter;
mod options;
mod outcome;
mod pool;
mod queue;
mod receipt;
mod report;
mod run;
mod script;

pub use bridge::{FileIo, Listener, Progress};
pub use builder::EngineBuilder;
pub use check::{CheckMode, Definitions, Diagnostic, FunctionNames, NotChecked, ScriptWords, Severity};
pub use error::EngineError;
pub use limits::{InvalidLimit, Limits};
pub use options::{IoErrorMode, IoOptions, RunOptions};
pub use outcome::{DecodeError, ErrorKind, Outcome, ScriptError};
pub use queue::RunQuota;
pub use receipt::{HostCalls, Receipt};
pub use run::{Run, RunRejected};
pub use script::Script;

use bridge::FunctionProvider;
use queue::RunQueue;
use std::{fmt, sync::Arc};
use wasmtime::component::{ComponentExportIndex, InstancePre};

/// Runs scripts. Build one engine and share it: clones are cheap and refer to the same engine.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

struct Shared {
    engine: wasmtime::Engine,
    guest: InstancePre<run::RunState>,
    run_export: ComponentExportIndex,
    checker: check::Checker,
    queue: RunQueue,
    file_io: FileIo,
    functions: Option<Arc<dyn FunctionProvider>>,
}

impl Engine {
    /// Builds an engine with the defaults of [`EngineBuilder`].
    ///
    /// # Errors
    ///
    /// See [`EngineBuilder::build`].
    pub fn new() -> Result<Self, EngineError> {
        Self::builder().build()
    }

    /// Returns a builder with the default settings.
    #[must_use]
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }

    /// Returns the number of runs that can execute at the same time.
    #[must_use]
    pub fn concurrency(&self) -> usize {
        self.shared.queue.concurrency()
    }

    /// Returns the number of runs that can wait in the queue.
    #[must_use]
    pub fn queue_limit(&self) -> usize {
        self.shared.queue.queue_limit()
    }

    /// Returns the number of runs that are executing now.
    #[must_use]
    pub fn running(&self) -> usize {
        self.shared.queue.running()
    }

    /// Returns the number of runs that are waiting in the queue now. Runs that wait for their [`RunQuota`] are not included.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.shared.queue.waiting()
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("queue", &self.shared.queue).field("file_io", &self.shared.file_io).finish_non_exhaustive()
    }
}
