//! The settings of one client that starts with `initialize`: its log level and its subscriptions.

#![expect(deprecated, reason = "rmcp deprecates logging, as the newest protocol revision does; clients use it")]

use super::{session_notifications::SessionNotifications, subscriptions::Subscriptions, tenant::Tenant};
use rmcp::{Peer, RoleServer, model::LoggingLevel, service::RequestContext};
use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};
use tokio_util::sync::{CancellationToken, DropGuard};

/// The session of one connection. Protocol revisions without `initialize` send their settings with each request instead.
pub struct ClientSession {
    level: Mutex<Option<LoggingLevel>>,
    pub subscriptions: Arc<Subscriptions>,
    /// The notifications of a session over HTTP, whose requests have no connection in common.
    pub notifications: Option<Arc<SessionNotifications>>,
    /// Set by the first `initialized`, because a client may send it more than once.
    follows_changes: AtomicBool,
    closed: CancellationToken,
    /// Ends the background task of the session when the session is dropped.
    _close_on_drop: DropGuard,
}

impl Default for ClientSession {
    fn default() -> Self {
        let closed = CancellationToken::new();
        Self {
            level: Mutex::default(),
            subscriptions: Arc::default(),
            notifications: None,
            follows_changes: AtomicBool::new(false),
            closed: closed.clone(),
            _close_on_drop: closed.drop_guard(),
        }
    }
}

impl ClientSession {
    /// Creates the session of a client that sends each request separately.
    pub fn over_http(tenant: &Tenant) -> Self {
        let mut session = Self::default();
        let notifications = Arc::new(SessionNotifications::new(Arc::clone(&session.subscriptions)));
        if tenant.io.is_some() {
            tenant.file_changes.add_session(&notifications);
        }
        session.notifications = Some(notifications);
        session
    }

    /// Returns the lowest level of log messages that the client wants: the level of this request, or the level of the session.
    pub fn level(&self, context: &RequestContext<RoleServer>) -> Option<LoggingLevel> {
        if !has_session(context) {
            return context.meta.log_level();
        }
        *self.level.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the level of the session.
    pub fn set_level(&self, level: LoggingLevel) {
        *self.level.lock().unwrap_or_else(PoisonError::into_inner) = Some(level);
    }

    /// Starts to notify the client of changes that other clients make. Later calls do nothing.
    pub fn follow_changes(&self, tenant: &Tenant, peer: Peer<RoleServer>) {
        if tenant.io.is_some() && !self.follows_changes.swap(true, Ordering::Relaxed) {
            tenant.file_changes.follow(Arc::clone(&self.subscriptions), peer, self.closed.clone());
        }
    }
}

/// Returns `true` if the request uses a protocol revision with `initialize`, which has session settings.
pub fn has_session(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_none_or(|version| version.has_initialize())
}
