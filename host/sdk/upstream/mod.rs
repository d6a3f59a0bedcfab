//! Other MCP servers, whose tools scripts call as functions.
//!
//! Each has a task that keeps it connected: it connects again at once when the connection is lost, then less and less often. A script
//! that calls a server which is down is told so at once.

mod client;
mod keeper;
mod launch;
mod program;
mod reply;
mod tool;

pub use launch::{Failure, Launch};
pub use tool::RemoteTool;

use super::{
    docs,
    filter::Filter,
    frozen::Frozen,
    names::{Distinct, snake_case},
    secret::Secret,
};
use crate::functions::{FunctionResponse, FunctionValue, ResponseBudget};
use client::Client;
use launch::Connection;
use program::Program;
use rmcp::{
    RoleClient,
    model::{CallToolRequestParams, CallToolResponse, JsonObject, PaginatedRequestParams, Tool},
    service::{Peer, ServiceError},
};
use std::sync::{
    Arc, Mutex, PoisonError, RwLock,
    atomic::{AtomicU64, Ordering},
};
use tokio::{
    sync::{OnceCell, watch},
    time::Instant,
};

/// Tools of one server.
const MAX_TOOLS: usize = 10_000;

/// Bytes of what it says of them.
const MAX_LISTING: usize = 16 << 20;

/// Another MCP server.
pub struct Upstream {
    /// What scripts call it by.
    pub name: String,
    launch: Launch,
    filter: Filter,
    state: watch::Sender<State>,
    listing: RwLock<Arc<Listing>>,
    frozen: Frozen,
    /// What is taken out of answers.
    secrets: Vec<Secret>,
    /// Tells the task that keeps it connected which connection was found to be lost.
    lost: watch::Sender<Option<u64>>,
    /// The program that is running.
    program: Mutex<Option<Program>>,
    /// Counts changes of what there is to be told, of all servers together.
    revision: Arc<AtomicU64>,
}

/// What a server last said of itself.
#[derive(Default)]
pub struct Listing {
    pub title: String,
    pub tools: Vec<Arc<RemoteTool>>,
    /// Tools that did not get the name they wished for.
    pub clashes: Vec<String>,
}

#[derive(Clone)]
enum State {
    Connecting,
    Up { peer: Peer<RoleClient>, number: u64 },
    Down { failure: Failure, until: Instant },
}

/// A connection for one run, with a credential of its own.
pub type PrivateConnection = OnceCell<Connection>;

impl Upstream {
    /// A server that a task of the current runtime connects to, from now on.
    pub fn start(name: String, launch: Launch, filter: Filter, frozen: Frozen, revision: Arc<AtomicU64>) -> Arc<Self> {
        let upstream = Arc::new(Self {
            name,
            secrets: launch.secrets(),
            launch,
            filter,
            frozen,
            state: watch::Sender::new(State::Connecting),
            listing: RwLock::default(),
            lost: watch::Sender::new(None),
            program: Mutex::default(),
            revision,
        });
        tokio::spawn(keeper::keep_connected(Arc::clone(&upstream)));
        upstream
    }

    /// Waits until it is connected, or is known to be down: why, then.
    pub async fn settled(&self) -> Result<(), Failure> {
        self.peer(None).await.map(drop).map_err(|(failure, _)| failure)
    }

    /// Why it is down, if it is.
    pub fn failure(&self) -> Option<Failure> {
        match &*self.state.borrow() {
            State::Down { failure, .. } => Some(failure.clone()),
            _ => None,
        }
    }

    fn turn(&self, state: State) {
        self.state.send_replace(state);
        self.revision.fetch_add(1, Ordering::Release);
    }

