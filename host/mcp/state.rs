//! The state that all tenants and connections of a server share.

use super::{metrics::Metrics, tools, unused_memory::UnusedMemory};
use crate::{
    Engine, Limits,
    engine::{CheckMode, IoOptions},
    sdk::Sdk,
};
use rmcp::model::Tool;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::{runtime::Handle, sync::Semaphore, task::JoinHandle};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// The minimum of [`ServerState::max_message`], in bytes.
const MIN_MAX_MESSAGE: usize = 8 << 20;

/// The shared state of one server.
pub struct ServerState {
    pub engine: Engine,
    pub limits: Limits,
    /// The size in bytes of a result, a log and a page of a file that a model reads at once. 0 is no limit.
    pub inline: usize,
    /// The maximum size of a response in bytes, as JSON.
    pub max_response: usize,
    /// Adds links to the written files to the results of tools.
    pub resource_links: bool,
    /// The treatment of mistakes that are found before a script runs.
    pub check: CheckMode,
    /// Offers the tool `check_script`.
    pub check_tool: bool,
    /// Functions from OpenAPI specifications and upstream MCP servers.
    pub sdk: Option<Arc<Sdk>>,
    pub metrics: Metrics,
    pub unused_memory: Arc<UnusedMemory>,
    /// The tool definitions, and the revision of the functions that they describe. All tenants have the same tools.
    pub cached_tools: Mutex<Option<(u64, Arc<Vec<Tool>>)>>,
    /// The runtime for scripts and file jobs. `None` runs them on the current runtime.
    pub script_runtime: Option<Handle>,
    /// Limits the file jobs of all tenants together, because each occupies a thread of the runtime.
    pub file_job_threads: Arc<Semaphore>,
    /// Tracks runs and file jobs, both running and queued.
    pub active_runs: TaskTracker,
    /// Ends subscriptions and idle connections, so that the server can exit after the running scripts.
    pub drain: CancellationToken,
    /// Stops all runs.
    pub shutdown: CancellationToken,
}

impl ServerState {
    /// Returns the tool definitions. They change when an upstream server changes its functions. `io` is that of any tenant.
    pub fn tools(&self, io: Option<&IoOptions>) -> Arc<Vec<Tool>> {
        let sdk = self.sdk.as_deref();
        let revision = sdk.map_or(0, |sdk| sdk.revision());
        let mut cached = self.cached_tools.lock().unwrap_or_else(PoisonError::into_inner);
        match &*cached {
            Some((cached_revision, tools)) if *cached_revision == revision => Arc::clone(tools),
            _ => {
                let tools = Arc::new(tools::define_all(&self.limits, io, sdk, self.check_tool));
                *cached = Some((revision, Arc::clone(&tools)));
                tools
            }
        }
    }

    /// Runs work that uses the CPU or blocks on a thread for such work, beside the scripts.
    pub fn spawn_blocking<R: Send + 'static>(&self, work: impl FnOnce() -> R + Send + 'static) -> JoinHandle<R> {
        match &self.script_runtime {
            Some(runtime) => runtime.spawn_blocking(work),
            None => tokio::task::spawn_blocking(work),
        }
    }

    /// Returns the maximum size of one message in bytes: a script of maximum size with each character escaped, plus the rest of the
    /// message.
    pub fn max_message(&self) -> usize {
        self.limits.script.saturating_mul(6).saturating_add(1 << 20).max(MIN_MAX_MESSAGE)
    }
}
