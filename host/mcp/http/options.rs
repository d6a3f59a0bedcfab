//! The options of an HTTP server.

use crate::mcp::{
    auth::{AuthOptions, AuthSettings},
    tenant_limits::TenantLimits,
    urls::join_path,
};
use std::{net::SocketAddr, time::Duration};
use tokio::sync::Semaphore;
use url::Url;

/// The options of an HTTP server.
///
/// The defaults:
/// - no public URL: the server accepts requests for loopback hosts and for the address that it listens on
/// - no authentication: all clients are one tenant
/// - only loopback listeners, unless authentication or anonymous access is set
/// - 1,024 connections
/// - 30 min until an unused session is ended
/// - 10,000 tenants in memory, and 60 s until an idle tenant is removed
/// - 30 s for the headers of a request and 30 s for its body
/// - 8 s for running scripts to end when the server drains
/// - [`TenantLimits::default`]
#[derive(Clone, Debug)]
pub struct HttpOptions {
    pub(super) public_url: Option<Url>,
    pub(super) auth: Option<AuthOptions>,
    pub(super) anonymous_access: bool,
    pub(super) max_connections: usize,
    pub(super) session_idle_timeout: Duration,
    pub(super) max_tenants: usize,
    pub(super) tenant_idle_timeout: Duration,
    pub(super) header_timeout: Duration,
    pub(super) body_timeout: Duration,
    pub(super) drain_timeout: Duration,
    pub(super) tenant_limits: TenantLimits,
}

/// An option of an HTTP server that can't be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpOptionsError {
    /// The public URL is not an HTTP URL of a host without a path.
    #[error("the public URL {0} must have the form https://tools.example.com")]
    PublicUrl(Url),
    /// Authentication is set, but no public URL. Clients need it to request a token.
    #[error("authentication requires a public URL")]
    MissingPublicUrl,
    /// Other machines can reach the listener, and there is no authentication.
    #[error("{0} can be reached from other machines, and there is no authentication: set authentication or allow anonymous access")]
    Unauthenticated(SocketAddr),
    /// The HTTP client for the authorization server can't be created.
    #[error("can't create an HTTP client for the authorization server")]
    HttpClient(#[source] reqwest::Error),
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            public_url: None,
            auth: None,
            anonymous_access: false,
            max_connections: 1024,
            session_idle_timeout: Duration::from_secs(30 * 60),
            max_tenants: 10_000,
            // The rate limit of a tenant is per minute, so a tenant that was idle for a minute has not used any of it.
            tenant_idle_timeout: Duration::from_secs(60),
            header_timeout: Duration::from_secs(30),
            body_timeout: Duration::from_secs(30),
            // Less than the ten seconds that some process supervisors wait.
            drain_timeout: Duration::from_secs(8),
            tenant_limits: TenantLimits::default(),
        }
    }
}

impl HttpOptions {
    /// Sets the URL that clients use, such as `https://tools.example.com`. It has no path: clients find the metadata of a server at a
    /// path of its host.
    #[must_use]
    pub fn with_public_url(mut self, url: Url) -> Self {
        self.public_url = Some(url);
        self
    }

    /// Requires a token from each client. Needs a [public URL](Self::with_public_url).
    #[must_use]
    pub fn with_auth(mut self, auth: AuthOptions) -> Self {
        self.auth = Some(auth);
        self
    }

    /// Allows a listener that other machines can reach, without authentication. Everyone who reaches it can run scripts.
    #[must_use]
    pub fn with_anonymous_access(mut self, allow: bool) -> Self {
        self.anonymous_access = allow;
        self
    }

    /// Sets the maximum number of open connections. Each needs a file descriptor and some memory. 0 counts as 1.
    ///
    /// It also bounds the sessions and the concurrent requests of a server without authentication.
    #[must_use]
    pub fn with_max_connections(mut self, connections: usize) -> Self {
        self.max_connections = connections.clamp(1, Semaphore::MAX_PERMITS);
        self
    }

    /// Sets the time after which an unused session is ended, in addition to the timeout of a run. Its client then gets 404 and has to
    /// initialize a new one. An unused session needs about 2 KiB of memory, and the responses that are kept for its client.
    #[must_use]
    pub fn with_session_idle_timeout(mut self, timeout: Duration) -> Self {
        self.session_idle_timeout = timeout;
        self
    }

    /// Sets the maximum number of tenants in memory. If all of them have been used recently, the requests of another tenant are answered
    /// with 503. 0 counts as 1.
    #[must_use]
    pub fn with_max_tenants(mut self, tenants: usize) -> Self {
        self.max_tenants = tenants.max(1);
        self
    }

    /// Sets the time after which a tenant without sessions and requests is removed from memory. Its files stay. With less than a minute,
    /// a tenant that comes back may start more requests than its limit per minute.
    #[must_use]
    pub fn with_tenant_idle_timeout(mut self, timeout: Duration) -> Self {
        self.tenant_idle_timeout = timeout;
        self
    }

    /// Sets the time for the headers of a request, and between two requests of a connection.
    #[must_use]
    pub fn with_header_timeout(mut self, timeout: Duration) -> Self {
        self.header_timeout = timeout;
        self
    }

    /// Sets the time for the body of a request.
    #[must_use]
    pub fn with_body_timeout(mut self, timeout: Duration) -> Self {
        self.body_timeout = timeout;
        self
    }

    /// Sets the time for running scripts to end when the server drains.
    #[must_use]
    pub fn with_drain_timeout(mut self, timeout: Duration) -> Self {
        self.drain_timeout = timeout;
        self
    }

    /// Sets the limits of each tenant. They apply with [authentication](Self::with_auth) only.
    #[must_use]
    pub fn with_tenant_limits(mut self, limits: TenantLimits) -> Self {
        self.tenant_limits = limits;
        self
    }

    /// Checks the options that do not depend on the listener.
    ///
    /// # Errors
    ///
    /// When the public URL is invalid, or authentication has no public URL.
    pub fn check(&self) -> Result<(), HttpOptionsError> {
        self.auth_settings().map(drop)
    }

    /// Checks the address of a listener.
    ///
    /// # Errors
    ///
    /// When other machines can reach it and there is neither authentication nor anonymous access.
    pub fn check_address(&self, address: SocketAddr) -> Result<(), HttpOptionsError> {
        if address.ip().is_loopback() || self.auth.is_some() || self.anonymous_access {
            Ok(())
        } else {
            Err(HttpOptionsError::Unauthenticated(address))
        }
    }

    /// Checks the public URL, and returns the settings of authentication if it is on.
    pub(super) fn auth_settings(&self) -> Result<Option<AuthSettings>, HttpOptionsError> {
        if let Some(url) = &self.public_url {
            check_public_url(url)?;
        }
        let Some(options) = self.auth.clone() else { return Ok(None) };
        let public_url = self.public_url.clone().ok_or(HttpOptionsError::MissingPublicUrl)?;
        let audience = options.audience().map_or_else(|| join_path(&public_url, "/mcp"), Into::into);
        Ok(Some(AuthSettings { options, audience, public_url }))
    }
}

fn check_public_url(url: &Url) -> Result<(), HttpOptionsError> {
    let is_http = matches!(url.scheme(), "http" | "https") && url.has_host();
    let is_plain = url.query().is_none() && url.fragment().is_none() && url.username().is_empty() && url.password().is_none();
    // Clients look for the metadata of a server at `/.well-known/`, not below the path of the server.
    if is_http && is_plain && url.path() == "/" { Ok(()) } else { Err(HttpOptionsError::PublicUrl(url.clone())) }
}
