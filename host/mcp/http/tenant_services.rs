//! The services of tenants. Each authenticated subject has a service of its own, created with its first request and removed when the
//! tenant is idle.

use super::{options::HttpOptions, sessions::Sessions};
use crate::{
    Files,
    engine::IoOptions,
    files::{DirectoryError, FileError},
    mcp::{handler::Handler, state::ServerState, tenant::Tenant, tenant_limits::TenantLimits},
};
use aws_lc_rs::digest::{SHA256, digest};
use axum::http::HeaderMap;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService, session::SessionId};
use std::{
    collections::HashMap,
    fmt::Write as _,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::{Duration, Instant},
};
use tokio::{
    sync::{OnceCell, Semaphore},
    task::JoinError,
};

/// The minimum time between two searches for idle tenants.
const MIN_SWEEP_INTERVAL: Duration = Duration::from_millis(100);

/// The length of the hash in the name of a tenant's directory, in bytes.
const DIRECTORY_HASH_LENGTH: usize = 16;

/// The maximum number of sessions of one tenant.
const MAX_SESSIONS: usize = 64;

/// The maximum number of requests of one tenant at the same time. Each may hold an unread response.
const MAX_REQUESTS: usize = 64;

/// The maximum number of large bodies that one tenant sends at the same time. Further ones wait.
const MAX_LARGE_BODIES: usize = 4;

/// The limits of one service.
#[derive(Clone, Copy, Debug)]
pub struct ServiceLimits {
    pub sessions: usize,
    /// The time after which an unused session is ended.
    pub session_idle_timeout: Duration,
    /// Requests at the same time, including those that wait for notifications.
    pub requests: usize,
    pub large_bodies: usize,
}

/// The MCP service of one tenant.
pub struct TenantService {
    pub service: StreamableHttpService<Handler, Sessions>,
    /// The permits for requests.
    pub requests: Arc<Semaphore>,
    /// The permits for large bodies.
    pub large_bodies: Semaphore,
    /// The slots for large responses.
    pub response_slots: Arc<Semaphore>,
    sessions: Arc<Sessions>,
    files: Option<Files>,
    max_requests: usize,
}

impl TenantService {
    pub fn new(tenant: Tenant, limits: ServiceLimits) -> Self {
        let files = tenant.io.as_ref().map(|io| io.files.clone());
        let response_slots = Arc::clone(&tenant.response_slots);
        let tenant = Arc::new(tenant);
        let sessions = Arc::new(Sessions::new(Arc::clone(&tenant), limits.sessions, limits.session_idle_timeout));
        let config = StreamableHttpServerConfig::default()
            // A response with one message is plain JSON, not an event stream.
            .with_json_response(true)
            // `Sessions` sends the retry event, only to clients that support it.
            .with_sse_retry(None)
            // The router checks these for all paths; see [`super`].
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_max_request_body_bytes(usize::MAX);
        let service = StreamableHttpService::new(move || Ok(Handler::new(Arc::clone(&tenant))), Arc::clone(&sessions), config);
        Self {
            service,
            requests: Arc::new(Semaphore::new(limits.requests)),
            large_bodies: Semaphore::new(limits.large_bodies),
            response_slots,
            sessions,
            files,
            max_requests: limits.requests,
        }
    }

    /// Returns the session in the headers, if it belongs to this tenant.
    pub fn session(&self, headers: &HeaderMap) -> Option<SessionId> {
        let id = headers.get("mcp-session-id").and_then(|id| id.to_str().ok());
        id.filter(|id| self.sessions.contains(id)).map(Into::into)
    }

    /// Ends a session and its requests.
    pub fn end_session(&self, id: &SessionId) {
        self.sessions.remove(id);
    }

    /// Returns `true` unless the client wants to resume a stream that can't be resumed.
    pub fn can_resume(&self, headers: &HeaderMap) -> bool {
        let [session, last_event] = ["mcp-session-id", "last-event-id"].map(|name| headers.get(name).and_then(|value| value.to_str().ok()));
        match (session, last_event) {
            (Some(session), Some(last_event)) => self.sessions.can_resume(session, last_event),
            _ => true,
        }
    }

    /// Returns `true` until the files of the tenant are counted. If it were removed then, the next request would start from the beginning.
    fn is_being_counted(&self) -> bool {
        self.files.as_ref().is_some_and(Files::is_being_counted)
    }

    fn is_idle(&self) -> bool {
        !self.is_being_counted() && self.sessions.is_empty() && self.requests.available_permits() == self.max_requests
    }
}

/// The services of all recent tenants.
pub struct TenantServices {
    state: Arc<ServerState>,
    tenant_limits: TenantLimits,
    service_limits: ServiceLimits,
    /// The io directory, with a subdirectory for each tenant.
    io: Option<IoOptions>,
    issuer: String,
    max_tenants: usize,
    idle_timeout: Duration,
    entries: Mutex<Entries>,
}

#[derive(Default)]
struct Entries {
    tenants: HashMap<String, Entry>,
    /// A task removes idle tenants, as long as there are tenants.
    has_sweeper: bool,
}

struct Entry {
    service: Arc<OnceCell<Arc<TenantService>>>,
    last_used: Instant,
}

