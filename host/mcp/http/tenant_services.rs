//! The services of tenants. Each authenticated subject has a service of its own, created with its first request.

use super::sessions::Sessions;
use crate::{
    Files,
    engine::IoOptions,
    files::{DirectoryError, FileError},
    mcp::{handler::Handler, state::ServerState, tenant::Tenant, tenant_limits::TenantLimits},
};
use aws_lc_rs::digest::{SHA256, digest};
use axum::http::HeaderMap;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::{
    collections::HashMap,
    fmt::Write as _,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};
use tokio::{
    sync::{OnceCell, Semaphore},
    task::JoinError,
};

/// The maximum number of tenants in memory. Idle tenants are removed for new ones.
const MAX_TENANTS: usize = 10_000;

/// The time after its last request for which a tenant is never removed.
const MIN_IDLE_TIME: Duration = Duration::from_secs(60);

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
    sessions: Arc<Sessions>,
    max_requests: usize,
}

impl TenantService {
    pub fn new(tenant: Tenant, limits: ServiceLimits) -> Self {
        let tenant = Arc::new(tenant);
        let sessions = Arc::new(Sessions::new(limits.sessions, tenant.state.limits.timeout));
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
            sessions,
            max_requests: limits.requests,
        }
    }

    /// Returns `true` if the session in the headers belongs to this tenant.
    pub fn has_session(&self, headers: &HeaderMap) -> bool {
        let id = headers.get("mcp-session-id").and_then(|id| id.to_str().ok());
        id.is_some_and(|id| self.sessions.contains(id))
    }

    fn is_idle(&self) -> bool {
        self.sessions.is_empty() && self.requests.available_permits() == self.max_requests
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
    services: Mutex<HashMap<String, Entry>>,
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
    pub fn new(
        state: Arc<ServerState>,
        tenant_limits: TenantLimits,
        max_connections: usize,
        io: Option<IoOptions>,
        issuer: String,
    ) -> Self {
        let service_limits =
            ServiceLimits { sessions: MAX_SESSIONS, requests: MAX_REQUESTS.min(max_connections), large_bodies: MAX_LARGE_BODIES };
        Self { state, tenant_limits, service_limits, io, issuer, services: Mutex::default() }
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
    fn entry(&self, name: &str) -> Option<Arc<OnceCell<Arc<TenantService>>>> {
        let mut services = self.services.lock().unwrap_or_else(PoisonError::into_inner);
        if !services.contains_key(name) && services.len() >= MAX_TENANTS {
            services.retain(|_, entry| {
                let is_busy = Arc::strong_count(&entry.service) > 1 || entry.service.get().is_some_and(|service| !service.is_idle());
                is_busy || entry.last_used.elapsed() < MIN_IDLE_TIME
            });
            if services.len() >= MAX_TENANTS {
                return None;
            }
        }
        let entry = services.entry(name.into()).or_insert_with(|| Entry { service: Arc::default(), last_used: Instant::now() });
        entry.last_used = Instant::now();
        Some(Arc::clone(&entry.service))
    }

    async fn create(&self, name: &str) -> Result<Arc<TenantService>, TenantError> {
        let io = match &self.io {
            None => None,
            Some(io) => {
                let (mut io, name, disk_bytes) = (io.clone(), name.to_owned(), self.tenant_limits.disk_bytes);
                io.files = tokio::task::spawn_blocking(move || open_directory(&io.files, &name, disk_bytes)).await??;
                Some(io)
            }
        };
        let tenant = Tenant::new(Arc::clone(&self.state), io, Some(self.tenant_limits));
        Ok(Arc::new(TenantService::new(tenant, self.service_limits)))
    }
}

/// Opens the directory of a tenant and counts its files.
fn open_directory(io_directory: &Files, name: &str, disk_bytes: u64) -> Result<Files, TenantError> {
    let files = io_directory.subdirectory(name).map_err(TenantError::Directory)?;
    files.with_disk_quota(disk_bytes).map_err(TenantError::DiskUsage)
}

/// Returns the name of a tenant's directory: a hash that reveals nothing about the subject and is unique for issuer and subject.
fn directory_name(issuer: &str, subject: &str) -> String {
    // The length prefix makes the text unique for each pair.
    let text = format!("{}:{issuer}{subject}", issuer.len());
    let mut name = String::with_capacity(2 * DIRECTORY_HASH_LENGTH);
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
