//! Upstream MCP servers. Scripts call their tools as functions.
//!
//! Each server has a task that keeps it connected. When a connection is lost, the task reconnects at once, and then with growing pauses.
//! A call to a server that is down fails at once.

mod connect;
mod content;
#[cfg(feature = "fuzzing")]
mod fuzzing;
mod handler;
mod http_client;
mod oversized_messages;
mod process;
mod reconnect;
mod tool;
mod tool_list;
mod tool_result;

pub use connect::Transport;
pub use tool::UpstreamTool;

use super::{egress, filter::FunctionFilter, frozen_params::FrozenParams, secret::Secret};
use crate::functions::{FunctionError, FunctionResponse, FunctionValue, ResponseBudget};
use connect::{Connection, Failure};
use handler::Handler;
use oversized_messages::TOO_LARGE;
use process::ServerProcess;
use rmcp::{
    RoleClient,
    model::{CallToolRequestParams, CallToolResponse, JsonObject},
    service::{Peer, ServiceError},
};
use std::sync::{
    Arc, Mutex, OnceLock, PoisonError, RwLock,
    atomic::{AtomicU64, Ordering},
};
use tokio::{
    sync::{OnceCell, watch},
    task::AbortHandle,
    time::Instant,
};
use tool_list::ToolList;

/// An upstream MCP server.
pub struct UpstreamServer {
    /// The name in the options.
    pub name: String,
    transport: Transport,
    filter: FunctionFilter,
    state: watch::Sender<State>,
    cached_tools: RwLock<Arc<ToolList>>,
    frozen: FrozenParams,
    /// Texts of all tools are decoded as JSON.
    decodes_text: bool,
    /// The credentials to remove from responses.
    secrets: Vec<Secret>,
    /// The number of the newest connection that a call found to be lost. The task replaces it.
    lost: watch::Sender<Option<u64>>,
    /// The running process, if the server was started as a program.
    process: Mutex<Option<ServerProcess>>,
    /// The task that keeps the server connected.
    task: OnceLock<AbortHandle>,
    /// The number of changes in the tools and the connections of all servers.
    revision: Arc<AtomicU64>,
}

#[derive(Clone)]
enum State {
    Connecting,
    Connected {
        peer: Peer<RoleClient>,
        number: u64,
    },
    Down {
        failure: Failure,
        /// The time of the next attempt. `None` if there is none.
        until: Option<Instant>,
    },
    /// The final state, after [`UpstreamServer::close`] or [`UpstreamServer::kill`].
    Closed,
}

/// The connection of one run that has its own credential. It is opened on first use.
pub type RunConnection = OnceCell<Connection>;

impl UpstreamServer {
    /// Starts a task on the current runtime that connects to the server.
    pub fn start(
        name: String,
        transport: Transport,
        filter: FunctionFilter,
        frozen: FrozenParams,
        decodes_text: bool,
        revision: Arc<AtomicU64>,
    ) -> Arc<Self> {
        let server = Arc::new(Self {
            name,
            secrets: transport.secrets(),
            transport,
            filter,
            frozen,
            decodes_text,
            state: watch::Sender::new(State::Connecting),
            cached_tools: RwLock::default(),
            lost: watch::Sender::new(None),
            process: Mutex::default(),
            task: OnceLock::new(),
            revision,
        });
        let task = tokio::spawn(reconnect::keep_connected(Arc::clone(&server)));
        server.task.get_or_init(|| task.abort_handle());
        server
    }

    /// Waits until the server is connected. Returns an error if it is down.
    pub async fn wait_for_connection(&self) -> Result<(), Failure> {
        self.peer().await.map(drop).map_err(|(failure, _)| failure)
    }

    /// Returns `true` if the server is connecting and its tools are not known yet. Calls wait for it.
    pub fn is_starting(&self) -> bool {
        matches!(*self.state.borrow(), State::Connecting) && self.tools().tools.is_empty()
    }

