//! Subscriptions to file changes, and the notifications that subscribers receive.

use super::{arguments::invalid_params, file_resources, session_notifications::SessionNotifications};
use rmcp::{
    ErrorData, Peer, RoleServer,
    model::{ResourceUpdatedNotificationParam, SubscriptionFilter},
    service::SubscriptionContext,
};
use std::{
    collections::{HashSet, VecDeque},
    hash::{BuildHasher as _, RandomState},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::sync::{
    Semaphore,
    broadcast::{self, error::RecvError},
};
use tokio_util::sync::CancellationToken;

/// The number of changes that are kept for a slow subscriber. A slower one is notified only that the list of files changed.
const MAX_QUEUED_CHANGES: usize = 64;

/// The maximum number of URIs that one client can subscribe to. The host stores a hash of each.
const MAX_SUBSCRIPTIONS: usize = 1000;

/// The maximum number of URIs in one `subscriptions/listen` request. If it has more, none is accepted: rmcp compares each of them with each
/// accepted one.
const MAX_REQUESTED_URIS: usize = 1000;

/// The maximum number of URIs of one `subscriptions/listen` request that are accepted.
const MAX_ACCEPTED_URIS: usize = 100;

/// The maximum size of all URIs in one `subscriptions/listen` request, in bytes. The host stores them.
const MAX_FILTER_BYTES: usize = 256 << 10;

/// The maximum number of URIs in one change. For a larger change, subscribers are notified only that the list of files changed.
const MAX_CHANGED_FILES: usize = 100;

/// The maximum size of a URI in bytes: a path with each byte encoded, and the scheme.
const MAX_URI_BYTES: usize = 3 * 4096 + 16;

/// The maximum number of `subscriptions/listen` requests at the same time. The host stores the filter of each.
const MAX_LISTENERS: usize = 16;

/// The time to notify a client of one change. A client that does not read in time misses the notification.
const NOTIFY_TIMEOUT: Duration = Duration::from_secs(1);

/// Returns the URI in the form that this server uses, so that each file has one URI.
fn normalize(uri: &str) -> Option<String> {
    if uri.len() > MAX_URI_BYTES {
        return None;
    }
    let name = file_resources::file_name(uri)?;
    let components: Vec<&str> = name.split('/').filter(|component| !matches!(*component, "" | ".")).collect();
    Some(file_resources::uri(&components.join("/")))
}

/// The files that one run or file tool changed.
#[derive(Clone)]
struct Change {
    uris: Arc<[String]>,
    /// The id of the [`Subscriptions`] of the client that made the change. That client is notified directly.
    origin: u64,
}

/// The resource subscriptions of one client session.
pub struct Subscriptions {
    /// Hashes of the URIs. A collision only causes a superfluous notification.
    uris: Mutex<HashSet<u64>>,
    hasher: RandomState,
    id: u64,
}

impl Default for Subscriptions {
    fn default() -> Self {
        static NEXT_ID: AtomicU64 = AtomicU64::new(0);
        Self { uris: Mutex::default(), hasher: RandomState::new(), id: NEXT_ID.fetch_add(1, Ordering::Relaxed) }
    }
}

impl Subscriptions {
    /// Adds a URI.
    ///
    /// # Errors
    ///
    /// When it is not the URI of a file, or there are too many.
    pub fn add(&self, uri: &str) -> Result<(), ErrorData> {
        let uri = normalize(uri).ok_or_else(|| invalid_params("`uri` is too long or not the URI of a file"))?;
        let hash = self.hasher.hash_one(uri);
        let mut uris = self.lock();
        if uris.len() >= MAX_SUBSCRIPTIONS && !uris.contains(&hash) {
            return Err(ErrorData::invalid_request(format!("at most {MAX_SUBSCRIPTIONS} subscriptions are allowed"), None));
        }
        uris.insert(hash);
        Ok(())
    }

    /// Removes a URI.
    pub fn remove(&self, uri: &str) {
        if let Some(uri) = normalize(uri) {
            self.lock().remove(&self.hasher.hash_one(uri));
        }
    }

    /// Returns the URIs that the client subscribed to.
    pub fn select<'a>(&self, uris: &'a [String]) -> Vec<&'a str> {
        let subscribed = self.lock();
        uris.iter().filter(|uri| subscribed.contains(&self.hasher.hash_one(uri))).map(String::as_str).collect()
    }

    /// Notifies the client of a change. Gives up after a timeout.
    async fn notify(&self, uris: &[String], peer: &Peer<RoleServer>) {
        let subscribed = self.select(uris);
        let send = async {
            let _ = peer.notify_resource_list_changed().await;
            for uri in subscribed {
                let _ = peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await;
            }
        };
        let _ = tokio::time::timeout(NOTIFY_TIMEOUT, send).await;
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<u64>> {
        self.uris.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Distributes the changes of one io directory to all subscribers.
pub struct FileChanges {
    sender: broadcast::Sender<Change>,
    listeners: Semaphore,
    /// Receivers of accepted `subscriptions/listen` requests, oldest first. rmcp acknowledges a request before it calls
    /// [`listen`](Self::listen), and a client must not miss a change that happens after the acknowledgement.
    accepted: Mutex<VecDeque<broadcast::Receiver<Change>>>,
    /// The sessions over HTTP. They have no task that follows the changes.
    sessions: Mutex<Vec<Weak<SessionNotifications>>>,
}

impl Default for FileChanges {
    fn default() -> Self {
        let (sender, _) = broadcast::channel(MAX_QUEUED_CHANGES);
        Self { sender, listeners: Semaphore::new(MAX_LISTENERS), accepted: Mutex::default(), sessions: Mutex::default() }
    }
}

impl FileChanges {
    /// Notifies all subscribers of changed files. `peer` is the client that made the change, if it has a session on a connection of its
    /// own; it is notified directly.
    pub async fn notify(&self, names: &[&str], subscriptions: &Subscriptions, peer: Option<&Peer<RoleServer>>) {
        if names.is_empty() {
            return;
        }
        let listed = if names.len() <= MAX_CHANGED_FILES { names } else { &[] };
        let uris: Arc<[String]> = listed.iter().map(|name| file_resources::uri(name)).collect();
        // Sending fails if there are no subscribers.
        let _ = self.sender.send(Change { uris: Arc::clone(&uris), origin: subscriptions.id });
        for session in self.sessions().iter().filter_map(Weak::upgrade) {
            session.add(&uris);
        }
        if let Some(peer) = peer {
            subscriptions.notify(&uris, peer).await;
        }
    }

    /// Notifies a session over HTTP of all changes, until it is dropped.
    pub fn add_session(&self, session: &Arc<SessionNotifications>) {
        let mut sessions = self.sessions();
        sessions.retain(|session| session.strong_count() > 0);
        sessions.push(Arc::downgrade(session));
    }

    fn sessions(&self) -> MutexGuard<'_, Vec<Weak<SessionNotifications>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notifies a client session of the changes that other clients make, until `closed` is cancelled.
    pub fn follow(&self, subscriptions: Arc<Subscriptions>, peer: Peer<RoleServer>, closed: CancellationToken) {
        let mut receiver = self.sender.subscribe();
        let follow = async move {
            while let Some(change) = next(&mut receiver).await {
                if change.origin != subscriptions.id {
                    subscriptions.notify(&change.uris, &peer).await;
                }
            }
        };
        tokio::spawn(closed.run_until_cancelled_owned(follow));
    }

    /// Returns the part of a `subscriptions/listen` filter that the server accepts, and begins to keep changes for that request.
    pub fn accept(&self, requested: &SubscriptionFilter) -> SubscriptionFilter {
        let mut receivers = self.accepted.lock().unwrap_or_else(PoisonError::into_inner);
        // A request that ended before its acknowledgement leaves its receiver.
        if receivers.len() == MAX_LISTENERS {
            receivers.pop_front();
        }
        receivers.push_back(self.sender.subscribe());
        Self::accepted_filter(requested)
    }

    /// Returns the oldest receiver of an accepted request. It may contain changes from before this request was accepted, which only causes
    /// superfluous notifications.
    fn accepted_receiver(&self) -> broadcast::Receiver<Change> {
        let oldest = self.accepted.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        oldest.unwrap_or_else(|| self.sender.subscribe())
    }

    fn accepted_filter(requested: &SubscriptionFilter) -> SubscriptionFilter {
        let mut accepted = SubscriptionFilter::default();
        accepted.tools_list_changed = requested.tools_list_changed;
        accepted.prompts_list_changed = requested.prompts_list_changed;
        accepted.resources_list_changed = requested.resources_list_changed;
        let mut remaining = MAX_FILTER_BYTES;
        let fits = |uri: &String| {
            remaining = remaining.saturating_sub(uri.len());
            remaining > 0
        };
        accepted.resource_subscriptions = requested
            .resource_subscriptions
            .as_ref()
            .filter(|uris| uris.len() <= MAX_REQUESTED_URIS)
            .map(|uris| uris.iter().take(MAX_ACCEPTED_URIS).filter_map(|uri| normalize(uri)).take_while(fits).collect());
        accepted
    }

    /// Answers a `subscriptions/listen` request of the newest protocol revision, which lasts until the client ends it or the server
    /// drains.
    pub async fn listen(&self, context: SubscriptionContext, drain: &CancellationToken) -> Result<(), ErrorData> {
        let mut receiver = self.accepted_receiver();
        let Ok(_permit) = self.listeners.try_acquire() else {
            return Err(ErrorData::invalid_request(format!("at most {MAX_LISTENERS} requests can listen at the same time"), None));
        };
        loop {
            let change = tokio::select! {
                () = context.cancelled() => return Ok(()),
                () = drain.cancelled() => return Ok(()),
                change = next(&mut receiver) => change,
            };
            let Some(change) = change else { return Ok(()) };
            // The sink drops notifications that the client did not request.
            let _ = context.sink().notify_resource_list_changed().await;
            for uri in change.uris.iter() {
                let _ = context.sink().notify_resource_updated(uri.clone()).await;
            }
        }
    }
}

/// Waits for the next change. Returns a change without URIs if the receiver missed some, and `None` at the end.
async fn next(receiver: &mut broadcast::Receiver<Change>) -> Option<Change> {
    match receiver.recv().await {
        Ok(change) => Some(change),
        Err(RecvError::Lagged(_)) => Some(Change { uris: Arc::default(), origin: u64::MAX }),
        Err(RecvError::Closed) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_change_after_the_acknowledgement_is_not_missed() {
        let changes = FileChanges::default();
        changes.accept(&SubscriptionFilter::default());
        changes.notify(&["a.txt"], &Subscriptions::default(), None).await;
        let change = changes.accepted_receiver().try_recv();
        assert_eq!(change.map(|change| change.uris.to_vec()).ok(), Some(vec!["io:///a.txt".to_owned()]));
    }

    #[test]
    fn requests_that_are_never_answered_leave_a_bounded_number_of_receivers() {
        let changes = FileChanges::default();
        for _ in 0..100 {
            changes.accept(&SubscriptionFilter::default());
        }
        assert_eq!(changes.sender.receiver_count(), MAX_LISTENERS);
    }
}
