//! `[server]` and `[auth]`: transport, addresses, timeouts and authentication.

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
#[serde(deny_unknown_fields)]
pub struct ServerSection {
    pub transport: Option<Transport>,
    pub listen: Option<String>,
    pub public_url: Option<Url>,
    pub allow_anyone: Option<bool>,
    /// Concurrent connections.
    pub connections: Option<usize>,
    /// Seconds to wait for request headers, and for the next request of a connection.
    header_timeout: Option<f64>,
    /// Seconds to wait for a request body.
    body_timeout: Option<f64>,
    /// Seconds that running scripts have to finish after a shutdown signal.
    drain: Option<f64>,
}

impl ServerSection {
    pub fn header_timeout(&self) -> Option<Duration> {
        duration(self.header_timeout)
    }

    pub fn body_timeout(&self) -> Option<Duration> {
        duration(self.body_timeout)
    }

    pub fn drain_timeout(&self) -> Option<Duration> {
        duration(self.drain)
    }

    /// Returns an error that names the first key with an invalid value.
    pub fn check(&self) -> anyhow::Result<()> {
        for (name, value) in [("header_timeout", self.header_timeout), ("body_timeout", self.body_timeout), ("drain", self.drain)] {
            let range = if name == "drain" { "at least 0" } else { "more than 0" };
            let fits = value.is_none_or(|seconds| (0.0..=86400.0).contains(&seconds) && (seconds > 0.0 || name == "drain"));
            anyhow::ensure!(fits, "{name} must be {range} and at most 86400 seconds");
        }
        anyhow::ensure!(self.connections != Some(0), "connections must be more than 0");
        Ok(())
    }
}

/// Converts a number of seconds that [`ServerSection::check`] has accepted.
fn duration(seconds: Option<f64>) -> Option<Duration> {
    seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
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
