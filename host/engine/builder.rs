//! Builds an engine from its settings.

use super::{
    Engine, Shared,
    bridge::{self, FileIo, FunctionProvider},
    check::Checker,
    config,
    error::EngineError,
    functions::{Functions, InvalidFunctionName},
    image, pool,
    queue::RunQueue,
};
use serde::{Serialize, de::DeserializeOwned};
use std::{fmt::Display, num::NonZero, sync::Arc};
use wasmtime::component::{Component, Linker};

/// Default number of concurrent runs per core. A run that waits for the host leaves its core to the others.
const RUNS_PER_CORE: usize = 4;

/// Smallest limit on file sizes that the engine accepts. The memory image of the guest is smaller.
#[cfg(unix)]
const MIN_FILE_SIZE_LIMIT: u64 = 8 << 20;

/// The settings of an [`Engine`].
///
/// The defaults:
/// - `concurrency`: four runs per core
/// - `queue_limit`: 1,024 waiting runs
/// - `file_io`: [`FileIo::ThreadPool`]
/// - no functions
#[derive(Clone, Debug)]
pub struct EngineBuilder {
    concurrency: usize,
    queue_limit: usize,
    file_io: FileIo,
    functions: Result<Functions, InvalidFunctionName>,
}

impl Default for EngineBuilder {
    fn default() -> Self {
        Self {
            concurrency: Self::default_concurrency(),
            queue_limit: Self::DEFAULT_QUEUE_LIMIT,
            file_io: FileIo::default(),
            functions: Ok(Functions::new()),
        }
    }
}

impl EngineBuilder {
    /// The largest number of concurrent runs. Each reserves about 12 GiB of address space.
    pub const MAX_CONCURRENCY: usize = 4096;

    /// The default number of runs that can wait in the queue. Each keeps its script in memory.
    pub const DEFAULT_QUEUE_LIMIT: usize = 1024;

    /// Returns the default number of concurrent runs: four per core.
    #[must_use]
    pub fn default_concurrency() -> usize {
        std::thread::available_parallelism().map_or(1, NonZero::get) * RUNS_PER_CORE
    }

    /// Sets the number of runs that can execute at the same time, from 1 to [`MAX_CONCURRENCY`](Self::MAX_CONCURRENCY).
    ///
    /// The engine reserves the address space for all of them when it is built.
    #[must_use]
    pub fn concurrency(mut self, runs: usize) -> Self {
        self.concurrency = runs.clamp(1, Self::MAX_CONCURRENCY);
        self
    }

    /// Returns the number of runs that can execute at the same time.
    #[cfg(feature = "cli")]
    pub(crate) fn planned_concurrency(&self) -> usize {
        self.concurrency
    }

    /// Sets the number of runs that can wait in the queue. Further runs are rejected at once.
    #[must_use]
    pub fn queue_limit(mut self, runs: usize) -> Self {
        self.queue_limit = runs;
        self
    }

    /// Sets the thread on which file operations of scripts block.
    #[must_use]
    pub fn file_io(mut self, file_io: FileIo) -> Self {
        self.file_io = file_io;
        self
    }

    /// Adds a function that all scripts can call as `sdk.name(...)`; see [`Functions::with_function`].
    #[must_use]
    pub fn function<A, R, E>(mut self, name: &str, function: impl Fn(A) -> Result<R, E> + Send + Sync + 'static) -> Self
    where
        A: DeserializeOwned,
        R: Serialize,
        E: Display + 'static,
    {
        self.functions = self.functions.and_then(|functions| functions.with_function(name, function));
        self
    }

    /// Adds an async function that all scripts can call as `sdk.name(...)`; see [`Functions::with_async_function`].
    #[must_use]
    pub fn async_function<A, R, E, F>(mut self, name: &str, function: impl Fn(A) -> F + Send + Sync + 'static) -> Self
    where
        A: DeserializeOwned,
        R: Serialize,
        E: Display + 'static,
        F: Future<Output = Result<R, E>> + Send + 'static,
    {
        self.functions = self.functions.and_then(|functions| functions.with_async_function(name, function));
        self
    }

    /// Loads the guest and reserves the pool of instances.
    ///
    /// # Errors
    ///
    /// Returns an error if a function has an invalid name, if the program was built without a guest, if the CPU lacks an instruction
    /// that the guest was compiled for, or if the address space can't be reserved.
    pub fn build(self) -> Result<Engine, EngineError> {
        self.build_with(image::load)
    }

    /// Builds an engine with the guest that a function loads.
    pub(crate) fn build_with(self, load: fn(&wasmtime::Engine) -> Result<Component, EngineError>) -> Result<Engine, EngineError> {
        check_file_size_limit()?;
        let functions = self.functions?;
        let mut settings = wasmtime::Config::new();
        config::codegen(&mut settings);
        config::stacks(&mut settings);
        settings.allocation_strategy(pool::strategy(u32::try_from(self.concurrency).unwrap_or(u32::MAX)));
        let engine = wasmtime::Engine::new(&settings).map_err(EngineError::Pool)?;
        let component = load(&engine)?;
        let no_run_export = || EngineError::Contract(wasmtime::Error::msg("it has no export `run`"));
        let run_export = component.get_export_index(None, "run").ok_or_else(no_run_export)?;
        let mut linker = Linker::new(&engine);
        bridge::add_to_linker(&mut linker).map_err(EngineError::Contract)?;
        let guest = linker.instantiate_pre(&component).map_err(EngineError::Contract)?;
        Ok(Engine {
            shared: Arc::new(Shared {
                engine,
                guest,
                run_export,
                checker: Checker::default(),
                queue: RunQueue::new(self.concurrency, self.queue_limit),
                file_io: self.file_io,
                functions: (!functions.is_empty()).then(|| Arc::new(functions) as Arc<dyn FunctionProvider>),
            }),
        })
    }
}

/// Checks the limit on file sizes. The memory image of the guest is an in-memory file, and exceeding the limit kills the process
/// with a signal.
fn check_file_size_limit() -> Result<(), EngineError> {
    #[cfg(unix)]
    if rustix::process::getrlimit(rustix::process::Resource::Fsize).current.is_some_and(|limit| limit < MIN_FILE_SIZE_LIMIT) {
        return Err(EngineError::FileSizeLimit);
    }
    Ok(())
}