    /// Returns the reason why the server is down, if it is.
    pub fn failure(&self) -> Option<Failure> {
        match &*self.state.borrow() {
            State::Down { failure, .. } => Some(failure.clone()),
            State::Closed => Some(closed()),
            State::Connecting | State::Connected { .. } => None,
        }
    }

    /// Changes the state, unless the server is closed: the task may still run for a moment after that.
    fn set_state(&self, state: State) {
        self.state.send_if_modified(|current| {
            let is_open = !matches!(current, State::Closed);
            if is_open {
                *current = state;
            }
            is_open
        });
        self.revision.fetch_add(1, Ordering::Release);
    }

    /// Stores the process of a new connection, or kills it if the server is closed.
    fn set_process(&self, process: Option<ServerProcess>) {
        let mut current = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        *current = process;
        if matches!(*self.state.borrow(), State::Closed) {
            *current = None;
        }
    }

    /// Takes the process, which is killed when it is dropped.
    fn take_process(&self) -> Option<ServerProcess> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Records that a connection is lost. The number never decreases, because a slow call may report an older connection.
    fn report_lost(&self, number: u64) {
        self.lost.send_if_modified(|lost| {
            let is_newer = *lost < Some(number);
            if is_newer {
                *lost = Some(number);
            }
            is_newer
        });
    }

