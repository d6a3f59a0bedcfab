//! What a server over HTTP is told: by flags, the environment and the configuration, in this order.

use super::{only_over_http, signals};
use crate::{Limits, engine::IoOptions};
use crate::{
    config::{Config, Transport},
    mcp::{
        AuthSettings, Authenticator, ConnectionLimits, Door, Guard, Guarded, HttpLimits, Place, Settings, Shares, Site, Tenant, Tenants,
        below, check_secure, max_message, serve_http,
    },
};
use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;
use std::{
    io::{self, Write as _},
    sync::Arc,
};
use tokio::net::TcpListener;
use url::Url;

/// Where a server listens if nobody says: for this machine only.
const DEFAULT_LISTEN: &str = "127.0.0.1:8080";

/// Connections at once: descriptors, and some memory each.
const DEFAULT_CONNECTIONS: usize = 1024;

/// Bytes that the files of one tenant may take.
const DEFAULT_TENANT_BYTES: u64 = 1 << 30;

/// Large bodies that may come at once where all clients are one tenant.
const LARGE_BODIES: usize = 64;

/// Sessions at once of a tenant who is not alone, and requests: each may hold an answer that is not taken.
const TENANT_SESSIONS: usize = 64;
const TENANT_REQUESTS: usize = 64;

#[derive(Args)]
#[command(next_help_heading = "Server")]
pub struct HttpArguments {
    /// How clients reach the server [default: stdio]
    #[arg(long, value_enum)]
    transport: Option<Transport>,

    /// Address and port for HTTP [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDRESS", env = "TOOLSCRIPT_LISTEN", hide_env_values = true)]
    listen: Option<String>,

    /// The address that clients use, if there is a proxy in front: https://tools.example.com
    #[arg(long, value_name = "URL", env = "TOOLSCRIPT_PUBLIC_URL", hide_env_values = true)]
    public_url: Option<Url>,

    /// Serves a public address without authentication: everyone who reaches it may run scripts
    #[arg(long)]
    allow_anyone: bool,

    /// Who issues the tokens that clients must have; each subject is a tenant with files and limits of their own
    #[arg(long, value_name = "URL", env = "MCP_AUTH_AUTHORITY", hide_env_values = true, help_heading = "Authentication")]
    auth_authority: Option<String>,

    /// Whom the tokens must be meant for [default: the public URL with /mcp]
    #[arg(long, value_name = "NAME", env = "MCP_AUTH_AUDIENCE", hide_env_values = true, help_heading = "Authentication")]
    auth_audience: Option<String>,

    /// Where the authority's keys are [default: as its OpenID configuration says]
    #[arg(long, value_name = "URL", env = "MCP_AUTH_JWKS_URI", hide_env_values = true, help_heading = "Authentication")]
    auth_jwks_uri: Option<Url>,

    /// What the tokens must allow, separated by spaces [default: nothing in particular]
    #[arg(long, value_name = "SCOPES", env = "MCP_AUTH_SCOPE", hide_env_values = true, help_heading = "Authentication")]
    auth_scope: Option<String>,
}

/// A server over HTTP, checked but not listening yet.
pub struct Http {
    listen: String,
    public_url: Option<Url>,
    allow_anyone: bool,
    auth: Option<AuthSettings>,
    shares: Shares,
    limits: HttpLimits,
}

impl HttpArguments {
    /// How clients reach the server.
    pub fn transport(&self, config: &Config) -> Result<Transport> {
        let transport = self.transport.or(config.server.transport).unwrap_or_default();
        if transport == Transport::Stdio {
            // What the environment says may be meant for another server.
            only_over_http(self.allow_anyone, "--allow-anyone")?;
            only_over_http(given("--listen"), "--listen")?;
            only_over_http(given("--public-url"), "--public-url")?;
            only_over_http(given("--auth-"), "--auth-…")?;
        }
        Ok(transport)
    }

    /// All that a server over HTTP needs to know.
    pub fn resolve(&self, config: &Config, limits: &Limits) -> Result<Http> {
        let server = &config.server;
        let public_url = self.public_url.clone().or_else(|| server.public_url.clone());
        if let Some(url) = &public_url {
            check_public(url)?;
        }
        let connections = server.connections.unwrap_or(DEFAULT_CONNECTIONS);
        Ok(Http {
            listen: self.listen.clone().or_else(|| server.listen.clone()).unwrap_or_else(|| DEFAULT_LISTEN.into()),
            allow_anyone: self.allow_anyone || server.allow_anyone.unwrap_or(false),
            auth: self.auth(config, public_url.as_ref())?,
            public_url,
            shares: Shares {
                allotment: config.limits.allotment(),
                disk: config.io.tenant_bytes.unwrap_or(DEFAULT_TENANT_BYTES),
                sessions: TENANT_SESSIONS,
                requests: TENANT_REQUESTS.min(connections),
            },
            limits: HttpLimits {
                connections: ConnectionLimits { most: connections, headers: server.header_timeout() },
                body: max_message(limits),
                body_patience: server.body_timeout(),
                drain: server.drain(),
            },
        })
    }

