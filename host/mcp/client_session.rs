//! The settings of one client that starts with `initialize`: its log level and its subscriptions.

#![expect(deprecated, reason = "rmcp deprecates logging, as the newest protocol revision does; clients use it")]

use super::{subscriptions::Subscriptions, tenant::Tenant};
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
            follows_changes: AtomicBool::new(false),
            closed: closed.clone(),
            _close_on_drop: closed.drop_guard(),
        }
    }
}

impl ClientSession {
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
