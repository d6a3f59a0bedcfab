//! The options of an HTTP server: from flags, environment variables and the configuration, in this order.

use crate::{
    config::{Config, Transport, units::parse_integer},
    mcp::{AuthOptions, HttpOptions, HttpOptionsError},
};
use anyhow::{Context as _, Result, anyhow, bail, ensure};
use clap::Args;
use std::{io::ErrorKind, ops::RangeInclusive};
use tokio::net::TcpListener;
use url::Url;

/// The default listening address. Only clients on this machine can reach it.
const DEFAULT_LISTEN: &str = "127.0.0.1:8080";

const PORTS: RangeInclusive<u64> = 0..=u16::MAX as u64;

/// The ids and names of the arguments that only an HTTP server uses.
const HTTP_ONLY: [(&str, &str); 8] = [
    ("port", "--port"),
    ("allow_anyone", "--allow-anyone"),
    ("listen", "--listen"),
    ("public_url", "--public-url"),
    ("auth_authority", "--auth-authority"),
    ("auth_audience", "--auth-audience"),
    ("auth_jwks_uri", "--auth-jwks-uri"),
    ("auth_scope", "--auth-scope"),
];

/// Not a doc comment, because rustdoc rejects bare URLs.
const PUBLIC_URL_HELP: &str = "URL that clients use, if there is a proxy in front: https://tools.example.com";

#[derive(Args)]
#[command(next_help_heading = "Server")]
pub struct HttpArguments {
    /// Transport for clients [default: stdio]
    #[arg(long, value_enum)]
    transport: Option<Transport>,

    /// Address and port for HTTP, or a port on 127.0.0.1 [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDRESS", env = "TOOLSCRIPT_LISTEN", hide_env_values = true)]
    listen: Option<String>,

    /// Port for HTTP on 127.0.0.1; implies --transport http
    #[arg(long, value_name = "N", value_parser = |text: &str| parse_integer(text, PORTS))]
    port: Option<u64>,

    #[arg(long, value_name = "URL", env = "TOOLSCRIPT_PUBLIC_URL", hide_env_values = true, help = PUBLIC_URL_HELP, value_parser = parse_url)]
    public_url: Option<Url>,

    /// Serve a public address without authentication: everyone who reaches it can run scripts
    #[arg(long)]
    allow_anyone: bool,

    /// Issuer of the tokens that clients need; each subject is a tenant with its own files and limits
    #[arg(long, value_name = "URL", env = "MCP_AUTH_AUTHORITY", hide_env_values = true, help_heading = "Authentication")]
    auth_authority: Option<String>,

    /// Audience of the tokens [default: the public URL with /mcp]
    #[arg(long, value_name = "NAME", env = "MCP_AUTH_AUDIENCE", hide_env_values = true, help_heading = "Authentication")]
    auth_audience: Option<String>,

    /// URL of the issuer's keys [default: from its OpenID configuration]
    #[arg(long, value_name = "URL", env = "MCP_AUTH_JWKS_URI", hide_env_values = true, help_heading = "Authentication", value_parser = parse_url)]
    auth_jwks_uri: Option<Url>,

    /// Scopes that the tokens must have, separated by spaces [default: none]
    #[arg(long, value_name = "SCOPES", env = "MCP_AUTH_SCOPE", hide_env_values = true, help_heading = "Authentication")]
    auth_scope: Option<String>,
}

/// The resolved settings of an HTTP server.
pub struct HttpSettings {
    listen: String,
    pub public_url: Option<Url>,
    pub has_tenants: bool,
    pub options: HttpOptions,
}

impl HttpArguments {
    /// Returns the transport for clients.
    ///
    /// # Errors
    ///
    /// When there are both `--port` and `--listen`, or the transport is stdio and the command line has an argument for HTTP. Environment variables are ignored then, because they
    /// may be meant for another server.
    pub fn transport(&self, config: &Config, is_from_command_line: impl Fn(&str) -> bool) -> Result<Transport> {
        let transport = self.transport.or(self.port.map(|_| Transport::Http)).or(config.server.transport).unwrap_or_default();
        ensure!(self.port.is_none() || !is_from_command_line("listen"), "--port and --listen can't be combined");
        if transport == Transport::Stdio {
            for (id, name) in HTTP_ONLY {
                ensure!(!is_from_command_line(id), "{name} requires an HTTP server; add --transport http");
            }
        }
        Ok(transport)
    }

