//! The sessions of one tenant, for clients of the protocol revisions that have sessions.
//!
//! A session is only data: rmcp serves each of its requests separately, so an idle session has no task and no channel. This module limits
//! their number, ends unused ones, cancels requests when their session ends, sends the notifications of a request in the stream of its
//! response, and keeps responses for clients that lost their connection.

use super::{
    exchanges::{self, Exchanges, KeptBytes},
    session_transport::{Handshake, HandshakeTransport, RequestTransport, ResponseSlot},
};
use crate::mcp::{
    client_session::ClientSession, handler::Handler, run_notifications::RequestStream, tenant::Tenant, unused_memory::UnusedMemory,
};
use axum::http::request::Parts;
use futures_util::{Stream, StreamExt as _, future, stream};
use rmcp::{
    ErrorData,
    model::{
        ClientCapabilities, ClientJsonRpcMessage, ClientNotification, GetExtensions as _, Implementation, InitializeRequestParams,
        ProtocolVersion, RequestId, ServerJsonRpcMessage,
    },
    service::serve_directly_with_ct,
    transport::{
        common::server_side_http::session_id,
        streamable_http_server::session::{ServerSseMessage, SessionId, SessionManager},
    },
};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak},
    time::{Duration, Instant},
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// The number of notifications of one request that are queued for a slow client. If the queue is full, the sender waits.
const NOTIFICATION_QUEUE: usize = 4;

/// The maximum size of the responses that are kept for all clients of one tenant that lost their connection, in bytes.
const MAX_KEPT_BYTES: usize = 32 << 20;

/// The minimum and the maximum time between two searches for unused sessions. The task that searches outlives its tenant by the maximum.
const SWEEP_INTERVAL: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(60)];

/// The sessions of one tenant.
///
/// Each session needs memory, so their number is limited. A new session above the limit ends the least recently used one, whose client
/// then initializes a new session.
pub struct Sessions {
    tenant: Arc<Tenant>,
    table: Arc<Table>,
    max_sessions: usize,
    kept_bytes: KeptBytes,
}

/// All sessions of a tenant, shared with the task that ends unused ones.
struct Table {
    entries: Mutex<Entries>,
    idle_timeout: Duration,
    unused_memory: Arc<UnusedMemory>,
}

#[derive(Default)]
struct Entries {
    sessions: HashMap<SessionId, Entry>,
    /// A task ends unused sessions, as long as there are sessions.
    has_sweeper: bool,
}

struct Entry {
    session: Arc<Session>,
    last_used: Instant,
}

struct Session {
    closed: CancellationToken,
    /// Taken by the `initialize` request.
    handshake: Mutex<Option<Handshake>>,
    /// Set by the response to the `initialize` request.
    version: Arc<OnceLock<ProtocolVersion>>,
    client: Arc<ClientSession>,
    /// The active requests by their ids. Two active requests can't have the same id.
    requests: Mutex<HashMap<RequestId, Cancellation>>,
    exchanges: Arc<Exchanges>,
}

/// Cancels a request.
struct Cancellation {
    token: CancellationToken,
    response: ResponseSlot,
}

/// The reason that a request of a session failed.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error("unknown session")]
    Unknown,
    #[error("the session could not be initialized")]
    NotInitialized,
    #[error("the stream can't be resumed")]
    NotResumable,
}

impl Session {
    fn new(tenant: &Tenant, kept_bytes: KeptBytes) -> (Self, HandshakeTransport) {
        let closed = CancellationToken::new();
        let version = Arc::new(OnceLock::new());
        let (handshake, transport) = HandshakeTransport::new(Arc::clone(&version));
        let session = Self {
            exchanges: Exchanges::new(kept_bytes, closed.clone()),
            closed,
            handshake: Mutex::new(Some(handshake)),
            version,
            client: Arc::new(ClientSession::over_http(tenant)),
            requests: Mutex::default(),
        };
        (session, transport)
    }

    fn requests(&self) -> MutexGuard<'_, HashMap<RequestId, Cancellation>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_busy(&self) -> bool {
        !self.requests().is_empty()
    }

    /// Cancels a request. It has no response.
    fn cancel(&self, id: &RequestId) {
        if let Some(request) = self.requests().get(id) {
            drop(request.response.take());
            request.token.cancel();
        }
    }

    /// Returns the information about the client that rmcp needs for a request.
    fn peer_info(&self) -> Option<InitializeRequestParams> {
        let version = self.version.get()?.clone();
        Some(InitializeRequestParams::new(ClientCapabilities::default(), Implementation::default()).with_protocol_version(version))
    }
}

