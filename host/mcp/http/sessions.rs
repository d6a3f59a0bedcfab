//! The sessions of one tenant, for clients of the revisions that have them.
//!
//! rmcp's own keeps them; this adds what a server for strangers needs: a limit on how many there are, an end of what runs when a
//! session ends, and a request's notifications in the stream of its answer.

use crate::mcp::notices::RequestStream;
use axum::http::request::Parts;
use futures_util::{Stream, StreamExt as _, future, stream};
use rmcp::{
    ErrorData,
    model::{ClientJsonRpcMessage, GetExtensions as _, RequestId, ServerJsonRpcMessage, ServerNotification},
    transport::streamable_http_server::session::{
        ServerSseMessage, SessionId, SessionManager,
        local::{LocalSessionManager, LocalSessionManagerError, SessionConfig, SessionError, SessionTransport},
    },
};
use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Poll,
    time::{Duration, Instant},
};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;

/// Notifications of one request on their way to a slow reader; whoever sends one more waits.
const WAITING: usize = 4;

/// For a session to hear that it has ended.
const PATIENCE: Duration = Duration::from_millis(100);

/// A session that nobody uses for so long is ended.
const IDLE: Duration = Duration::from_secs(30 * 60);

/// The sessions of one tenant. Each has a task and its channels, so there may be `most` of them: one more ends the one that was used
/// least recently, whose client then shakes hands again.
pub struct Sessions {
    inner: LocalSessionManager,
    open: Mutex<HashMap<SessionId, Open>>,
    most: usize,
}

struct Open {
    used: Instant,
    closed: CancellationToken,
    /// Requests that are under way: the library would never forget one of two with the same id.
    requests: Arc<Mutex<HashSet<RequestId>>>,
}

impl Open {
    fn is_busy(&self) -> bool {
        !self.requests.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }
}

/// A request that is under way.
pub struct UnderWay {
    requests: Arc<Mutex<HashSet<RequestId>>>,
    id: RequestId,
}

impl UnderWay {
    /// Nothing if there is one with this id already.
    fn enter(requests: Arc<Mutex<HashSet<RequestId>>>, id: RequestId) -> Option<Self> {
        let is_new = requests.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone());
        is_new.then_some(Self { requests, id })
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}

impl Sessions {
    /// No sessions yet. A run may take `longest`, in which its session is not idle.
    pub fn new(most: usize, longest: Duration) -> Self {
        let mut config = SessionConfig::default();
        config.keep_alive = Some(IDLE + longest);
        let mut inner = LocalSessionManager::default();
        inner.session_config = config;
        Self { inner, open: Mutex::default(), most }
    }

    /// Whether there is one by this name.
    pub fn contains(&self, id: &str) -> bool {
        self.lock().contains_key(id)
    }

    /// Whether there are any.
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a session is in use.
    fn touch(&self, id: &SessionId) {
        if let Some(open) = self.lock().get_mut(id) {
            open.used = Instant::now();
        }
    }

    /// Notes that a request is under way, unless there is one with the same id; how to hear of the end of its session.
    fn enter(&self, id: &SessionId, request: &RequestId) -> Result<Option<(UnderWay, CancellationToken)>, LocalSessionManagerError> {
        self.touch(id);
        let open = self.lock();
        let open = open.get(id).ok_or_else(|| LocalSessionManagerError::SessionNotFound(id.clone()))?;
        let under_way = UnderWay::enter(Arc::clone(&open.requests), request.clone());
        Ok(under_way.map(|under_way| (under_way, open.closed.clone())))
    }