    /// Combines the arguments with the configuration.
    pub fn resolve(&self, config: &Config) -> Result<HttpSettings> {
        let server = &config.server;
        let public_url = self.public_url.clone().or_else(|| server.public_url.clone());
        let mut options = HttpOptions::default()
            .with_anonymous_access(self.allow_anyone || server.allow_anyone.unwrap_or(false))
            .with_tenant_limits(config.limits.tenant(config.io.tenant_bytes));
        if let Some(timeout) = server.header_timeout {
            options = options.with_header_timeout(timeout);
        }
        if let Some(timeout) = server.body_timeout {
            options = options.with_body_timeout(timeout);
        }
        if let Some(timeout) = server.drain {
            options = options.with_drain_timeout(timeout);
        }
        if let Some(connections) = server.connections() {
            options = options.with_max_connections(connections);
        }
        if let Some(tenants) = server.tenants() {
            options = options.with_max_tenants(tenants);
        }
        if let Some(timeout) = server.session_idle {
            options = options.with_session_idle_timeout(timeout);
        }
        if let Some(timeout) = server.tenant_idle {
            options = options.with_tenant_idle_timeout(timeout);
        }
        if let Some(url) = &public_url {
            options = options.with_public_url(url.clone());
        }
        let auth = self.auth(config)?;
        let has_tenants = auth.is_some();
        if let Some(auth) = auth {
            options = options.with_auth(auth);
        }
        options.check().map_err(name_flags)?;
        let listen = self
            .port
            .map(|port| port.to_string())
            .or_else(|| self.listen.clone())
            .or_else(|| server.listen.clone())
            .map_or_else(|| DEFAULT_LISTEN.into(), |listen| with_address(&listen));
        Ok(HttpSettings { listen, public_url, has_tenants, options })
    }

    fn auth(&self, config: &Config) -> Result<Option<AuthOptions>> {
        let section = &config.auth;
        let audience = self.auth_audience.clone().or_else(|| section.audience.clone());
        let jwks_uri = self.auth_jwks_uri.clone().or_else(|| section.jwks_uri.clone());
        let scope = self.auth_scope.clone().or_else(|| section.scope.clone()).unwrap_or_default();
        let Some(authority) = self.auth_authority.clone().or_else(|| section.authority.clone()) else {
            let has_none = audience.is_none() && jwks_uri.is_none() && scope.is_empty();
            ensure!(has_none, "authentication requires --auth-authority, the issuer of the tokens");
            return Ok(None);
        };
        let mut auth = AuthOptions::new(authority).context("--auth-authority")?;
        if let Some(audience) = audience {
            auth = auth.with_audience(audience);
        }
        if let Some(uri) = jwks_uri {
            auth = auth.with_jwks_uri(uri).context("--auth-jwks-uri")?;
        }
        auth.with_scopes(scope.split_whitespace()).context("--auth-scope").map(Some)
    }
}

impl HttpSettings {
    /// Binds the listener and checks its address.
    pub async fn listen(&self) -> Result<TcpListener> {
        let listener = match TcpListener::bind(&self.listen).await {
            Err(error) if error.kind() == ErrorKind::InvalidInput => {
                bail!("can't listen on {}: write ADDRESS:PORT, or a port", self.listen)
            }
            bound => bound.with_context(|| format!("can't listen on {}", self.listen))?,
        };
        self.options.check_address(listener.local_addr()?).map_err(name_flags)?;
        Ok(listener)
    }
}

/// Adds the loopback address to a bare port.
fn with_address(listen: &str) -> String {
    if listen.bytes().all(|byte| byte.is_ascii_digit()) { format!("127.0.0.1:{listen}") } else { listen.into() }
}

fn parse_url(text: &str) -> Result<Url, String> {
    text.parse().map_err(|_| "must be a URL such as https://tools.example.com".into())
}

/// Returns the error with the names of the flags that fix it.
fn name_flags(error: HttpOptionsError) -> anyhow::Error {
    match error {
        HttpOptionsError::PublicUrl(url) => anyhow!("--public-url {url}: it must have the form https://tools.example.com"),
        HttpOptionsError::MissingPublicUrl => {
            anyhow!("authentication requires --public-url, the URL that clients request a token for")
        }
        HttpOptionsError::Unauthenticated(address) => anyhow!(
            "{address} can be reached from other machines, and there is no authentication: set --auth-authority, or --allow-anyone if \
             everyone who reaches it may run scripts"
        ),
        other => other.into(),
    }
}