    fn auth(&self, config: &Config, public_url: Option<&Url>) -> Result<Option<AuthSettings>> {
        let section = &config.auth;
        let audience = self.auth_audience.clone().or_else(|| section.audience.clone());
        let jwks_uri = self.auth_jwks_uri.clone().or_else(|| section.jwks_uri.clone());
        let scope = self.auth_scope.clone().or_else(|| section.scope.clone()).unwrap_or_default();
        let Some(name) = self.auth_authority.clone().or_else(|| section.authority.clone()) else {
            let without = audience.is_none() && jwks_uri.is_none() && scope.is_empty();
            ensure!(without, "authentication needs --auth-authority, the issuer of the tokens");
            return Ok(None);
        };
        let Some(public_url) = public_url else {
            bail!("authentication needs --public-url: clients must know what to get a token for");
        };
        let authority: Url = name.parse().with_context(|| format!("--auth-authority {name}"))?;
        check_secure(&authority).context("--auth-authority")?;
        if let Some(uri) = &jwks_uri {
            check_secure(uri).context("--auth-jwks-uri")?;
        }
        let is_scope = |scope: &str| scope.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\');
        ensure!(scope.split_whitespace().all(is_scope), "--auth-scope: a scope has letters, digits and signs, but no quotes");
        Ok(Some(AuthSettings {
            name,
            authority,
            audience: audience.unwrap_or_else(|| below(public_url, "/mcp")),
            jwks_uri,
            scopes: scope.split_whitespace().map(Into::into).collect(),
        }))
    }
}

/// Whether the command line itself has a flag that begins so.
fn given(flag: &str) -> bool {
    std::env::args_os().any(|argument| argument.to_str().is_some_and(|argument| argument.starts_with(flag)))
}

fn check_public(url: &Url) -> Result<()> {
    let is_web = matches!(url.scheme(), "http" | "https") && url.has_host();
    let is_plain = url.query().is_none() && url.fragment().is_none() && url.username().is_empty() && url.password().is_none();
    // Where clients look for the metadata of a server below a path is not below that path.
    let is_root = url.path() == "/";
    ensure!(is_web && is_plain && is_root, "--public-url {url}: it must be an address such as https://tools.example.com");
    Ok(())
}

impl Http {
    /// Whether each client is somebody of their own.
    pub fn has_tenants(&self) -> bool {
        self.auth.is_some()
    }

    /// Listens, unless strangers could reach the server and it does not know whom it lets in.
    pub async fn listen(&self) -> Result<TcpListener> {
        let listener = TcpListener::bind(&self.listen).await.with_context(|| format!("can't listen on {}", self.listen))?;
        let address = listener.local_addr()?;
        ensure!(
            address.ip().is_loopback() || self.auth.is_some() || self.allow_anyone,
            "{address} can be reached from other machines, and there is no authentication: set --auth-authority, or --allow-anyone if \
             everyone who reaches it may run scripts"
        );
        Ok(listener)
    }

    /// Serves until a signal comes.
    pub async fn serve(self, listener: TcpListener, settings: Arc<Settings>, io: Option<IoOptions>) -> Result<()> {
        let address = listener.local_addr()?;
        tokio::spawn(signals::drain_on_signal(settings.draining.clone(), settings.shutdown.clone()));
        let door = match self.auth {
            None => {
                let tenant = Tenant::new(Arc::clone(&settings), io, None);
                // As many as there may be connections: all are one tenant's.
                let most = self.limits.connections.most;
                Door::Open(Arc::new(Place::new(tenant, most, most, LARGE_BODIES)))
            }
            Some(auth) => {
                let tenants = Arc::new(Tenants::new(Arc::clone(&settings), self.shares, io, auth.issuer()));
                let public_url = self.public_url.clone().context("authentication needs --public-url")?;
                Door::Guarded(Box::new(Guarded { authenticator: Authenticator::new(auth)?, tenants, public_url }))
            }
        };
        let site = Site { settings, guard: Guard::new(self.public_url.clone(), address), bodies: self.limits.bodies(), door };
        let public = self.public_url.as_ref().map(|url| format!(", for clients {}", below(url, "/mcp"))).unwrap_or_default();
        let _ = writeln!(io::stderr(), "serving MCP on http://{address}/mcp{public}");
        serve_http(listener, site, self.limits).await;
        Ok(())
    }
}
