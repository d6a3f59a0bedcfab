//! `[server]` and `[auth]`: how clients reach the server, and who may.

use serde::Deserialize;
use std::time::Duration;
use url::Url;

/// How clients reach the server.
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
    /// Connections at once.
    pub connections: Option<usize>,
    /// Seconds for the headers of a request, and between two.
    header_timeout: Option<f64>,
    /// Seconds for the body of a request.
    body_timeout: Option<f64>,
    /// Seconds for running scripts to end when the server is told to stop.
    drain: Option<f64>,
}

impl ServerSection {
    pub fn header_timeout(&self) -> Duration {
        seconds(self.header_timeout, 30)
    }

    pub fn body_timeout(&self) -> Duration {
        seconds(self.body_timeout, 30)
    }

    pub fn drain(&self) -> Duration {
        // Less than the ten seconds that some supervisors wait.
        seconds(self.drain, 8)
    }

    /// Names the first key with a value that can't be used.
    pub fn check(&self) -> anyhow::Result<()> {
        for (name, value) in [("header_timeout", self.header_timeout), ("body_timeout", self.body_timeout), ("drain", self.drain)] {
            let fits = value.is_none_or(|seconds| (0.0..=86400.0).contains(&seconds) && (seconds > 0.0 || name == "drain"));
            anyhow::ensure!(fits, "{name} must be a number of seconds, at most 86400");
        }
        anyhow::ensure!(self.connections != Some(0), "connections must be more than 0");
        Ok(())
    }
}

/// What [`ServerSection::check`] has let through.
fn seconds(value: Option<f64>, default: u64) -> Duration {
    value.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).unwrap_or(Duration::from_secs(default))
}

/// `[auth]`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuthSection {
    pub authority: Option<String>,
    pub audience: Option<String>,
    pub jwks_uri: Option<Url>,
    /// Separated by spaces.
    pub scope: Option<String>,
}
