//! The sessions of one tenant, for clients of the protocol revisions that have sessions.
//!
//! Wraps the session manager of rmcp and adds a limit on the number of sessions, the cancellation of runs when their session ends,
//! the notifications of a request in the stream of its response, and responses for clients that lost their connection.

use super::exchanges::{self, Exchanges, KeptBytes};
use crate::mcp::run_notifications::RequestStream;
use axum::http::request::Parts;
use futures_util::{Stream, StreamExt as _, future, stream};
use rmcp::{
    ErrorData,
    model::{ClientJsonRpcMessage, GetExtensions as _, RequestId, ServerJsonRpcMessage},
    transport::streamable_http_server::session::{
        ServerSseMessage, SessionId, SessionManager,
        local::{LocalSessionManager, LocalSessionManagerError, SessionConfig, SessionError, SessionTransport},
    },
};
use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// The number of notifications of one request that are queued for a slow client. If the queue is full, the sender waits.
const NOTIFICATION_QUEUE: usize = 4;

/// The time to notify a session that it is closed.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(100);

/// The maximum size of the responses that are kept for all clients of one tenant that lost their connection, in bytes.
const MAX_KEPT_BYTES: usize = 32 << 20;

/// The sessions of one tenant.
///
/// Each session has a task and channels, so their number is limited. A new session above the limit ends the least recently used one,
/// whose client then initializes a new session.
pub struct Sessions {
    inner: LocalSessionManager,
    sessions: Mutex<HashMap<SessionId, Session>>,
    max_sessions: usize,
    kept_bytes: KeptBytes,
}

struct Session {
    last_used: Instant,
    closed: CancellationToken,
    /// The ids of active requests. rmcp would never remove one of two requests with the same id.
    requests: Arc<Mutex<HashSet<RequestId>>>,
    exchanges: Arc<Exchanges>,
}

impl Session {
    fn new(kept_bytes: KeptBytes) -> Self {
        let closed = CancellationToken::new();
        let exchanges = Exchanges::new(kept_bytes, closed.clone());
        Self { last_used: Instant::now(), closed, requests: Arc::default(), exchanges }
    }

    fn is_busy(&self) -> bool {
        !self.requests.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }
}

/// An active request. Its id can be used again after the drop.
struct ActiveRequest {
    requests: Arc<Mutex<HashSet<RequestId>>>,
    id: RequestId,
}

impl ActiveRequest {
    /// Registers a request, or returns `None` if its id is in use.
    fn register(requests: Arc<Mutex<HashSet<RequestId>>>, id: RequestId) -> Option<Self> {
        let is_new = requests.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone());
        // Lazily: dropping a value for an id in use would remove that id.
        is_new.then(|| Self { requests, id })
    }
}

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}

impl Sessions {
    /// Creates a manager without sessions. An unused session is ended after `idle_timeout`. A session is not idle during a run of at most
    /// `run_timeout`.
    pub fn new(max_sessions: usize, idle_timeout: Duration, run_timeout: Duration) -> Self {
        let mut config = SessionConfig::default();
        config.keep_alive = Some(idle_timeout + run_timeout);
        // `Exchanges` enables clients to resume, and keeps the responses.
        config.sse_retry = None;
        config.completed_cache_ttl = Duration::ZERO;
        let mut inner = LocalSessionManager::default();
        inner.session_config = config;
        Self { inner, sessions: Mutex::default(), max_sessions, kept_bytes: KeptBytes::new(MAX_KEPT_BYTES) }
    }

    /// Returns `true` if there is a session with this id.
    pub fn contains(&self, id: &str) -> bool {
        self.lock().contains_key(id)
    }

    /// Returns `true` if a client can resume the stream with this event. An unknown session is not reported here.
    pub fn can_resume(&self, id: &str, last_event_id: &str) -> bool {
        match self.lock().get(id) {
            Some(session) if exchanges::is_request_event(last_event_id) => session.exchanges.can_resume(last_event_id),
            // The ids of rmcp for notifications that belong to no request.
            Some(_) => last_event_id.parse::<usize>().is_ok(),
            None => true,
        }
    }

    /// Returns `true` if there are no sessions.
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Session>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks a session as used now.
    fn touch(&self, id: &SessionId) {
        if let Some(session) = self.lock().get_mut(id) {
            session.last_used = Instant::now();
        }
    }

