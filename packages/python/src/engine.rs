//! `Engine`: runs scripts. Sandboxes share one unless they are given another.

use crate::errors;
use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};
use toolscript::engine::FileIo;

/// Runs scripts, with a limit on how many run and wait at the same time.
///
/// Sandboxes share one engine of the process unless you pass another. Each engine reserves 8 GiB of address space per concurrent run.
#[pyclass(frozen, module = "toolscript")]
pub struct Engine {
    pub engine: toolscript::Engine,
}

#[pymethods]
impl Engine {
    #[new]
    #[pyo3(signature = (*, concurrency = None, queue_limit = None))]
    fn new(py: Python<'_>, concurrency: Option<usize>, queue_limit: Option<usize>) -> PyResult<Self> {
        let mut builder = toolscript::Engine::builder();
        if let Some(runs) = concurrency {
            builder = builder.concurrency(runs);
        }
        if let Some(runs) = queue_limit {
            builder = builder.queue_limit(runs);
        }
        Ok(Self { engine: build(py, builder)? })
    }

    /// The number of runs that can execute at the same time. By default, four per core.
    #[getter]
    fn concurrency(&self) -> usize {
        self.engine.concurrency()
    }

    /// The number of runs that can wait. Further runs are rejected.
    #[getter]
    fn queue_limit(&self) -> usize {
        self.engine.queue_limit()
    }

    /// The number of runs that are executing now.
    #[getter]
    fn running(&self) -> usize {
        self.engine.running()
    }

    /// The number of runs that are waiting now.
    #[getter]
    fn waiting(&self) -> usize {
        self.engine.waiting()
    }

    fn __repr__(&self) -> String {
        format!("Engine(concurrency={}, queue_limit={})", self.engine.concurrency(), self.engine.queue_limit())
    }
}

/// Returns the engine of the process, which the first call builds.
pub fn default_engine(py: Python<'_>) -> PyResult<toolscript::Engine> {
    static ENGINE: Mutex<Option<toolscript::Engine>> = Mutex::new(None);
    // The GIL is not released while the lock is held, so that no other thread waits for both.
    let mut engine = ENGINE.lock().unwrap_or_else(PoisonError::into_inner);
    match &*engine {
        Some(engine) => Ok(engine.clone()),
        None => Ok(engine.insert(build(py, toolscript::Engine::builder())?).clone()),
    }
}

fn build(py: Python<'_>, builder: toolscript::EngineBuilder) -> PyResult<toolscript::Engine> {
    // A run is polled by its caller or by a task of a multi-threaded runtime. Both can block.
    builder.file_io(FileIo::BlockInPlace).build().map_err(|error| errors::with_causes(errors::engine_error_class(py), &error))
}