/// An active request. Its id can be used again after the drop.
struct ActiveRequest {
    session: Arc<Session>,
    id: RequestId,
}

impl ActiveRequest {
    /// Registers a request, or returns `None` if its id is in use.
    fn register(session: &Arc<Session>, id: &RequestId, cancellation: Cancellation) -> Option<Self> {
        let mut requests = session.requests();
        if requests.contains_key(id) {
            return None;
        }
        requests.insert(id.clone(), cancellation);
        Some(Self { session: Arc::clone(session), id: id.clone() })
    }
}

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        let mut requests = self.session.requests();
        requests.remove(&self.id);
        if requests.is_empty() {
            // Returns the memory of the table.
            *requests = HashMap::new();
        }
    }
}

impl Table {
    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn time_left(&self, entry: &Entry) -> Duration {
        self.idle_timeout.saturating_sub(entry.last_used.elapsed())
    }

    /// Ends unused sessions. Returns the time until the next search, or `None` if there are no sessions.
    fn remove_unused(&self) -> Option<Duration> {
        let mut entries = self.lock();
        entries.sessions.retain(|_, entry| {
            let is_used = entry.session.is_busy() || !self.time_left(entry).is_zero();
            if !is_used {
                entry.session.closed.cancel();
                self.unused_memory.release_soon();
            }
            is_used
        });
        let next = entries.sessions.values().map(|entry| self.time_left(entry)).min();
        if next.is_none() {
            *entries = Entries::default();
        }
        let [min, max] = SWEEP_INTERVAL;
        next.map(|next| next.clamp(min, max))
    }
}

/// Ends unused sessions until there are none.
async fn sweep(table: Weak<Table>) {
    while let Some(next) = table.upgrade().and_then(|table| table.remove_unused()) {
        tokio::time::sleep(next).await;
    }
}

impl Sessions {
    /// Creates a manager without sessions. An unused session is ended after `idle_timeout` and the time that a run may take.
    pub fn new(tenant: Arc<Tenant>, max_sessions: usize, idle_timeout: Duration) -> Self {
        let idle_timeout = idle_timeout.saturating_add(tenant.state.limits.timeout);
        let unused_memory = Arc::clone(&tenant.state.unused_memory);
        let table = Arc::new(Table { entries: Mutex::default(), idle_timeout, unused_memory });
        Self { tenant, table, max_sessions, kept_bytes: KeptBytes::new(MAX_KEPT_BYTES) }
    }

    /// Returns `true` if there is a session with this id.
    pub fn contains(&self, id: &str) -> bool {
        self.table.lock().sessions.contains_key(id)
    }

    /// Returns `true` if a client can resume the stream with this event. An unknown session is not reported here.
    pub fn can_resume(&self, id: &str, last_event_id: &str) -> bool {
        match self.table.lock().sessions.get(id) {
            Some(entry) if exchanges::is_request_event(last_event_id) => entry.session.exchanges.can_resume(last_event_id),
            // The ids of notifications that belong to no request.
            Some(_) => last_event_id.parse::<u64>().is_ok(),
            None => true,
        }
    }

    /// Returns `true` if there are no sessions.
    pub fn is_empty(&self) -> bool {
        self.table.lock().sessions.is_empty()
    }

    /// Ends a session and its requests.
    pub fn remove(&self, id: &SessionId) {
        if let Some(entry) = self.table.lock().sessions.remove(id) {
            entry.session.closed.cancel();
            self.table.unused_memory.release_soon();
        }
    }

    /// Returns a session, which is used now.
    fn find(&self, id: &SessionId) -> Result<Arc<Session>, SessionError> {
        let mut entries = self.table.lock();
        let entry = entries.sessions.get_mut(id).ok_or(SessionError::Unknown)?;
        entry.last_used = Instant::now();
        Ok(Arc::clone(&entry.session))
    }
}

impl Entries {
    /// Ends sessions until there are fewer than `max`: the least recently used ones, preferably without requests.
    fn evict(&mut self, max: usize) {
        while self.sessions.len() >= max {
            let oldest = self.sessions.iter().min_by_key(|(_, entry)| (entry.session.is_busy(), entry.last_used));
            let Some(id) = oldest.map(|(id, _)| id.clone()) else { return };
            if let Some(entry) = self.sessions.remove(&id) {
                entry.session.closed.cancel();
            }
        }
    }
}

