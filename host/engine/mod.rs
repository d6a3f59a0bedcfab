//! wasmtime, wrapped: a pool of instances of the guest, each of which runs one script within its limits.
//!
//! All arithmetic on fuel, deadlines and memory is in here. An engine never trusts the guest: what it says is checked, cut or
//! refused by the host.

pub(crate) mod bridge;
mod config;
mod contract;
pub(crate) mod functions;
pub(crate) mod image;
mod limits;
mod meter;
mod outcome;
mod pool;
mod queue;
mod receipt;
mod report;
mod run;
mod script;

pub use bridge::{FileIo, Listener, Progress};
pub use limits::{InvalidLimit, Limits};
pub use outcome::{DecodeError, ErrorKind, Outcome, ScriptError};
pub use queue::RunQuota;
pub use receipt::{HostCalls, Receipt};
pub use run::{Run, RunRejected};
pub use script::{IoErrorMode, IoOptions, RunOptions, Script};

use bridge::FunctionProvider;
use functions::{Functions, InvalidFunction};
use queue::RunQueue;
use serde::{Serialize, de::DeserializeOwned};
use std::{fmt::Display, sync::Arc};
use wasmtime::component::{ComponentExportIndex, InstancePre, Linker};

/// Runs at once for each core: a run that waits for the host leaves its core to others.
const RUNS_PER_CORE: usize = 4;

/// Runs that may wait for a permit; each holds its script in memory.
const DEFAULT_QUEUE: usize = 1024;

/// Most runs at once: each takes some 8 GiB of address space.
const MAX_CONCURRENCY: usize = 4096;

/// More bytes than the image of the guest's memory has.
#[cfg(unix)]
const IMAGE: u64 = 8 << 20;

/// Runs scripts. Built once, shared by all; cloning is cheap.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

struct Shared {
    engine: wasmtime::Engine,
    guest: InstancePre<run::State>,
    run_export: ComponentExportIndex,
    turns: RunQueue,
    file_io: FileIo,
    tools: Option<Arc<dyn FunctionProvider>>,
}

impl Engine {
    /// An engine with the defaults of [`EngineBuilder`].
    ///
    /// # Errors
    ///
    /// See [`EngineBuilder::build`].
    pub fn new() -> Result<Self, EngineError> {
        Self::builder().build()
    }

    /// For an engine with settings of its own.
    #[must_use]
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }

    /// Runs that are under way.
    #[must_use]
    pub fn running(&self) -> usize {
        self.shared.turns.running()
    }

    /// Runs that wait for their turn, those that wait for one of their [`RunQuota`] left out.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.shared.turns.waiting()
    }
}

/// Settings of an engine.
///
/// The defaults:
/// - `concurrency`: four runs a core
/// - `queue`: 1,024 runs that wait
/// - `file_io`: [`FileIo::ThreadPool`]
/// - no functions
#[derive(Clone, Debug)]
pub struct EngineBuilder {
    concurrency: usize,
    queue: usize,
    file_io: FileIo,
    functions: Result<Functions, InvalidFunction>,
}

impl Default for EngineBuilder {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self { concurrency: cores * RUNS_PER_CORE, queue: DEFAULT_QUEUE, file_io: FileIo::default(), functions: Ok(Functions::new()) }
    }
}

impl EngineBuilder {
    /// How many runs there may be at once. Address space for all of them is reserved when the engine is built.
    #[must_use]
    pub fn concurrency(mut self, runs: usize) -> Self {
        self.concurrency = runs.clamp(1, MAX_CONCURRENCY);
        self
    }

    /// How many runs may wait for their turn; one more is refused at once.
    #[must_use]
    pub fn queue(mut self, runs: usize) -> Self {
        self.queue = runs;
        self
    }

    /// Where to do what scripts ask of their files, which may block.
    #[must_use]
    pub fn file_io(mut self, file_io: FileIo) -> Self {
        self.file_io = file_io;
        self
    }

