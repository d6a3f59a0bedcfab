//! Connects to an upstream MCP server: starts a program, or opens an HTTP connection.

use super::{
    handler::Handler,
    http_client::{HttpClient, undecoded_reason},
    oversized_messages::OversizedMessages,
    process::ServerProcess,
};
use crate::sdk::{
    egress::{self, Egress},
    secret::Secret,
};
use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use rmcp::{
    RoleClient, ServiceExt as _,
    service::{ClientInitializeError, RunningService},
    transport::{StreamableHttpClientTransport, async_rw::AsyncRwTransport, streamable_http_client::StreamableHttpClientTransportConfig},
};
use std::{
    collections::{BTreeMap, HashMap},
    io,
    path::PathBuf,
    process::Stdio,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    process::Command,
};
use url::Url;

/// The environment variables that every program inherits. They contain no secrets.
const INHERITED_VARIABLES: [&str; 10] = ["HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"];

/// The size of a message in bytes. A longer message is skipped, and its call fails.
const MAX_MESSAGE: usize = 12 << 20;

/// The transport of a server.
pub enum Transport {
    Command {
        program: String,
        args: Vec<String>,
        /// The working directory of the program, if it is not that of this process.
        directory: Option<PathBuf>,
        /// Environment variables of the program.
        env: BTreeMap<String, Secret>,
        /// The names of variables that the program inherits, in addition to [`INHERITED_VARIABLES`].
        inherited_env: Vec<String>,
    },
    Http {
        url: Url,
        headers: Vec<(HeaderName, HeaderValue)>,
        secret: Option<Secret>,
        egress: Egress,
    },
}

/// A connection, and the process of the server if it was started as a program.
pub struct Connection {
    pub running: RunningService<RoleClient, Handler>,
    pub process: Option<ServerProcess>,
}

/// The reason why a connection failed.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The reason for scripts and models. It contains no paths, URLs or credentials.
    pub public: String,
    /// The cause for the operator.
    pub cause: String,
    /// Another attempt would fail, too, until the options are changed.
    pub is_permanent: bool,
}

impl Failure {
    pub fn new(public: impl Into<String>, cause: impl ToString) -> Self {
        Self { public: public.into(), cause: cause.to_string(), is_permanent: false }
    }

    /// Creates a failure that only other options can prevent.
    fn permanent(reason: String) -> Self {
        Self { cause: reason.clone(), public: reason, is_permanent: true }
    }
}

impl Transport {
    /// Connects, with the credential of a run or else with that of the options.
    pub async fn connect(&self, handler: Handler, secret: Option<&Secret>) -> Result<Connection, Failure> {
        match self {
            Self::Command { program, args, directory, env, inherited_env } => {
                let mut command = Command::new(program);
                command.args(args).env_clear();
                if let Some(directory) = directory {
                    command.current_dir(directory);
                }
                let inherited = INHERITED_VARIABLES.iter().copied().chain(inherited_env.iter().map(String::as_str));
                command.envs(inherited.filter_map(|name| Some((name, std::env::var_os(name)?))));
                command.envs(env.iter().map(|(name, value)| (name, value.reveal())));
                command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
                // Ctrl-C must not reach the server: this process terminates it after the running scripts have ended.
                #[cfg(unix)]
                command.process_group(0);
                let mut child = command.spawn().map_err(|error| Failure::new("it can't be started", format!("{program}: {error}")))?;
                let (Some(input), Some(output)) = (child.stdout.take(), child.stdin.take()) else {
                    return Err(Failure::new("it can't be started", "no pipes"));
                };
                let process = ServerProcess::new(child);
                let running = connect_streams(handler, input, output, MAX_MESSAGE).await?;
                Ok(Connection { running, process: Some(process) })
            }
            Self::Http { url, headers, secret: own, egress } => {
                egress.check_host(url).map_err(|reason| Failure::permanent(format!("it {reason}")))?;
                let mut headers: HashMap<_, _> = headers.iter().cloned().collect();
                if let Some(secret) = secret.or(own.as_ref()) {
                    let invalid = "its credential has a character that is not allowed in a header";
                    let value = HeaderValue::from_str(&format!("Bearer {}", secret.reveal()));
                    let mut value = value.map_err(|_| Failure::permanent(invalid.into()))?;
                    value.set_sensitive(true);
                    headers.insert(AUTHORIZATION, value);
                }
                let http = egress.client().map_err(|error| Failure::new(error.clone(), error))?;
                let config =
                    StreamableHttpClientTransportConfig::with_uri(url.as_str()).custom_headers(headers).reinit_on_expired_session(true);
                let transport = StreamableHttpClientTransport::with_client(HttpClient::new(http, MAX_MESSAGE), config);
                let running = handler.serve(transport).await.map_err(|error| failure(&error))?;
                Ok(Connection { running, process: None })
            }
        }
    }

    /// Returns the credentials that the server receives.
    pub fn secrets(&self) -> Vec<Secret> {
        match self {
            Self::Command { .. } => Vec::new(),
            Self::Http { headers, secret, .. } => {
                let headers = headers.iter().filter_map(|(_, value)| value.to_str().ok()).map(Secret::new);
                headers.chain(secret.clone()).collect()
            }
        }
    }

    /// Returns `true` if a run can have its own credential for the server.
    pub fn takes_credentials(&self) -> bool {
        matches!(self, Self::Http { .. })
    }
}

/// Connects to a server that writes one message per line.
pub async fn connect_streams(
    handler: Handler,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
    max_message: usize,
) -> Result<RunningService<RoleClient, Handler>, Failure> {
    let input = OversizedMessages::new(input, max_message);
    let transport = AsyncRwTransport::<RoleClient, _, _>::new(input, output).with_max_line_length(max_message);
    handler.serve(transport).await.map_err(|error| failure(&error))
}

fn failure(error: &ClientInitializeError) -> Failure {
    let public = match error {
        ClientInitializeError::TransportError { error, .. } if error.error.is::<io::Error>() => "it exited before it responded".into(),
        ClientInitializeError::TransportError { error, .. } if egress::is_private(&*error.error) => {
            return Failure::permanent(format!("it {}", egress::public_reason(&*error.error)));
        }
        ClientInitializeError::TransportError { error, .. } => format!("it {}", egress::public_reason(&*error.error)),
        ClientInitializeError::JsonRpcError(error) if let Some(reason) = undecoded_reason(error) => reason,
        ClientInitializeError::ConnectionClosed(_) => "it exited before it responded".into(),
        _ => "it does not speak a known version of MCP".into(),
    };
    Failure::new(public, error)
}