    /// Returns the tools from the last time that the server listed them.
    pub fn tools(&self) -> Arc<ToolList> {
        Arc::clone(&self.cached_tools.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns `true` if a run can have its own credential for the server.
    pub fn takes_credentials(&self) -> bool {
        self.transport.takes_credentials()
    }

    /// Calls a tool.
    ///
    /// Repeats a call once after the connection was lost, if the call was not sent or if the tool allows it.
    pub async fn call(
        &self,
        tool: &UpstreamTool,
        arguments: Vec<FunctionValue>,
        budget: &ResponseBudget,
    ) -> Result<FunctionResponse, FunctionError> {
        let arguments = tool.arguments(arguments)?;
        let mut is_repeated = false;
        loop {
            let (peer, number) = self.peer().await.map_err(|(failure, until)| down_message(&failure, until))?;
            let error = match call(&peer, tool, arguments.clone(), budget).await {
                Ok(response) => return tool_result::redact(response, &self.secrets),
                Err(error) => error,
            };
            if matches!(error, CallError::Failed(_)) {
                return Err(error.to_string().into());
            }
            self.report_lost(number);
            let may_repeat = tool.is_repeatable || matches!(error, CallError::NotSent);
            if is_repeated || !may_repeat {
                return Err(error.to_string().into());
            }
            is_repeated = true;
        }
    }

    /// Calls a tool with the credential of a run, over the connection of that run.
    pub async fn call_with_credential(
        &self,
        secret: &Secret,
        connection: &RunConnection,
        tool: &UpstreamTool,
        arguments: Vec<FunctionValue>,
        budget: &ResponseBudget,
    ) -> Result<FunctionResponse, FunctionError> {
        let arguments = tool.arguments(arguments)?;
        let connect = || async {
            let failed = |failure: Failure| format!("can't connect to the server: {}", failure.public);
            self.transport.connect(Handler::default(), Some(secret)).await.map_err(failed)
        };
        let connection = connection.get_or_try_init(connect).await?;
        let response = call(connection.running.peer(), tool, arguments, budget).await.unwrap_or_else(|error| Err(error.to_string().into()));
        let mut secrets = self.secrets.clone();
        secrets.push(secret.clone());
        tool_result::redact(response, &secrets)
    }

    /// Disconnects, and terminates the process. Blocks until the process has exited or was killed.
    pub fn close(&self) {
        if let Some(process) = self.disconnect() {
            process.terminate();
        }
    }

    /// Disconnects, and kills the process. Does not block.
    pub fn kill(&self) {
        drop(self.disconnect());
    }

    /// Stops the task, so that it does not start the server again. Returns the process, if there is one.
    fn disconnect(&self) -> Option<ServerProcess> {
        if let Some(task) = self.task.get() {
            task.abort();
        }
        self.set_state(State::Closed);
        self.take_process()
    }

    /// Waits for a connection that no call found to be lost. Fails with the reason why the server is down, and the time of the next
    /// attempt.
    ///
    /// A lost connection can't block this forever: `lost` also makes the task replace the connection, which changes the state.
    async fn peer(&self) -> Result<(Peer<RoleClient>, u64), (Failure, Option<Instant>)> {
        let mut states = self.state.subscribe();
        let settled = states.wait_for(|state| match state {
            State::Connecting => false,
            State::Connected { number, .. } => *self.lost.borrow() < Some(*number),
            State::Down { .. } | State::Closed => true,
        });
        let state = settled.await.map_err(|_| (closed(), None))?.clone();
        match state {
            State::Connected { peer, number } => Ok((peer, number)),
            State::Down { failure, until } => Err((failure, until)),
            State::Connecting | State::Closed => Err((closed(), None)),
        }
    }

    /// Asks the server for its tools, and caches those that the filter allows.
    async fn update_tools(&self, peer: &Peer<RoleClient>) -> Result<(), Failure> {
        let list = ToolList::fetch(peer, &self.filter, &self.frozen, self.decodes_text).await?;
        *self.cached_tools.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(list);
        self.revision.fetch_add(1, Ordering::Release);
        Ok(())
    }
}

/// The reason why a call has no result.
#[derive(Debug, thiserror::Error)]
enum CallError {
    #[error("the connection to the server was lost before the call was sent")]
    NotSent,
    #[error("the connection to the server was lost; the call may have been executed")]
    ConnectionLost,
    /// The connection stays in use. The text is the message for the script.
    #[error("{0}")]
    Failed(String),
}

/// Calls a tool once. The inner error is that of the tool.
async fn call(
    peer: &Peer<RoleClient>,
    tool: &UpstreamTool,
    arguments: JsonObject,
    budget: &ResponseBudget,
) -> Result<Result<FunctionResponse, FunctionError>, CallError> {
    let mut request = CallToolRequestParams::new(tool.upstream_name.clone());
    request.arguments = Some(arguments);
    match peer.call_tool_once(request).await {
        Ok(CallToolResponse::Complete(result)) => Ok(tool_result::convert(result, tool, budget)),
        Ok(_) => Ok(Err("the tool asks for user input or runs as a background task, which scripts do not support".into())),
        Err(ServiceError::McpError(error)) if error.code == TOO_LARGE => {
            // The message has more bytes than any budget.
            let too_large = budget.reserve(usize::MAX).err();
            Ok(Err(too_large.unwrap_or_else(|| error.message.into_owned()).into()))
        }
        Err(ServiceError::McpError(error)) => Ok(Err(error.message.into_owned().into())),
        Err(ServiceError::TransportClosed) => Err(CallError::ConnectionLost),
        Err(ServiceError::TransportSend(error)) if egress::was_not_sent(&*error.error) => Err(CallError::NotSent),
        Err(ServiceError::TransportSend(error)) => Err(CallError::Failed(egress::public_message(&*error.error))),
        Err(error) => {
            tracing::debug!(%error, "a call to an MCP server failed");
            Err(CallError::Failed("the server sent an invalid MCP response".into()))
        }
    }
}

fn closed() -> Failure {
    Failure::new("the connection is closed", "the connection is closed")
}

fn down_message(failure: &Failure, until: Option<Instant>) -> String {
    let next = until.map(|until| format!("; next attempt in {} s", until.saturating_duration_since(Instant::now()).as_secs() + 1));
    format!("the server is down: {}{}", failure.public, next.unwrap_or_default())
}
