//! How another MCP server is reached: as a program that is started, or at an address.

use super::{client::Client, program::Program};
use crate::sdk::{egress::Egress, secret::Secret};
use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use rmcp::{
    RoleClient, ServiceExt as _,
    service::{ClientInitializeError, RunningService},
    transport::{StreamableHttpClientTransport, async_rw::AsyncRwTransport, streamable_http_client::StreamableHttpClientTransportConfig},
};
use std::{collections::BTreeMap, io, process::Stdio};
use tokio::process::Command;
use url::Url;

/// What a program gets of the environment beside what its entry says: enough to run, and no secrets.
const PASSED_ON: [&str; 10] = ["HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"];

/// Bytes of one message. One that is longer is left out, and its call ends with the script's time.
const MAX_MESSAGE: usize = 12 << 20;

/// How a server is reached.
pub enum Launch {
    Command {
        program: String,
        arguments: Vec<String>,
        /// Variables of its environment.
        environment: BTreeMap<String, String>,
        /// Names of variables that it gets as they are here.
        inherited: Vec<String>,
    },
    Address {
        url: Url,
        headers: Vec<(HeaderName, HeaderValue)>,
        secret: Option<Secret>,
        egress: Egress,
    },
}

/// A connection, and the program behind it if it was started for it.
pub struct Connection {
    pub running: RunningService<RoleClient, Client>,
    pub program: Option<Program>,
}

/// Why there is no connection.
#[derive(Clone, Debug)]
pub struct Failure {
    /// For scripts and models: nothing of the host's.
    pub public: String,
    /// For the host's owner.
    pub cause: String,
}

impl Failure {
    pub fn new(public: impl Into<String>, cause: impl ToString) -> Self {
        Self { public: public.into(), cause: cause.to_string() }
    }
}

impl Launch {
    /// Connects, with a credential of the caller's if there is one.
    pub async fn connect(&self, client: Client, secret: Option<&Secret>) -> Result<Connection, Failure> {
        match self {
            Self::Command { program, arguments, environment, inherited } => {
                let mut command = Command::new(program);
                command.args(arguments).env_clear();
                let passed_on = PASSED_ON.iter().copied().chain(inherited.iter().map(String::as_str));
                command.envs(passed_on.filter_map(|name| Some((name, std::env::var_os(name)?)))).envs(environment);
                command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
                // Ctrl-C is for this program, which ends the others in its own time.
                #[cfg(unix)]
                command.process_group(0);
                let mut child = command.spawn().map_err(|error| Failure::new("it can't be started", format!("{program}: {error}")))?;
                let (Some(input), Some(output)) = (child.stdout.take(), child.stdin.take()) else {
                    return Err(Failure::new("it can't be started", "it has no pipes"));
                };
                let transport = AsyncRwTransport::<RoleClient, _, _>::new(input, output).with_max_line_length(MAX_MESSAGE);
                let program = Program::new(child);
                let running = client.serve(transport).await.map_err(|error| explain(&error))?;
                Ok(Connection { running, program: Some(program) })
            }
            Self::Address { url, headers, secret: own, egress } => {
                egress.check_host(url).map_err(|error| Failure::new(error.clone(), error))?;
                let mut headers: std::collections::HashMap<_, _> = headers.iter().cloned().collect();
                if let Some(secret) = secret.or(own.as_ref()) {
                    let unusable = "its credential can't be part of a header";
                    let value = HeaderValue::from_str(&format!("Bearer {}", secret.reveal()));
                    let mut value = value.map_err(|_| Failure::new(unusable, unusable))?;
                    value.set_sensitive(true);
                    headers.insert(AUTHORIZATION, value);
                }
                let http = egress.client().map_err(|error| Failure::new(error.clone(), error))?;
                let config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
                    .custom_headers(headers)
                    .max_sse_event_size(MAX_MESSAGE)
                    .reinit_on_expired_session(true);
                let transport = StreamableHttpClientTransport::with_client(http, config);
                let running = client.serve(transport).await.map_err(|error| explain(&error))?;
                Ok(Connection { running, program: None })
            }
        }
    }

    /// What it is shown.
    pub fn secrets(&self) -> Vec<Secret> {
        match self {
            Self::Command { .. } => Vec::new(),
            Self::Address { headers, secret, .. } => {
                let headers = headers.iter().filter_map(|(_, value)| value.to_str().ok()).map(Secret::new);
                headers.chain(secret.clone()).collect()
            }
        }
    }

    /// Whether it can be shown a credential.
    pub fn takes_credentials(&self) -> bool {
        matches!(self, Self::Address { .. })
    }
}

fn explain(error: &ClientInitializeError) -> Failure {
    let public = match error {
        ClientInitializeError::TransportError { error, .. } if error.error.is::<io::Error>() => "it ended before it answered".into(),
        ClientInitializeError::TransportError { error, .. } => crate::sdk::egress::explain(&*error.error),
        ClientInitializeError::ConnectionClosed(_) => "it ended before it answered".into(),
        _ => "it does not speak MCP, or a version of it that is not known".into(),
    };
    Failure::new(public, error)
}
