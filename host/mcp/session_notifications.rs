//! The notifications of one HTTP session that belong to no request. They are kept until the client reads them from its event stream.
//!
//! A session without a stream has no task, and the memory for its notifications is bounded.

use super::subscriptions::Subscriptions;
use futures_util::{Stream, StreamExt as _, stream};
use rmcp::model::{ResourceUpdatedNotificationParam, ServerJsonRpcMessage, ServerNotification};
use rmcp::{
    model::{ResourceListChangedNotification, ResourceUpdatedNotification},
    transport::streamable_http_server::session::ServerSseMessage,
};
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::{Mutex as AsyncMutex, Notify, OwnedMutexGuard};
use tokio_util::sync::CancellationToken;

/// The maximum number of notifications that are kept for one session: more than one change of files causes. A client that misses some is
/// notified that the list of files changed.
const MAX_KEPT: usize = 128;

/// The maximum size of the URIs that are kept for one session, in bytes.
const MAX_KEPT_BYTES: usize = 6 << 10;

/// The notifications of one session.
pub struct SessionNotifications {
    pub subscriptions: Arc<Subscriptions>,
    kept: Mutex<Kept>,
    added: Notify,
    /// Held by the stream that receives the notifications. Further streams of the session wait for it.
    reader: Arc<AsyncMutex<()>>,
}

#[derive(Default)]
struct Kept {
    /// The URI of a changed file, or `None` for a change of the list of files.
    events: VecDeque<Option<Box<str>>>,
    bytes: usize,
    /// The id of the next event. The ids of the kept events are the ones before.
    next_id: u64,
    /// The id of the first event that no stream has sent.
    first_unsent: u64,
}

impl Kept {
    fn first_id(&self) -> u64 {
        self.next_id - self.events.len() as u64
    }

    fn add(&mut self, event: Option<&str>) {
        self.bytes += event.map_or(0, str::len);
        self.events.push_back(event.map(Into::into));
        self.next_id += 1;
        while self.events.len() > MAX_KEPT || self.bytes > MAX_KEPT_BYTES {
            let removed = self.events.pop_front().flatten();
            self.bytes -= removed.map_or(0, |uri| uri.len());
        }
    }

    /// Returns the event with the id `next`, with its id, or `None` if it does not exist yet. Replaces events that were removed by a change
    /// of the list of files.
    fn take(&mut self, next: u64) -> Option<(u64, Option<Box<str>>)> {
        let found = match next.checked_sub(self.first_id()) {
            None => (self.first_id() - 1, None),
            Some(index) => (next, self.events.get(usize::try_from(index).ok()?)?.clone()),
        };
        self.first_unsent = self.first_unsent.max(found.0 + 1);
        Some(found)
    }
}

impl SessionNotifications {
    pub fn new(subscriptions: Arc<Subscriptions>) -> Self {
        Self { subscriptions, kept: Mutex::default(), added: Notify::new(), reader: Arc::default() }
    }

    /// Adds the notifications for a change of files.
    pub fn add(&self, uris: &[String]) {
        let mut kept = self.lock();
        kept.add(None);
        for uri in self.subscriptions.select(uris) {
            kept.add(Some(uri));
        }
        drop(kept);
        self.added.notify_one();
    }

    /// Returns the notifications after the one with the id `last`, or those that were not sent yet, until `closed` is cancelled.
    ///
    /// One stream of a session receives them. Others wait until it ends.
    pub fn events(
        self: &Arc<Self>,
        last: Option<u64>,
        closed: CancellationToken,
    ) -> impl Stream<Item = ServerSseMessage> + Send + Sync + use<> {
        let reader = Reader { notifications: Arc::clone(self), next: last.map(|last| last.saturating_add(1)), _turn: None };
        stream::unfold(reader, |mut reader| async { Some((reader.next().await, reader)) }).take_until(Box::pin(closed.cancelled_owned()))
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One stream of a session.
struct Reader {
    notifications: Arc<SessionNotifications>,
    /// The id of the next event, if it is known.
    next: Option<u64>,
    _turn: Option<OwnedMutexGuard<()>>,
}

impl Reader {
    async fn next(&mut self) -> ServerSseMessage {
        if self._turn.is_none() {
            self._turn = Some(Arc::clone(&self.notifications.reader).lock_owned().await);
        }
        loop {
            let found = {
                let mut kept = self.notifications.lock();
                // An id that was not sent yet is not an id of this session.
                let next = self.next.unwrap_or(kept.first_unsent).min(kept.next_id);
                kept.take(next)
            };
            if let Some((id, event)) = found {
                self.next = Some(id + 1);
                return ServerSseMessage::new(id.to_string(), message(event));
            }
            self.notifications.added.notified().await;
        }
    }
}

fn message(event: Option<Box<str>>) -> ServerJsonRpcMessage {
    let notification: ServerNotification = match event {
        None => ResourceListChangedNotification::default().into(),
        Some(uri) => ResourceUpdatedNotification::new(ResourceUpdatedNotificationParam::new(String::from(uri))).into(),
    };
    ServerJsonRpcMessage::notification(notification)
}

#[cfg(test)]
mod tests {
    use super::{Kept, MAX_KEPT, MAX_KEPT_BYTES};

    #[test]
    fn kept_notifications_are_bounded_and_missing_ones_become_a_change_of_the_list() {
        let mut kept = Kept::default();
        assert_eq!(kept.take(0), None);
        kept.add(Some("a"));
        assert_eq!(kept.take(0), Some((0, Some("a".into()))));
        assert_eq!(kept.take(1), None);
        for _ in 0..MAX_KEPT {
            kept.add(None);
        }
        assert_eq!((kept.events.len(), kept.bytes), (MAX_KEPT, 0));
        assert_eq!(kept.take(1), Some((1, None)));
        kept.add(Some(&"x".repeat(MAX_KEPT_BYTES)));
        assert_eq!(kept.take(0).map(|(id, event)| (id, event.is_none())), Some((1, true)));
        kept.add(Some("y"));
        assert_eq!((kept.events.len(), kept.bytes), (1, 1));
        assert_eq!(kept.take(5), Some((kept.first_id() - 1, None)));
        assert_eq!(kept.take(kept.first_id()), Some((kept.first_id(), Some("y".into()))));
        kept.add(Some(&"x".repeat(MAX_KEPT_BYTES + 1)));
        assert_eq!((kept.events.len(), kept.bytes), (0, 0));
        assert_eq!(kept.take(kept.next_id - 1), Some((kept.next_id - 1, None)));
        assert_eq!(kept.take(kept.next_id), None);
    }
}
