//! The tenants of a hosted server: each subject of the authority's has a server of its own, made when it is first asked for.

use super::sessions::Sessions;
use crate::mcp::{
    server::Server,
    tenant::{Allotment, Settings, Tenant},
};
use crate::{Files, engine::IoOptions};
use anyhow::{Context as _, Result};
use aws_lc_rs::digest::{SHA256, digest};
use axum::http::HeaderMap;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::{
    collections::HashMap,
    fmt::Write as _,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};
use tokio::sync::{OnceCell, Semaphore};

/// Tenants that the server remembers at once; those that are not busy and have not asked for a while make room for others.
const MAX_TENANTS: usize = 10_000;

/// How long a tenant is remembered in any case.
const REMEMBERED: Duration = Duration::from_secs(60);

/// Bytes of the hash that a tenant's folder is named by.
const NAME: usize = 16;

/// Large bodies that one tenant may be sending at once; one more waits for them.
const LARGE_BODIES: usize = 4;

/// What each tenant is given.
#[derive(Clone, Debug)]
pub struct Shares {
    pub allotment: Allotment,
    /// Bytes that the files of one tenant may take.
    pub disk: u64,
    /// Sessions at once.
    pub sessions: usize,
    /// Requests at once, those that wait for news too.
    pub requests: usize,
}

/// A server for one tenant.
pub struct Place {
    pub service: StreamableHttpService<Server, Sessions>,
    /// Requests that may be under way.
    pub requests: Arc<Semaphore>,
    /// Large bodies that may be.
    pub large_bodies: Semaphore,
    sessions: Arc<Sessions>,
    most_requests: usize,
}

impl Place {
    /// A server for a tenant.
    pub fn new(tenant: Tenant, sessions: usize, requests: usize, large_bodies: usize) -> Self {
        let tenant = Arc::new(tenant);
        let sessions = Arc::new(Sessions::new(sessions, tenant.settings.limits.timeout));
        let config = StreamableHttpServerConfig::default()
            // A plain answer where there is one message only.
            .with_json_response(true)
            // Whether a client can take up a stream again is known once it has said which revision it speaks.
            .with_sse_retry(None)
            // All of these are checked in front, for every path: see [`super`].
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_max_request_body_bytes(usize::MAX);
        let service = StreamableHttpService::new(move || Ok(Server::new(Arc::clone(&tenant))), Arc::clone(&sessions), config);
        let (most_requests, requests) = (requests, Arc::new(Semaphore::new(requests)));
        Self { service, requests, large_bodies: Semaphore::new(large_bodies), sessions, most_requests }
    }

    /// Whether the session that a request names is this tenant's.
    pub fn has_session(&self, headers: &HeaderMap) -> bool {
        let id = headers.get("mcp-session-id").and_then(|id| id.to_str().ok());
        id.is_some_and(|id| self.sessions.contains(id))
    }

    fn is_idle(&self) -> bool {
        self.sessions.is_empty() && self.requests.available_permits() == self.most_requests
    }
}

/// All tenants that were here lately.
pub struct Tenants {
    settings: Arc<Settings>,
    shares: Shares,
    /// The io dir, with a folder for each tenant in it.
    io: Option<IoOptions>,
    issuer: String,
    places: Mutex<HashMap<String, Remembered>>,
}

struct Remembered {
    place: Arc<OnceCell<Arc<Place>>>,
    used: Instant,
}

impl Tenants {
    pub fn new(settings: Arc<Settings>, shares: Shares, io: Option<IoOptions>, issuer: &str) -> Self {
        Self { settings, shares, io, issuer: issuer.into(), places: Mutex::default() }
    }

    /// The place of a subject; nothing if there are too many at once.
    ///
    /// # Errors
    ///
    /// When the tenant's files can't be used.
    pub async fn place(self: &Arc<Self>, subject: &str) -> Result<Option<Arc<Place>>> {
        let name = name(&self.issuer, subject);
        let Some(place) = self.remember(&name) else { return Ok(None) };
        if let Some(made) = place.get() {
            return Ok(Some(Arc::clone(made)));
        }
        // In a task of its own: a client that hangs up must not make the next one count the files again.
        let tenants = Arc::clone(self);
        let making = tokio::spawn(async move { place.get_or_try_init(|| tenants.make(&name)).await.cloned() });
        making.await?.map(Some)
    }

    fn remember(&self, name: &str) -> Option<Arc<OnceCell<Arc<Place>>>> {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        if !places.contains_key(name) && places.len() >= MAX_TENANTS {
            places.retain(|_, remembered| {
                let is_busy = Arc::strong_count(&remembered.place) > 1 || remembered.place.get().is_some_and(|place| !place.is_idle());
                is_busy || remembered.used.elapsed() < REMEMBERED
            });
            if places.len() >= MAX_TENANTS {
                return None;
            }
        }
        let remembered = places.entry(name.into()).or_insert_with(|| Remembered { place: Arc::default(), used: Instant::now() });
        remembered.used = Instant::now();
        Some(Arc::clone(&remembered.place))
    }

    async fn make(&self, name: &str) -> Result<Arc<Place>> {
        let io = match &self.io {
            None => None,
            Some(io) => {
                let (mut io, name, disk) = (io.clone(), name.to_owned(), self.shares.disk);
                io.files = tokio::task::spawn_blocking(move || files(&io.files, &name, disk)).await??;
                Some(io)
            }
        };
        let tenant = Tenant::new(Arc::clone(&self.settings), io, Some(self.shares.allotment));
        Ok(Arc::new(Place::new(tenant, self.shares.sessions, self.shares.requests, LARGE_BODIES)))
    }
}

/// The folder of a tenant, with what is in it counted.
fn files(io_dir: &Files, name: &str, disk: u64) -> Result<Files> {
    let files = io_dir.subdirectory(name).context("the folder of a tenant can't be used")?;
    files.with_disk_quota(disk).context("the files of a tenant can't be counted")
}

/// The name of a tenant's folder. It says nothing about the subject, and two of them never share one.
fn name(issuer: &str, subject: &str) -> String {
    // The length in front: no other pair reads the same.
    let text = format!("{}:{issuer}{subject}", issuer.len());
    let mut name = String::with_capacity(2 * NAME);
    for byte in digest(&SHA256, text.as_bytes()).as_ref().iter().take(NAME) {
        let _ = write!(name, "{byte:02x}");
    }
    name
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn a_folder_is_named_by_a_hash() {
        assert_eq!(name("https://a", "b").len(), 32);
        assert_eq!(name("https://a", "b"), name("https://a", "b"));
        assert_ne!(name("https://a", "b"), name("https://ab", ""));
        assert_ne!(name("https://a", "b"), name("https://a", "c"));
        assert!(name("https://a", "../../etc").bytes().all(|byte| byte.is_ascii_hexdigit()));
    }
}
