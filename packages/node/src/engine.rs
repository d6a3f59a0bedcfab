//! The engine that runs scripts. Sandboxes share one unless they are given another.

use crate::errors::Failure;
use napi_derive::napi;
use serde::Deserialize;
use std::sync::{Mutex, PoisonError};
use toolscript::engine::FileIo;

/// An engine with settings of its own.
#[napi]
pub struct NativeEngine {
    pub(crate) engine: toolscript::Engine,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct EngineOptions {
    concurrency: Option<usize>,
    queue_limit: Option<usize>,
}

#[napi]
impl NativeEngine {
    #[napi(constructor)]
    pub fn new(options: String) -> napi::Result<Self> {
        let options: EngineOptions = crate::options::parse(&options)?;
        let mut builder = toolscript::Engine::builder();
        if let Some(runs) = options.concurrency {
            builder = builder.concurrency(runs);
        }
        if let Some(runs) = options.queue_limit {
            builder = builder.queue_limit(runs);
        }
        Ok(Self { engine: build(builder).map_err(|failure| napi::Error::from_reason(failure.message))? })
    }

    /// The number of runs that can execute, the number of runs that can wait, and how many execute and wait now.
    #[napi]
    pub fn state(&self) -> Vec<u32> {
        let engine = &self.engine;
        [engine.concurrency(), engine.queue_limit(), engine.running(), engine.waiting()]
            .map(|runs| u32::try_from(runs).unwrap_or(u32::MAX))
            .into()
    }
}

/// Returns the engine of the process, which the first call builds.
pub fn default_engine() -> Result<toolscript::Engine, Failure> {
    static ENGINE: Mutex<Option<toolscript::Engine>> = Mutex::new(None);
    let mut engine = ENGINE.lock().unwrap_or_else(PoisonError::into_inner);
    match &*engine {
        Some(engine) => Ok(engine.clone()),
        None => Ok(engine.insert(build(toolscript::Engine::builder())?).clone()),
    }
}

fn build(builder: toolscript::EngineBuilder) -> Result<toolscript::Engine, Failure> {
    // A run is a task of a multi-threaded runtime, so it can block.
    builder.file_io(FileIo::BlockInPlace).build().map_err(|error| Failure::with_causes("engine", &error))
}