    /// A function that all scripts may call as `sdk.` and its name; see [`Functions::with`].
    #[must_use]
    pub fn function<A, R, E>(mut self, name: &str, function: impl Fn(A) -> Result<R, E> + Send + Sync + 'static) -> Self
    where
        A: DeserializeOwned,
        R: Serialize,
        E: Display,
    {
        self.functions = self.functions.and_then(|functions| functions.with(name, function));
        self
    }

    /// The same for an async closure, whose future is dropped when the script's time is over; see [`Functions::with_async`].
    #[must_use]
    pub fn async_function<A, R, E, F>(mut self, name: &str, function: impl Fn(A) -> F + Send + Sync + 'static) -> Self
    where
        A: DeserializeOwned,
        R: Serialize,
        E: Display,
        F: Future<Output = Result<R, E>> + Send + 'static,
    {
        self.functions = self.functions.and_then(|functions| functions.with_async(name, function));
        self
    }

    /// How many runs there may be at once.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.concurrency
    }

    /// How many runs may wait for their turn.
    #[must_use]
    pub fn waiting_runs(&self) -> usize {
        self.queue
    }

    /// Loads the guest and reserves the pool.
    ///
    /// # Errors
    ///
    /// When a function can't have its name, the program was built without a guest, the CPU lacks what the guest was compiled for, or the address space can't be
    /// had.
    pub fn build(self) -> Result<Engine, EngineError> {
        check_file_size()?;
        let functions = self.functions?;
        let mut settings = wasmtime::Config::new();
        config::codegen(&mut settings);
        config::stacks(&mut settings);
        settings.allocation_strategy(pool::strategy(u32::try_from(self.concurrency).unwrap_or(u32::MAX)));
        let engine = wasmtime::Engine::new(&settings).map_err(|error| EngineError::Pool(format!("{error:#}")))?;
        let component = image::load(&engine)?;
        let unusable = |error: wasmtime::Error| EngineError::Contract(format!("{error:#}"));
        let run_export = component.get_export_index(None, "run").ok_or(EngineError::Contract("it has no export `run`".into()))?;
        let mut linker = Linker::new(&engine);
        bridge::add_to_linker(&mut linker).map_err(unusable)?;
        let guest = linker.instantiate_pre(&component).map_err(unusable)?;
        Ok(Engine {
            shared: Arc::new(Shared {
                engine,
                guest,
                run_export,
                turns: RunQueue::new(self.concurrency, self.queue),
                file_io: self.file_io,
                tools: (!functions.is_empty()).then(|| Arc::new(functions) as Arc<dyn FunctionProvider>),
            }),
        })
    }
}

/// The image of the guest's memory is a file in memory, and a process that passes its limit on file sizes is ended by a signal.
fn check_file_size() -> Result<(), EngineError> {
    #[cfg(unix)]
    if rustix::process::getrlimit(rustix::process::Resource::Fsize).current.is_some_and(|limit| limit < IMAGE) {
        return Err(EngineError::FileSize);
    }
    Ok(())
}

/// Why there is no engine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The package was built with `TOOLSCRIPT_GUEST=stub`, or for documentation.
    #[error("this build has no guest: it was made with TOOLSCRIPT_GUEST=stub; build it again without")]
    NoGuest,
    /// The box as a command of WASI's is not in this program.
    #[error("this program has no WASI flavour of its guest: it was built with TOOLSCRIPT_GUEST; build it without")]
    NoCommand,
    /// A function can't have its name.
    #[error(transparent)]
    Function(#[from] InvalidFunction),
    /// The guest was compiled for another CPU or another version of wasmtime.
    #[error("the guest can't be loaded on this machine: {0}; build it with TOOLSCRIPT_CPU=v1, or native")]
    Image(String),
    /// The guest is of another contract than this host; a component from `TOOLSCRIPT_GUEST` may be.
    #[error("the guest does not keep to the contract in wit/: {0}")]
    Contract(String),
    /// The process may not make files of the size that the guest's image has.
    #[error("the limit on file sizes is under 8 MiB, which the guest's image needs; raise it (ulimit -f)")]
    FileSize,
    /// The pool of instances can't be reserved.
    #[error("the pool of instances can't be reserved: {0}; lower the concurrency, or raise the limit on address space")]
    Pool(String),
}