impl SessionManager for Sessions {
    type Error = SessionError;
    type Transport = HandshakeTransport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        let id = session_id();
        let (session, transport) = Session::new(&self.tenant, self.kept_bytes.clone());
        let mut entries = self.table.lock();
        entries.evict(self.max_sessions);
        entries.sessions.insert(Arc::clone(&id), Entry { session: Arc::new(session), last_used: Instant::now() });
        if !std::mem::replace(&mut entries.has_sweeper, true) {
            tokio::spawn(sweep(Arc::downgrade(&self.table)));
        }
        Ok((id, transport))
    }

    async fn initialize_session(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<ServerJsonRpcMessage, Self::Error> {
        let handshake = self.find(id)?.handshake.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Handshake { request, response } = handshake.ok_or(SessionError::NotInitialized)?;
        request.send(message).map_err(|_| SessionError::NotInitialized)?;
        response.await.map_err(|_| SessionError::NotInitialized)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        Ok(self.find(id).is_ok())
    }

    /// Ends a session whose handshake failed. rmcp calls this after each handshake, and for DELETE, which
    /// [`TenantService::end_session`](super::tenant_services::TenantService::end_session) handles.
    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        let is_initialized = self.table.lock().sessions.get(id).is_some_and(|entry| entry.session.version.get().is_some());
        if !is_initialized {
            self.remove(id);
        }
        Ok(())
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        mut message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let session = self.find(id)?;
        let peer_info = session.peer_info().ok_or(SessionError::NotInitialized)?;
        let ClientJsonRpcMessage::Request(request) = &mut message else { return Err(SessionError::Unknown) };
        let request_id = request.id.clone();
        let (slot, response) = ResponseSlot::new();
        let token = session.closed.child_token();
        let cancellation = Cancellation { token: token.clone(), response: slot.clone() };
        let Some(active) = ActiveRequest::register(&session, &request_id, cancellation) else {
            let error = ErrorData::invalid_request("Invalid Request: a request with this id is in progress", None);
            let response = ServerJsonRpcMessage::error(error, Some(request_id));
            return Ok(stream::once(future::ready(ServerSseMessage::from_message(response))).left_stream());
        };
        let (sender, notifications) = mpsc::channel(NOTIFICATION_QUEUE);
        let extensions = request.request.extensions_mut();
        let resumable = extensions.get::<Parts>().is_some_and(supports_resuming);
        extensions.insert(RequestStream::new(sender, session.closed.clone(), Arc::new(active)));
        let handler = Handler::with_session(Arc::clone(&self.tenant), Arc::clone(&session.client));
        let service = serve_directly_with_ct(handler, RequestTransport::new(message, slot), Some(peer_info), token);
        // The request does not end if the client disconnects.
        tokio::spawn(service.waiting());
        Ok(session.exchanges.start(request_id, notifications, response, resumable).right_stream())
    }

    /// Accepts a message that has no response. Only cancellations have an effect: the server sends no requests, and a session needs no
    /// `initialized` notification.
    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), Self::Error> {
        let session = self.find(id)?;
        if let ClientJsonRpcMessage::Notification(notification) = message
            && let ClientNotification::CancelledNotification(cancelled) = notification.notification
            && let Some(request) = cancelled.params.request_id
        {
            session.cancel(&request);
        }
        Ok(())
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.find(id)?.notifications(None)
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let session = self.find(id)?;
        if let Ok(last) = last_event_id.parse() {
            return Ok(session.notifications(Some(last))?.left_stream());
        }
        let events = session.exchanges.resume(&last_event_id).ok_or(SessionError::NotResumable)?;
        Ok(events.right_stream())
    }
}

impl Session {
    /// Returns the notifications that belong to no request, after the one with the id `last`.
    fn notifications(&self, last: Option<u64>) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + use<>, SessionError> {
        let notifications = self.client.notifications.as_ref().ok_or(SessionError::NotResumable)?;
        Ok(notifications.events(last, self.closed.clone()))
    }
}

/// Returns `true` if a client supports events without a message, which clients use to resume a stream. Older clients fail on them.
fn supports_resuming(request: &Parts) -> bool {
    request.headers.get("mcp-protocol-version").is_some_and(|version| version.as_bytes() >= &b"2025-11-25"[..])
}
