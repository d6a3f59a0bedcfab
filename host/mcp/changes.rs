//! Who wants to hear of files that runs have changed.

use super::{arguments::invalid, resources};
use rmcp::{
    ErrorData, Peer, RoleServer,
    model::{ResourceUpdatedNotificationParam, SubscriptionFilter},
    service::SubscriptionContext,
};
use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::sync::{
    Semaphore,
    broadcast::{self, error::RecvError},
};
use toolscript::FileTouched;

/// Changes that a slow listener may be behind; it then hears of a change of the list only.
const BEHIND: usize = 64;

/// Addresses that one client may subscribe to: the host holds them.
const MAX_SUBSCRIPTIONS: usize = 1000;

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
    resources::name_of(uri).map(|name| resources::uri(&name))
}

/// The changes of one io dir.
pub struct Changes {
    sender: broadcast::Sender<Arc<[String]>>,
    subscriptions: Mutex<HashSet<String>>,
    listeners: Semaphore,
}

impl Default for Changes {
    fn default() -> Self {
        Self { sender: broadcast::channel(BEHIND).0, subscriptions: Mutex::default(), listeners: Semaphore::new(MAX_LISTENERS) }
    }
}

impl Changes {
    /// Tells those who listen, and by the older revisions' way the client whose run it was.
    pub async fn tell(&self, touched: &[FileTouched], peer: Option<&Peer<RoleServer>>) {
        if touched.is_empty() {
            return;
        }
        let uris: Arc<[String]> = touched.iter().map(|file| resources::uri(&file.name)).collect();
        // Nobody listening is fine.
        let _ = self.sender.send(Arc::clone(&uris));
        let Some(peer) = peer else { return };
        let subscribed: Vec<String> = uris.iter().filter(|uri| self.lock().contains(*uri)).cloned().collect();
        let telling = async {
            let _ = peer.notify_resource_list_changed().await;
            for uri in subscribed {
                let _ = peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await;
            }
        };
        let _ = tokio::time::timeout(PATIENCE, telling).await;
    }

    /// Notes that the client wants to hear of a resource.
    pub fn subscribe(&self, uri: &str) -> Result<(), ErrorData> {
        let uri = canonical(uri).ok_or_else(|| invalid("`uri` is too long, or not one of a file"))?;
        let mut subscriptions = self.lock();
        if subscriptions.len() >= MAX_SUBSCRIPTIONS && !subscriptions.contains(&uri) {
            return Err(ErrorData::invalid_request(format!("at most {MAX_SUBSCRIPTIONS} subscriptions are allowed"), None));
        }
        subscriptions.insert(uri);
        Ok(())
    }

    /// Notes that it does not any more.
    pub fn unsubscribe(&self, uri: &str) {
        if let Some(uri) = canonical(uri) {
            self.lock().remove(&uri);
        }
    }

    /// What of a wish to listen can be granted.
    pub fn granted(requested: &SubscriptionFilter) -> SubscriptionFilter {
        let mut granted = requested.clone();
        granted.resource_subscriptions = requested
            .resource_subscriptions
            .as_ref()
            .map(|uris| uris.iter().take(MAX_SUBSCRIPTIONS).filter_map(|uri| canonical(uri)).collect());
        granted
    }

    /// The newest revision's way: one request that lasts as long as the client listens.
    pub async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let Ok(_listener) = self.listeners.try_acquire() else {
            return Err(ErrorData::invalid_request(format!("at most {MAX_LISTENERS} requests may listen at once"), None));
        };
        let mut receiver = self.sender.subscribe();
        loop {
            let news = tokio::select! {
                () = context.cancelled() => return Ok(()),
                news = receiver.recv() => news,
            };
            let uris = match news {
                Ok(uris) => uris,
                Err(RecvError::Lagged(_)) => Arc::default(),
                Err(RecvError::Closed) => return Ok(()),
            };
            // What this client did not ask for is refused by the sink.
            let _ = context.sink().notify_resource_list_changed().await;
            for uri in uris.iter() {
                let _ = context.sink().notify_resource_updated(uri.clone()).await;
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashSet<String>> {
        self.subscriptions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
