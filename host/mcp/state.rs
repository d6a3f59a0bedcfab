//! The state that all tenants and connections of a server share.

use super::metrics::Metrics;
use crate::{Engine, Limits, sdk::Sdk};
use std::sync::Arc;
use tokio::runtime::Handle;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// The minimum of [`ServerState::max_message`], in bytes.
const MIN_MAX_MESSAGE: usize = 8 << 20;

/// The shared state of one server.
pub struct ServerState {
    pub engine: Engine,
    pub limits: Limits,
    /// The size in bytes of a result, a log and a page of a file that a model reads at once. 0 is no limit.
    pub inline: usize,
    /// Functions from OpenAPI specifications and upstream MCP servers.
    pub sdk: Option<Arc<Sdk>>,
    pub metrics: Metrics,
    /// The runtime for scripts and file jobs. `None` runs them on the current runtime.
    pub script_runtime: Option<Handle>,
    /// Tracks runs and file jobs, both running and queued.
    pub active_runs: TaskTracker,
    /// Ends subscriptions and idle connections, so that the server can exit after the running scripts.
    pub drain: CancellationToken,
    /// Stops all runs.
    pub shutdown: CancellationToken,
}

impl ServerState {
    /// Returns the maximum size of one message in bytes: a script of maximum size with each character escaped, plus the rest of the
    /// message.
    pub fn max_message(&self) -> usize {
        self.limits.script.saturating_mul(6).saturating_add(1 << 20).max(MIN_MAX_MESSAGE)
    }
}