/// The reason that the service of a tenant could not be created.
#[derive(Debug, thiserror::Error)]
pub enum TenantError {
    #[error("can't open the directory of a tenant")]
    Directory(#[source] DirectoryError),
    #[error("can't count the files of a tenant")]
    DiskUsage(#[source] FileError),
    #[error("the task that opens the directory of a tenant failed")]
    Task(#[from] JoinError),
}

impl TenantServices {
    pub fn new(state: Arc<ServerState>, options: &HttpOptions, io: Option<IoOptions>, issuer: String) -> Self {
        let requests = MAX_REQUESTS.min(options.max_connections);
        Self {
            state,
            tenant_limits: options.tenant_limits,
            service_limits: ServiceLimits {
                sessions: MAX_SESSIONS,
                session_idle_timeout: options.session_idle_timeout,
                requests,
                large_bodies: MAX_LARGE_BODIES,
            },
            io,
            issuer,
            max_tenants: options.max_tenants,
            idle_timeout: options.tenant_idle_timeout,
            entries: Mutex::default(),
        }
    }

    /// Returns the service of a subject, or `None` if there are too many tenants.
    ///
    /// # Errors
    ///
    /// When the directory of the tenant can't be used.
    pub async fn get(self: &Arc<Self>, subject: &str) -> Result<Option<Arc<TenantService>>, TenantError> {
        let name = directory_name(&self.issuer, subject);
        let Some(cell) = self.entry(&name) else { return Ok(None) };
        if let Some(service) = cell.get() {
            return Ok(Some(Arc::clone(service)));
        }
        // A separate task finishes even if the client disconnects, so that the next request does not count the files again.
        let services = Arc::clone(self);
        let create = tokio::spawn(async move { cell.get_or_try_init(|| services.create(&name)).await.cloned() });
        create.await?.map(Some)
    }

    /// Returns the entry of a tenant, new or existing. Removes idle tenants if there are too many.
    fn entry(self: &Arc<Self>, name: &str) -> Option<Arc<OnceCell<Arc<TenantService>>>> {
        let mut entries = self.lock();
        if !entries.tenants.contains_key(name) && entries.tenants.len() >= self.max_tenants {
            self.remove_idle(&mut entries);
            if entries.tenants.len() >= self.max_tenants {
                return None;
            }
        }
        let entry = entries.tenants.entry(name.into()).or_insert_with(|| Entry { service: Arc::default(), last_used: Instant::now() });
        entry.last_used = Instant::now();
        let service = Arc::clone(&entry.service);
        if !std::mem::replace(&mut entries.has_sweeper, true) {
            tokio::spawn(sweep(Arc::downgrade(self), self.idle_timeout));
        }
        self.count(&entries);
        Some(service)
    }

    fn remove_idle(&self, entries: &mut Entries) {
        let count = entries.tenants.len();
        entries.tenants.retain(|_, entry| {
            let is_busy = Arc::strong_count(&entry.service) > 1 || entry.service.get().is_some_and(|service| !service.is_idle());
            is_busy || entry.last_used.elapsed() < self.idle_timeout
        });
        if entries.tenants.len() < count {
            entries.tenants.shrink_to_fit();
            self.state.unused_memory.release_soon();
        }
        self.count(entries);
    }

    /// Reports the number of tenants in the metrics.
    fn count(&self, entries: &Entries) {
        self.state.metrics.tenants.set(i64::try_from(entries.tenants.len()).unwrap_or(i64::MAX));
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn create(&self, name: &str) -> Result<Arc<TenantService>, TenantError> {
        let io = match &self.io {
            None => None,
            Some(io) => {
                let (mut io, name, disk_bytes) = (io.clone(), name.to_owned(), self.tenant_limits.disk_bytes);
                io.files = self.state.spawn_blocking(move || open_directory(&io.files, &name, disk_bytes)).await??;
                Some(io)
            }
        };
        let tenant = Tenant::new(Arc::clone(&self.state), io, Some(self.tenant_limits));
        Ok(Arc::new(TenantService::new(tenant, self.service_limits)))
    }
}

/// Removes idle tenants until there are none, or the server is gone.
async fn sweep(services: Weak<TenantServices>, idle_timeout: Duration) {
    loop {
        tokio::time::sleep((idle_timeout / 2).max(MIN_SWEEP_INTERVAL)).await;
        let Some(services) = services.upgrade() else { return };
        let mut entries = services.lock();
        services.remove_idle(&mut entries);
        entries.has_sweeper = !entries.tenants.is_empty();
        if !entries.has_sweeper {
            return;
        }
    }
}

/// Opens the directory of a tenant and counts its files, many of them in the background.
fn open_directory(io_directory: &Files, name: &str, disk_bytes: u64) -> Result<Files, TenantError> {
    let files = io_directory.subdirectory(name).map_err(TenantError::Directory)?;
    files.with_background_disk_quota(disk_bytes).map_err(TenantError::DiskUsage)
}

/// Returns the name of a tenant's directory: a hash that reveals nothing about the subject and is unique for issuer and subject.
fn directory_name(issuer: &str, subject: &str) -> String {
    // The length prefix makes the text unique for each pair.
    let text = format!("{}:{issuer}{subject}", issuer.len());
    let mut name = String::new();
    for byte in digest(&SHA256, text.as_bytes()).as_ref().iter().take(DIRECTORY_HASH_LENGTH) {
        let _ = write!(name, "{byte:02x}");
    }
    name
}

#[cfg(test)]
mod tests {
    use super::directory_name;

    #[test]
    fn a_directory_name_is_a_hash_of_issuer_and_subject() {
        assert_eq!(directory_name("https://a", "b").len(), 32);
        assert_eq!(directory_name("https://a", "b"), directory_name("https://a", "b"));
        assert_ne!(directory_name("https://a", "b"), directory_name("https://ab", ""));
        assert_ne!(directory_name("https://a", "b"), directory_name("https://a", "c"));
        assert!(directory_name("https://a", "../../etc").bytes().all(|byte| byte.is_ascii_hexdigit()));
    }
}