    /// Passes a request on. In a task of its own: the library would never forget one whose client hangs up in the middle.
    async fn begin(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ReceiverStream<ServerSseMessage>, LocalSessionManagerError> {
        let handle = self.inner.sessions.read().await.get(id).cloned();
        let handle = handle.ok_or_else(|| LocalSessionManagerError::SessionNotFound(id.clone()))?;
        let beginning = tokio::spawn(async move {
            let answers = handle.establish_request_wise_channel().await?;
            handle.push_message(message, answers.http_request_id).await?;
            Ok::<_, SessionError>(answers.inner)
        });
        let answers = beginning.await.unwrap_or(Err(SessionError::SessionServiceTerminated))?;
        Ok(ReceiverStream::new(answers))
    }

    fn forget(&self, id: &SessionId) {
        if let Some(open) = self.lock().remove(id) {
            open.closed.cancel();
        }
    }

    fn least_recent(&self) -> Option<SessionId> {
        let open = self.lock();
        // One that has something under way only if all have.
        let oldest = || open.iter().min_by_key(|(_, open)| (open.is_busy(), open.used)).map(|(id, _)| id.clone());
        (open.len() >= self.most).then(oldest).flatten()
    }
}

impl SessionManager for Sessions {
    type Error = LocalSessionManagerError;
    type Transport = SessionTransport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        while let Some(oldest) = self.least_recent() {
            self.close_session(&oldest).await?;
        }
        let (id, transport) = self.inner.create_session().await?;
        self.lock().insert(id.clone(), Open { used: Instant::now(), closed: CancellationToken::new(), requests: Arc::default() });
        Ok((id, transport))
    }

    async fn initialize_session(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.inner.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.inner.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.forget(id);
        // One whose client does not read may not hear of it; it is gone for everybody else.
        tokio::time::timeout(PATIENCE, self.inner.close_session(id)).await.unwrap_or(Ok(()))
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        mut message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let ClientJsonRpcMessage::Request(request) = &mut message else {
            return Err(LocalSessionManagerError::SessionNotFound(id.clone()));
        };
        let (sender, notifications) = mpsc::channel(WAITING);
        let Some((under_way, closed)) = self.enter(id, &request.id)? else {
            let error = ErrorData::invalid_request("Invalid Request: a request with this id is under way", None);
            let answer = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
            return Ok(stream::once(future::ready(ServerSseMessage::from_message(answer))).left_stream());
        };
        let extensions = request.request.extensions_mut();
        let resumes = extensions.get::<Parts>().is_some_and(knows_resuming);
        extensions.insert(RequestStream::new(sender, closed, Arc::new(under_way)));
        let answers = self.begin(id, message).await?;
        let answers = answers.filter(move |answer| future::ready(resumes || answer.message.is_some()));
        Ok(joined(notifications, answers).right_stream())
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
        self.inner.resume(id, last_event_id).await
    }
}

/// Whether a client knows events without a message, which say how to take up a stream again; older ones choke on them.
fn knows_resuming(request: &Parts) -> bool {
    request.headers.get("mcp-protocol-version").is_some_and(|version| version.as_bytes() >= &b"2025-11-25"[..])
}

/// One stream of both; what was notified before an answer was given comes before it.
fn joined(
    mut notifications: mpsc::Receiver<ServerNotification>,
    answers: impl Stream<Item = ServerSseMessage> + Send + Sync + 'static,
) -> impl Stream<Item = ServerSseMessage> + Send + Sync + 'static {
    let mut answers = Box::pin(answers.fuse());
    let mut held = None;
    stream::poll_fn(move |context| {
        let mut ended = false;
        if held.is_none() {
            match answers.poll_next_unpin(context) {
                Poll::Ready(Some(answer)) => held = Some(answer),
                Poll::Ready(None) => ended = true,
                Poll::Pending => {}
            }
        }
        // After the look at the answers: what was sent before one of them is there by now.
        if let Poll::Ready(Some(notification)) = notifications.poll_recv(context) {
            return Poll::Ready(Some(ServerSseMessage::from_message(ServerJsonRpcMessage::notification(notification))));
        }
        match held.take() {
            Some(answer) => Poll::Ready(Some(answer)),
            None if ended => Poll::Ready(None),
            None => Poll::Pending,
        }
    })
}
