//! `[server]` and `[auth]`: transport, addresses, timeouts and authentication.

use super::units::{self, DAY, MAX_WAITING};
use serde::Deserialize;
use std::time::Duration;
use url::Url;

/// The transport between clients and the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// Standard input and output, for a client that starts this program
    #[default]
    Stdio,
    /// HTTP, for many clients
    Http,
}

/// `[server]`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServerSection {
    pub transport: Option<Transport>,
    #[serde(deserialize_with = "units::listen")]
    pub listen: Option<String>,
    pub public_url: Option<Url>,
    pub allow_anyone: Option<bool>,
    /// Links to written files in the results of tools.
    pub resource_links: Option<bool>,
    /// Concurrent connections.
    #[serde(deserialize_with = "units::integer::<1, MAX_WAITING, _>")]
    connections: Option<u64>,
    /// The time until an unused session is ended.
    #[serde(deserialize_with = "units::duration::<1, DAY, _>")]
    pub session_idle: Option<Duration>,
    /// Tenants in memory.
    #[serde(deserialize_with = "units::integer::<1, MAX_WAITING, _>")]
    tenants: Option<u64>,
    /// The time until an idle tenant is removed from memory.
    #[serde(deserialize_with = "units::duration::<1, DAY, _>")]
    pub tenant_idle: Option<Duration>,
    /// The time to wait for request headers, and for the next request of a connection.
    #[serde(deserialize_with = "units::duration::<1, DAY, _>")]
    pub header_timeout: Option<Duration>,
    /// The time to wait for a request body.
    #[serde(deserialize_with = "units::duration::<1, DAY, _>")]
    pub body_timeout: Option<Duration>,
    /// The time that running scripts have to finish after a shutdown signal.
    #[serde(deserialize_with = "units::duration::<0, DAY, _>")]
    pub drain: Option<Duration>,
}

impl ServerSection {
    /// Returns the maximum number of open connections.
    pub fn connections(&self) -> Option<usize> {
        self.connections.map(|connections| usize::try_from(connections).unwrap_or(usize::MAX))
    }

    /// Returns the maximum number of tenants in memory.
    pub fn tenants(&self) -> Option<usize> {
        self.tenants.map(|tenants| usize::try_from(tenants).unwrap_or(usize::MAX))
    }
}

/// `[auth]`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuthSection {
    pub authority: Option<String>,
    pub audience: Option<String>,
    pub jwks_uri: Option<Url>,
    /// The required scopes, separated by spaces.
    pub scope: Option<String>,
}
