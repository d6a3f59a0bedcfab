//! Who wants to hear of files that runs have changed.

use super::{arguments::invalid, resources};
use rmcp::{
    ErrorData, Peer, RoleServer,
    model::{ResourceUpdatedNotificationParam, SubscriptionFilter},
    service::SubscriptionContext,
};
use std::{
    collections::HashSet,
    hash::{BuildHasher as _, RandomState},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::sync::{
    Semaphore,
    broadcast::{self, error::RecvError},
};
use tokio_util::sync::CancellationToken;

/// Changes that a slow listener may be behind; it then hears of a change of the list only.
const BEHIND: usize = 64;

/// Addresses that one client may subscribe to: the host holds a hash of each.
const MAX_SUBSCRIPTIONS: usize = 1000;

/// Bytes of all addresses that one request may listen for, which the host holds.
const MAX_FILTER: usize = 256 << 10;

/// Addresses in one piece of news; of more, those who listen hear that the list has changed.
const MAX_NEWS: usize = 100;

/// Bytes of such an address: a path, with each byte encoded, and what is in front.
const MAX_URI: usize = 3 * 4096 + 16;

/// Requests of the newest revision's kind that may listen at once: each holds what its client asked for.
const MAX_LISTENERS: usize = 16;

/// How long a notice may take, before the result goes out without it.
const PATIENCE: Duration = Duration::from_secs(1);

/// The address as this server writes it: one file has one.
fn canonical(uri: &str) -> Option<String> {
    if uri.len() > MAX_URI {
        return None;
    }
    let name = resources::name_of(uri)?;
    let components: Vec<&str> = name.split('/').filter(|component| !matches!(*component, "" | ".")).collect();
    Some(resources::uri(&components.join("/")))
}

/// What a run has changed.
#[derive(Clone)]
struct News {
    uris: Arc<[String]>,
    /// The subscriptions of the client whose run it was, which has heard of it.
    from: u64,
}

/// What a client of the older revisions' kind wants to hear of.
pub struct Subscriptions {
    /// Their hashes: two that are the same mean one notification too many.
    uris: Mutex<HashSet<u64>>,
    hasher: RandomState,
    number: u64,
}

impl Default for Subscriptions {
    fn default() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self { uris: Mutex::default(), hasher: RandomState::new(), number: LAST.fetch_add(1, Ordering::Relaxed) }
    }
}

impl Subscriptions {
    /// Notes that the client wants to hear of a resource.
    pub fn add(&self, uri: &str) -> Result<(), ErrorData> {
        let uri = self.hasher.hash_one(canonical(uri).ok_or_else(|| invalid("`uri` is too long, or not one of a file"))?);
        let mut uris = self.lock();
        if uris.len() >= MAX_SUBSCRIPTIONS && !uris.contains(&uri) {
            return Err(ErrorData::invalid_request(format!("at most {MAX_SUBSCRIPTIONS} subscriptions are allowed"), None));
        }
        uris.insert(uri);
        Ok(())
    }

    /// Notes that it does not any more.
    pub fn remove(&self, uri: &str) {
        if let Some(uri) = canonical(uri) {
            self.lock().remove(&self.hasher.hash_one(uri));
        }
    }

    async fn tell(&self, uris: &[String], peer: &Peer<RoleServer>) {
        let is_subscribed = |uri: &&String| self.lock().contains(&self.hasher.hash_one(uri));
        let subscribed: Vec<String> = uris.iter().filter(is_subscribed).cloned().collect();
        let _ = peer.notify_resource_list_changed().await;
        for uri in subscribed {
            let _ = peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await;
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashSet<u64>> {
        self.uris.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The changes of one io dir.
pub struct Changes {
    sender: broadcast::Sender<News>,
    listeners: Semaphore,
}

impl Default for Changes {
    fn default() -> Self {
        Self { sender: broadcast::channel(BEHIND).0, listeners: Semaphore::new(MAX_LISTENERS) }
    }
}

impl Changes {
    /// Tells those who listen, and by the older revisions' way the client whose run it was.
    pub async fn tell(&self, names: &[&str], subscriptions: &Subscriptions, peer: Option<&Peer<RoleServer>>) {
        if names.is_empty() {
            return;
        }
        let listed = if names.len() <= MAX_NEWS { names } else { &[] };
        let uris: Arc<[String]> = listed.iter().map(|name| resources::uri(name)).collect();
        // Nobody listening is fine.
        let _ = self.sender.send(News { uris: Arc::clone(&uris), from: subscriptions.number });
        if let Some(peer) = peer {
            let _ = tokio::time::timeout(PATIENCE, subscriptions.tell(&uris, peer)).await;
        }
    }

    /// The older revisions' way to hear of what other clients' runs have changed, until the client is gone.
    pub fn follow(&self, subscriptions: Arc<Subscriptions>, peer: Peer<RoleServer>, gone: CancellationToken) {
        let mut receiver = self.sender.subscribe();
        let following = async move {
            while let Some(news) = next(&mut receiver).await {
                if news.from != subscriptions.number {
                    let _ = tokio::time::timeout(PATIENCE, subscriptions.tell(&news.uris, &peer)).await;
                }
            }
        };
        tokio::spawn(gone.run_until_cancelled_owned(following));
    }

    /// What of a wish to listen can be granted.
    pub fn granted(requested: &SubscriptionFilter) -> SubscriptionFilter {
        let mut granted = requested.clone();
        let mut room = MAX_FILTER;
        let fits = |uri: &String| {
            room = room.saturating_sub(uri.len());
            room > 0
        };
        granted.resource_subscriptions = requested
            .resource_subscriptions
            .as_ref()
            .map(|uris| uris.iter().take(MAX_SUBSCRIPTIONS).filter_map(|uri| canonical(uri)).take_while(fits).collect());
        granted
    }

    /// The newest revision's way: one request that lasts as long as the client listens, or the server serves.
    pub async fn listen(&self, context: SubscriptionContext, draining: &CancellationToken) -> Result<(), ErrorData> {
        let Ok(_listener) = self.listeners.try_acquire() else {
            return Err(ErrorData::invalid_request(format!("at most {MAX_LISTENERS} requests may listen at once"), None));
        };
        let mut receiver = self.sender.subscribe();
        loop {
            let news = tokio::select! {
                () = context.cancelled() => return Ok(()),
                () = draining.cancelled() => return Ok(()),
                news = next(&mut receiver) => news,
            };
            let Some(news) = news else { return Ok(()) };
            // What this client did not ask for is refused by the sink.
            let _ = context.sink().notify_resource_list_changed().await;
            for uri in news.uris.iter() {
                let _ = context.sink().notify_resource_updated(uri.clone()).await;
            }
        }
    }
}

/// The next change; one who is too far behind hears that there were some.
async fn next(receiver: &mut broadcast::Receiver<News>) -> Option<News> {
    match receiver.recv().await {
        Ok(news) => Some(news),
        Err(RecvError::Lagged(_)) => Some(News { uris: Arc::default(), from: u64::MAX }),
        Err(RecvError::Closed) => None,
    }
}
