//! The requests of one session with their responses, so that a client that lost its connection gets the response of a finished request.
//!
//! A client of revision 2025-11-25 resumes the event stream of a request with the id of the last event that it received. A response is
//! kept until the client had time to do so. Nothing here waits for a client.

use crate::mcp::response_size;
use futures_util::{Stream, stream};
use rmcp::{
    ErrorData,
    model::{ErrorCode, RequestId, ServerJsonRpcMessage, ServerNotification},
    transport::streamable_http_server::session::ServerSseMessage,
};
use std::{
    collections::{BTreeMap, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// The time for which the response of a finished request is kept.
const KEEP_TIME: Duration = Duration::from_secs(5 * 60);

/// The maximum number of responses that are kept for one session.
const MAX_KEPT_RESPONSES: usize = 16;

/// The maximum size of the responses that are kept for one session, in bytes. Clients choose what the server responds with.
const MAX_KEPT_BYTES: usize = 8 << 20;

/// The maximum number of finished requests that a session remembers, with and without their responses.
const MAX_FINISHED: usize = 64;

/// The maximum length in bytes of the id of a request that is remembered without its response.
const MAX_REMEMBERED_ID: usize = 256;

/// The time after which a client that lost its connection resumes.
const RETRY_TIME: Duration = Duration::from_secs(3);

/// The JSON-RPC error code for a response that was dropped.
const RESPONSE_DROPPED: ErrorCode = ErrorCode(-32000);

/// The bytes that one permit of a [`KeptBytes`] covers.
const PERMIT_BYTES: usize = 1 << 10;

/// The memory for kept responses of all sessions of one tenant.
#[derive(Clone)]
pub struct KeptBytes(Arc<Semaphore>);

impl KeptBytes {
    pub fn new(bytes: usize) -> Self {
        Self(Arc::new(Semaphore::new(bytes / PERMIT_BYTES)))
    }

    fn reserve(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let permits = u32::try_from(bytes.div_ceil(PERMIT_BYTES)).ok()?;
        Arc::clone(&self.0).try_acquire_many_owned(permits).ok()
    }
}

/// The requests of one session that a client can resume.
pub struct Exchanges {
    inner: Mutex<Inner>,
    kept_bytes: KeptBytes,
    /// Cancelled when the session ends.
    closed: CancellationToken,
}

#[derive(Default)]
struct Inner {
    next_number: u64,
    exchanges: BTreeMap<u64, Arc<Exchange>>,
}

/// One request and its response.
struct Exchange {
    number: u64,
    request: RequestId,
    notifications: Mutex<Notifications>,
    response: Mutex<Response>,
    /// Cancelled when the response has arrived, or can't arrive any more.
    finished: CancellationToken,
    /// Cancelled when the exchange is forgotten, or the session has ended.
    removed: CancellationToken,
    /// Ends the stream of the last connection, because a newer connection resumed it.
    replaced: Mutex<CancellationToken>,
    /// The number of connections that have not received the response.
    connections: AtomicUsize,
}

/// The notifications that no connection has received.
enum Notifications {
    Running(mpsc::Receiver<ServerNotification>),
    /// Without the channel, which needs some KiB even if it is empty.
    Finished(VecDeque<ServerNotification>),
}

enum Response {
    /// The request is running.
    Pending,
    /// The response. Without a permit, it is there only for the connections that have not received it.
    Kept { message: Arc<ServerJsonRpcMessage>, bytes: usize, permit: Option<OwnedSemaphorePermit> },
    /// The response was removed to make room for others.
    Dropped,
    /// The request was cancelled, or its session has ended.
    None,
}

/// The id of an event in the stream of a request. The ids of rmcp for the other streams are numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct EventId {
    request: u64,
    is_response: bool,
}

impl EventId {
    fn parse(text: &str) -> Option<Self> {
        let (request, event) = text.strip_prefix('r')?.split_once('.')?;
        let is_response = match event {
            "0" => false,
            "1" => true,
            _ => return None,
        };
        Some(Self { request: request.parse().ok()?, is_response })
    }

    fn text(self) -> String {
        format!("r{}.{}", self.request, u8::from(self.is_response))
    }
}

/// Returns `true` if the id is that of an event in the stream of a request.
pub fn is_request_event(event_id: &str) -> bool {
    EventId::parse(event_id).is_some()
}

impl Exchanges {
    /// Creates the exchanges of a session, which ends when `closed` is cancelled.
    pub fn new(kept_bytes: KeptBytes, closed: CancellationToken) -> Arc<Self> {
        Arc::new(Self { inner: Mutex::default(), kept_bytes, closed })
    }

    /// Registers a request and returns the stream of its events. `response` receives nothing if the request is cancelled.
    ///
    /// A client that is not `resumable` receives no event without a message, and its response is not kept.
    pub fn start(
        self: &Arc<Self>,
        request: RequestId,
        notifications: mpsc::Receiver<ServerNotification>,
        response: oneshot::Receiver<ServerJsonRpcMessage>,
        resumable: bool,
    ) -> impl Stream<Item = ServerSseMessage> + Send + Sync + use<> {
        let mut inner = self.lock();
        let number = inner.next_number;
        inner.next_number += 1;
        let exchange = Arc::new(Exchange {
            number,
            request,
            notifications: Mutex::new(Notifications::Running(notifications)),
            response: Mutex::new(Response::Pending),
            finished: CancellationToken::new(),
            removed: self.closed.child_token(),
            replaced: Mutex::default(),
            connections: AtomicUsize::new(0),
        });
        if resumable {
            inner.exchanges.insert(number, Arc::clone(&exchange));
        }
        drop(inner);
        tokio::spawn(Arc::clone(self).receive(Arc::clone(&exchange), response, resumable));
        Connection::new(Arc::clone(self), exchange).events(resumable)
    }

    /// Returns `true` if there are events after the one with this id, or will be.
    pub fn can_resume(&self, last_event_id: &str) -> bool {
        EventId::parse(last_event_id).is_some_and(|last| !last.is_response && self.lock().exchanges.contains_key(&last.request))
    }

    /// Returns the events after the one with this id, or `None` if there are none. Ends the stream of an earlier connection.
    pub fn resume(self: &Arc<Self>, last_event_id: &str) -> Option<impl Stream<Item = ServerSseMessage> + Send + Sync + use<>> {
        let last = EventId::parse(last_event_id).filter(|last| !last.is_response)?;
        let exchange = self.lock().exchanges.get(&last.request).cloned()?;
        Some(Connection::new(Arc::clone(self), exchange).events(false))
    }

    /// Waits for the response of a request, whether or not its client is connected, and keeps it for some time.
    async fn receive(self: Arc<Self>, exchange: Arc<Exchange>, response: oneshot::Receiver<ServerJsonRpcMessage>, resumable: bool) {
        let response = response.await.ok();
        let keep = resumable && response.is_some();
        *exchange.lock() = match response {
            Some(message) => {
                Response::Kept { bytes: response_size::of(&message, MAX_KEPT_BYTES), message: Arc::new(message), permit: None }
            }
            None => Response::None,
        };
        exchange.close_notifications();
        exchange.finished.cancel();
        if keep {
            self.drop_responses();
            let _ = tokio::time::timeout(KEEP_TIME, exchange.removed.cancelled()).await;
        }
        self.lock().exchanges.remove(&exchange.number);
    }

    /// Drops the oldest responses above the limits, except those that a connection is about to send.
    fn drop_responses(&self) {
        let mut inner = self.lock();
        let (mut finished, mut kept, mut kept_bytes, mut forgotten) = (0, 0, 0, Vec::new());
        // The newest first.
        for (number, exchange) in inner.exchanges.iter().rev() {
            let mut response = exchange.lock();
            if matches!(*response, Response::Pending) {
                continue;
            }
            finished += 1;
            if let Response::Kept { bytes, permit, .. } = &mut *response {
                if exchange.connections.load(Ordering::Relaxed) > 0 {
                    continue;
                }
                if kept < MAX_KEPT_RESPONSES && kept_bytes + *bytes <= MAX_KEPT_BYTES {
                    *permit = permit.take().or_else(|| self.kept_bytes.reserve(*bytes));
                    if permit.is_some() {
                        kept += 1;
                        kept_bytes += *bytes;
                        continue;
                    }
                }
                *response = Response::Dropped;
            }
            if finished > MAX_FINISHED || !exchange.has_short_id() {
                forgotten.push(*number);
            }
        }
        for number in forgotten {
            if let Some(exchange) = inner.exchanges.remove(&number) {
                exchange.removed.cancel();
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Exchange {
    fn lock(&self) -> MutexGuard<'_, Response> {
        self.response.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_short_id(&self) -> bool {
        !matches!(&self.request, RequestId::String(id) if id.len() > MAX_REMEMBERED_ID)
    }

    fn notifications(&self) -> MutexGuard<'_, Notifications> {
        self.notifications.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn poll_notification(&self, context: &mut Context<'_>) -> Poll<Option<ServerNotification>> {
        match &mut *self.notifications() {
            Notifications::Running(receiver) => receiver.poll_recv(context),
            Notifications::Finished(remaining) => Poll::Ready(remaining.pop_front()),
        }
    }

    /// Drops the channel for notifications, and keeps those that no connection has received.
    fn close_notifications(&self) {
        let mut notifications = self.notifications();
        if let Notifications::Running(receiver) = &mut *notifications {
            let remaining = std::iter::from_fn(|| receiver.try_recv().ok()).collect();
            *notifications = Notifications::Finished(remaining);
        }
    }

    /// Returns the event with the response, or `None` if there is no response.
    fn response_event(&self) -> Option<ServerSseMessage> {
        let message = match &*self.lock() {
            Response::Pending | Response::None => return None,
            Response::Kept { message, .. } => Arc::clone(message),
            Response::Dropped => {
                let text = "the request was executed, but its response was dropped: the connection was lost, and later responses needed \
                            the memory";
                Arc::new(ServerJsonRpcMessage::error(ErrorData::new(RESPONSE_DROPPED, text, None), Some(self.request.clone())))
            }
        };
        let mut event = ServerSseMessage::default();
        event.event_id = Some(EventId { request: self.number, is_response: true }.text());
        event.message = Some(message);
        Some(event)
    }
}

/// A connection that waits for the response of an exchange. The response can be dropped after the last one.
struct Connection {
    exchanges: Arc<Exchanges>,
    exchange: Arc<Exchange>,
}

impl Connection {
    fn new(exchanges: Arc<Exchanges>, exchange: Arc<Exchange>) -> Self {
        exchange.connections.fetch_add(1, Ordering::Relaxed);
        Self { exchanges, exchange }
    }

    /// Returns the remaining events: notifications, then the response. With `primed`, they begin with the event whose id a client needs
    /// to resume.
    fn events(self, primed: bool) -> impl Stream<Item = ServerSseMessage> + Send + Sync + use<> {
        let number = self.exchange.number;
        let replaced = CancellationToken::new();
        let previous = std::mem::replace(&mut *self.exchange.replaced.lock().unwrap_or_else(PoisonError::into_inner), replaced.clone());
        previous.cancel();
        let mut priming = primed.then(|| ServerSseMessage::priming(EventId { request: number, is_response: false }.text(), RETRY_TIME));
        let mut replaced = Box::pin(replaced.cancelled_owned());
        let mut finished = Box::pin(self.exchange.finished.clone().cancelled_owned());
        let mut is_finished = false;
        let mut connection = Some(self);
        stream::poll_fn(move |context| {
            if let Some(event) = priming.take() {
                return Poll::Ready(Some(event));
            }
            let Some(Self { exchange, .. }) = &connection else { return Poll::Ready(None) };
            if replaced.as_mut().poll(context).is_ready() {
                connection = None;
                return Poll::Ready(None);
            }
            is_finished = is_finished || finished.as_mut().poll(context).is_ready();
            // Polled after the response: a notification that was sent before the response is in the channel by now.
            if let Poll::Ready(Some(notification)) = exchange.poll_notification(context) {
                return Poll::Ready(Some(ServerSseMessage::from_message(ServerJsonRpcMessage::notification(notification))));
            }
            if !is_finished {
                return Poll::Pending;
            }
            let event = exchange.response_event();
            connection = None;
            Poll::Ready(event)
        })
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if self.exchange.connections.fetch_sub(1, Ordering::Relaxed) == 1 && self.exchange.finished.is_cancelled() {
            self.exchanges.drop_responses();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::EventId;

    #[test]
    fn event_ids_are_parsed_strictly() {
        for (text, request, is_response) in [("r0.0", 0, false), ("r12.1", 12, true)] {
            let id = EventId { request, is_response };
            assert_eq!((EventId::parse(text), id.text().as_str()), (Some(id), text));
        }
        for text in ["", "0", "0/1", "r1", "r1.2", "r1.0.0", "r-1.0", "r99999999999999999999.0", "x1.0"] {
            assert_eq!(EventId::parse(text), None, "{text}");
        }
    }
}