    /// What it last said of itself.
    pub fn listing(&self) -> Arc<Listing> {
        Arc::clone(&self.listing.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether it can be shown a credential of a caller's.
    pub fn takes_credentials(&self) -> bool {
        self.launch.takes_credentials()
    }

    /// Calls a tool. An error is the text that the script raises.
    ///
    /// # Errors
    ///
    /// When the arguments do not fit, the server is down, or says no.
    pub async fn call(&self, tool: &RemoteTool, arguments: Vec<FunctionValue>, room: &ResponseBudget) -> Result<FunctionResponse, String> {
        let arguments = tool.arguments(arguments)?;
        let mut before = None;
        loop {
            let (peer, number) = self.peer(before).await.map_err(|(failure, until)| down(&failure, until))?;
            let error = match call(&peer, tool, arguments.clone(), room).await {
                Ok(reply) => return reply::without(reply, &self.secrets),
                Err(error) => error,
            };
            if matches!(error, Broken::OnTheWay(_)) {
                return Err(error.to_string());
            }
            self.lost.send_replace(Some(number));
            let may_repeat = tool.is_repeatable || matches!(error, Broken::NotSent);
            if before.is_some() || !may_repeat {
                return Err(error.to_string());
            }
            before = Some(number);
        }
    }

    /// Calls a tool by a connection of its own, which is made when it is first needed.
    ///
    /// # Errors
    ///
    /// As [`call`](Self::call).
    pub async fn call_as(
        &self,
        secret: &Secret,
        connection: &PrivateConnection,
        tool: &RemoteTool,
        arguments: Vec<FunctionValue>,
        room: &ResponseBudget,
    ) -> Result<FunctionResponse, String> {
        let arguments = tool.arguments(arguments)?;
        let connect = || async {
            let failed = |failure: Failure| format!("the server is not reached: {}", failure.public);
            self.launch.connect(Client::default(), Some(secret)).await.map_err(failed)
        };
        let connection = connection.get_or_try_init(connect).await?;
        let reply = call(connection.running.peer(), tool, arguments, room).await.unwrap_or_else(|error| Err(error.to_string()));
        let mut secrets = self.secrets.clone();
        secrets.push(secret.clone());
        reply::without(reply, &secrets)
    }

    /// Ends the program that was started for it.
    pub fn close(&self) {
        if let Some(program) = self.program.lock().unwrap_or_else(PoisonError::into_inner).take() {
            program.end();
        }
    }

    /// The connection, when there is one other than the one with a number; or why there is none, and until when.
    async fn peer(&self, before: Option<u64>) -> Result<(Peer<RoleClient>, u64), (Failure, Instant)> {
        let mut states = self.state.subscribe();
        let settled = states.wait_for(|state| match state {
            State::Connecting => false,
            State::Up { number, .. } => before != Some(*number),
            State::Down { .. } => true,
        });
        let gone = || (Failure::new("it is being shut down", "it is being shut down"), Instant::now());
        let state = settled.await.map_err(|_| gone())?.clone();
        match state {
            State::Up { peer, number } => Ok((peer, number)),
            State::Down { failure, until } => Err((failure, until)),
            State::Connecting => Err(gone()),
        }
    }

    /// Asks for its tools.
    async fn list(&self, peer: &Peer<RoleClient>) -> Result<(), Failure> {
        let info = peer.peer_info().and_then(|info| info.server_info.clone());
        let title = info.map(|info| info.title.unwrap_or(info.name));
        let mut tools = Vec::new();
        let mut cursor = None;
        let mut bytes: usize = 0;
        while tools.len() < MAX_TOOLS {
            let page = match peer.list_tools(Some(PaginatedRequestParams::default().with_cursor(cursor))).await {
                Ok(page) => page,
                // One that has none need not know the method.
                Err(ServiceError::McpError(_)) => break,
                Err(error) => return Err(Failure::new("it does not tell its tools", error)),
            };
            let size = |tool: &Tool| serde_json::to_string(tool).map_or(usize::MAX, |text| text.len());
            bytes = page.tools.iter().map(size).fold(bytes, usize::saturating_add);
            if bytes > MAX_LISTING {
                return Err(Failure::new("it tells too much of its tools", format!("more than {MAX_LISTING} bytes")));
            }
            tools.extend(page.tools);
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        let mut names = Distinct::default();
        let mut listing = Listing { title: docs::summary(&[&title.unwrap_or_default()]), ..Listing::default() };
        for tool in tools.iter().take(MAX_TOOLS) {
            let name = names.take(snake_case(&tool.name), &tool.name);
            if self.filter.lets(&[name.as_str(), &tool.name], tool::is_safe(tool)) {
                listing.tools.push(Arc::new(RemoteTool::new(name, tool, self.frozen.clone())));
            }
        }
        listing.tools.sort_by(|first, second| first.name.cmp(&second.name));
        listing.clashes = names.clashes;
        *self.listing.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(listing);
        self.revision.fetch_add(1, Ordering::Release);
        Ok(())
    }
}

/// Why a call has no answer.
#[derive(Debug, thiserror::Error)]
enum Broken {
    #[error("the connection to the server was lost, before the call was made")]
    NotSent,
    #[error("the connection to the server was lost; the call may have been made")]
    Lost,
    #[error("{0}")]
    OnTheWay(String),
}

async fn call(
    peer: &Peer<RoleClient>,
    tool: &RemoteTool,
    arguments: JsonObject,
    room: &ResponseBudget,
) -> Result<Result<FunctionResponse, String>, Broken> {
    let mut request = CallToolRequestParams::new(tool.remote.clone());
    request.arguments = Some(arguments);
    match peer.call_tool_once(request).await {
        Ok(CallToolResponse::Complete(result)) => Ok(reply::read(result, room)),
        Ok(_) => Ok(Err("the tool asks for more than a script can give: input of a person, or patience".into())),
        Err(ServiceError::McpError(error)) => Ok(Err(error.message.into_owned())),
        Err(ServiceError::TransportClosed) => Err(Broken::Lost),
        Err(ServiceError::TransportSend(error)) if super::egress::was_not_sent(&*error.error) => Err(Broken::NotSent),
        Err(ServiceError::TransportSend(error)) => Err(Broken::OnTheWay(super::egress::explain(&*error.error))),
        Err(error) => {
            tracing::debug!(%error, "a call of another MCP server failed");
            Err(Broken::OnTheWay("the server's answer is not one of MCP's".into()))
        }
    }
}

fn down(failure: &Failure, until: Instant) -> String {
    let seconds = until.saturating_duration_since(Instant::now()).as_secs() + 1;
    format!("the server is down: {}; it is tried again in {seconds} s", failure.public)
}