    /// Registers a request of a session. Returns it with the token that the end of the session cancels and the exchanges of the session,
    /// or `None` if its id is in use.
    fn register(
        &self,
        id: &SessionId,
        request: &RequestId,
    ) -> Result<Option<(ActiveRequest, CancellationToken, Arc<Exchanges>)>, LocalSessionManagerError> {
        self.touch(id);
        let sessions = self.lock();
        let session = sessions.get(id).ok_or_else(|| LocalSessionManagerError::SessionNotFound(id.clone()))?;
        let active = ActiveRequest::register(Arc::clone(&session.requests), request.clone());
        Ok(active.map(|active| (active, session.closed.clone(), Arc::clone(&session.exchanges))))
    }

    /// Starts a request. A separate task finishes even if the client disconnects: rmcp would never remove a request that was only
    /// half started.
    async fn start(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<mpsc::Receiver<ServerSseMessage>, LocalSessionManagerError> {
        let handle = self.inner.sessions.read().await.get(id).cloned();
        let handle = handle.ok_or_else(|| LocalSessionManagerError::SessionNotFound(id.clone()))?;
        let start = tokio::spawn(async move {
            let responses = handle.establish_request_wise_channel().await?;
            handle.push_message(message, responses.http_request_id).await?;
            Ok::<_, SessionError>(responses.inner)
        });
        Ok(start.await.unwrap_or(Err(SessionError::SessionServiceTerminated))?)
    }

    fn remove(&self, id: &SessionId) {
        if let Some(session) = self.lock().remove(id) {
            session.closed.cancel();
        }
    }

    /// Returns the session to end for a new one, if the limit is reached: the least recently used one, preferably without requests.
    fn session_to_evict(&self) -> Option<SessionId> {
        let sessions = self.lock();
        if sessions.len() < self.max_sessions {
            return None;
        }
        sessions.iter().min_by_key(|(_, session)| (session.is_busy(), session.last_used)).map(|(id, _)| id.clone())
    }
}

impl SessionManager for Sessions {
    type Error = LocalSessionManagerError;
    type Transport = SessionTransport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        while let Some(evicted) = self.session_to_evict() {
            self.close_session(&evicted).await?;
        }
        let (id, transport) = self.inner.create_session().await?;
        self.lock().insert(id.clone(), Session::new(self.kept_bytes.clone()));
        Ok((id, transport))
    }

    async fn initialize_session(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.inner.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.inner.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.remove(id);
        // If the client does not read, the session may not be notified. It is removed all the same.
        tokio::time::timeout(CLOSE_TIMEOUT, self.inner.close_session(id)).await.unwrap_or(Ok(()))
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        mut message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let ClientJsonRpcMessage::Request(request) = &mut message else {
            return Err(LocalSessionManagerError::SessionNotFound(id.clone()));
        };
        let (sender, notifications) = mpsc::channel(NOTIFICATION_QUEUE);
        let Some((active, closed, exchanges)) = self.register(id, &request.id)? else {
            let error = ErrorData::invalid_request("Invalid Request: a request with this id is in progress", None);
            let response = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
            return Ok(stream::once(future::ready(ServerSseMessage::from_message(response))).left_stream());
        };
        let request_id = request.id.clone();
        let extensions = request.request.extensions_mut();
        let resumable = extensions.get::<Parts>().is_some_and(supports_resuming);
        extensions.insert(RequestStream::new(sender, closed, Arc::new(active)));
        let responses = self.start(id, message).await?;
        Ok(exchanges.start(request_id, notifications, responses, resumable).right_stream())
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), Self::Error> {
        self.touch(id);
        self.inner.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.touch(id);
        self.inner.create_standalone_stream(id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.touch(id);
        if !exchanges::is_request_event(&last_event_id) {
            return Ok(self.inner.resume(id, last_event_id).await?.left_stream());
        }
        let exchanges = self.lock().get(id).map(|session| Arc::clone(&session.exchanges));
        let exchanges = exchanges.ok_or_else(|| LocalSessionManagerError::SessionNotFound(id.clone()))?;
        let events = exchanges.resume(&last_event_id).ok_or(SessionError::InvalidEventId)?;
        Ok(events.right_stream())
    }
}

/// Returns `true` if a client supports events without a message, which clients use to resume a stream. Older clients fail on them.
fn supports_resuming(request: &Parts) -> bool {
    request.headers.get("mcp-protocol-version").is_some_and(|version| version.as_bytes() >= &b"2025-11-25"[..])
}
