//! Loads the specifications and connects to the MCP servers.

use super::{
    Sdk,
    egress::{Egress, is_http},
    error::{SdkError, SourceError},
    filter::FunctionFilter,
    frozen_params::FrozenParams,
    mcp_client::{Transport, UpstreamServer},
    names::snake_case,
    openapi::{Api, ApiSettings, load},
    options::{ApiOptions, McpServerOptions, TextFormat},
    secret::Secret,
};
use crate::engine::functions::RESERVED_NAMES;
use futures_util::future::join_all;
use reqwest::header::{HeaderName, HeaderValue};
use serde_json::{Map, Value};
use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};
use tokio::time::timeout;

/// The time that [`SdkBuilder::build`] waits for MCP servers. A server that takes longer is added when it is connected.
const STARTUP_TIMEOUT: Duration = Duration::from_secs(10);

/// The time after which a message in the log says that a server is slow.
const SILENT_TIME: Duration = Duration::from_secs(3);

/// Collects APIs and MCP servers; see [`Sdk::builder`].
#[derive(Debug, Default)]
pub struct SdkBuilder {
    apis: BTreeMap<String, ApiOptions>,
    mcp_servers: BTreeMap<String, McpServerOptions>,
    frozen_params: Map<String, Value>,
    duplicate: Option<String>,
}

/// A remark on an API or MCP server that is usable, but not as expected. `Display` shows it on one line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// Two operations of an API have the same function name, so one got a number.
    ApiNameClash {
        /// The name of the API.
        api: String,
        /// A sentence with the operation, its function name, and the operation that already has the preferred name.
        clash: String,
    },
    /// The API has no functions, because the specification is empty or a filter removes all of them.
    NoFunctions {
        /// The name of the API.
        api: String,
    },
    /// Two tools of an MCP server have the same function name, so one got a number.
    McpServerNameClash {
        /// The name of the server.
        server: String,
        /// A sentence with the tool, its function name, and the tool that already has the preferred name.
        clash: String,
    },
    /// A part of the specification of an API is invalid and is not used. The rest is.
    ApiPartSkipped {
        /// The name of the API.
        api: String,
        /// A sentence with the operation and the part.
        part: String,
    },
    /// A tool of an MCP server has an invalid definition and is not used. The others are.
    McpServerToolSkipped {
        /// The name of the server.
        server: String,
        /// A sentence with the tool and the reason.
        tool: String,
    },
    /// The MCP server is not connected yet.
    McpServerStarting {
        /// The name of the server.
        server: String,
    },
    /// The connection to the MCP server failed.
    McpServerDown {
        /// The name of the server.
        server: String,
        /// The reason, as scripts see it.
        reason: String,
        /// The cause. It may contain paths and URLs.
        cause: String,
        /// A task keeps trying to connect. `false` if only other options can help.
        is_retried: bool,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ApiNameClash { api, clash } => write!(formatter, "the API '{api}': {clash}"),
            Self::NoFunctions { api } => write!(formatter, "the API '{api}' has no functions"),
            Self::ApiPartSkipped { api, part } => write!(formatter, "the API '{api}': {part}"),
            Self::McpServerToolSkipped { server, tool } => write!(formatter, "the MCP server '{server}': {tool}"),
            Self::McpServerNameClash { server, clash } => write!(formatter, "the MCP server '{server}': {clash}"),
            Self::McpServerStarting { server } => {
                write!(formatter, "the MCP server '{server}' is still starting; calls of its functions wait for it")
            }
            Self::McpServerDown { server, reason, cause, is_retried } => {
                write!(formatter, "the MCP server '{server}' is down: {reason}")?;
                if cause != reason {
                    write!(formatter, " ({cause})")?;
                }
                formatter.write_str(if *is_retried { "; it is retried in the background" } else { "" })
            }
        }
    }
}

impl SdkBuilder {
    /// Adds an API. Scripts call its operations as `sdk.NAME.operation(params, body)`.
    #[must_use]
    pub fn api(mut self, name: impl Into<String>, options: ApiOptions) -> Self {
        let name = name.into();
        if self.apis.insert(name.clone(), options).is_some() {
            self.duplicate.get_or_insert(name);
        }
        self
    }

    /// Adds an MCP server. Scripts call its tools as `sdk.NAME.tool(arguments)`.
    #[must_use]
    pub fn mcp_server(mut self, name: impl Into<String>, options: McpServerOptions) -> Self {
        let name = name.into();
        if self.mcp_servers.insert(name.clone(), options).is_some() {
            self.duplicate.get_or_insert(name);
        }
        self
    }

    /// Sets parameters of all APIs and MCP servers that scripts can neither see nor set. The options of one API or server override them.
    #[must_use]
    pub fn frozen_params(mut self, params: Map<String, Value>) -> Self {
        self.frozen_params = params;
        self
    }

    /// Reads or downloads the specifications, and starts to connect to the MCP servers.
    ///
    /// Waits up to 10 seconds for the servers. A server that is down or slow is not an error: [`Sdk::notes`] reports it, and a task of
    /// the current tokio runtime keeps trying to connect.
    ///
    /// # Errors
    ///
    /// Returns an error if options are invalid, or if a specification can't be loaded.
    ///
    /// # Panics
    ///
    /// Panics outside a tokio runtime with I/O and time enabled.
    pub async fn build(self) -> Result<Sdk, SdkError> {
        let duplicate = self.duplicate.as_ref().or_else(|| self.apis.keys().find(|name| self.mcp_servers.contains_key(*name)));
        if let Some(name) = duplicate {
            return Err(SdkError::DuplicateName { name: name.clone() });
        }
        let mut sdk = Sdk::default();
        for (name, options) in self.mcp_servers {
            let server = start_server(&name, options, &self.frozen_params, &sdk.revision);
            sdk.servers.push(server.map_err(|reason| SdkError::McpServer { name, reason })?);
        }
        for (name, options) in self.apis {
            let api = load_api(&name, options, &self.frozen_params).await.map_err(|reason| SdkError::Api { name, reason })?;
            sdk.notes.extend(api.clashes.iter().map(|clash| Note::ApiNameClash { api: api.name.clone(), clash: clash.clone() }));
            sdk.notes.extend(api.skipped.iter().map(|part| Note::ApiPartSkipped { api: api.name.clone(), part: part.clone() }));
            if api.operations.is_empty() {
                sdk.notes.push(Note::NoFunctions { api: api.name.clone() });
            }
            sdk.apis.push(api.into());
        }
        let connecting = sdk.servers.iter().map(|server| async move {
            let name = || server.name.clone();
            let connected = async {
                if let Ok(connected) = timeout(SILENT_TIME, server.wait_for_connection()).await {
                    return connected;
                }
                tracing::warn!(server = server.name, "waiting for an MCP server to start");
                server.wait_for_connection().await
            };
            match timeout(STARTUP_TIMEOUT, connected).await {
                Err(_) => vec![Note::McpServerStarting { server: name() }],
                Ok(Err(failure)) => vec![Note::McpServerDown {
                    server: name(),
                    reason: failure.public,
                    cause: failure.cause,
                    is_retried: !failure.is_permanent,
                }],
                Ok(Ok(())) => {
                    let list = server.tools();
                    let clashes = list.clashes.iter().map(|clash| Note::McpServerNameClash { server: name(), clash: clash.clone() });
                    let skipped = list.skipped.iter().map(|tool| Note::McpServerToolSkipped { server: name(), tool: tool.clone() });
                    clashes.chain(skipped).collect()
                }
            }
        });
        let notes = join_all(connecting).await;
        sdk.notes.extend(notes.into_iter().flatten());
        Ok(sdk)
    }
}

async fn load_api(name: &str, options: ApiOptions, frozen_everywhere: &Map<String, Value>) -> Result<Api, SourceError> {
    check_name(name)?;
    let secret = credential(options.auth, options.auth_env.as_deref())?;
    let (bytes, origin) = load::load(&options.spec).await?;
    let settings = ApiSettings {
        base_url: options.base_url,
        origin,
        secret,
        scheme: options.auth_scheme,
        allow_private: options.allow_private,
        filter: FunctionFilter::new(&options.allow, &options.deny, options.read_only).map_err(SourceError::InvalidOptions)?,
        frozen: options.frozen_params,
        frozen_everywhere: frozen_everywhere.clone(),
    };
    Api::parse(name, &bytes, settings).map_err(|error| SourceError::Specification { spec: options.spec, error })
}

/// Checks the options of a server, and starts the task that connects to it.
fn start_server(
    name: &str,
    options: McpServerOptions,
    frozen_everywhere: &Map<String, Value>,
    revision: &Arc<AtomicU64>,
) -> Result<Arc<UpstreamServer>, SourceError> {
    check_name(name)?;
    let invalid = |message: &str| Err(SourceError::InvalidOptions(message.into()));
    let filter = FunctionFilter::new(&options.allow, &options.deny, options.read_only).map_err(SourceError::InvalidOptions)?;
    let secret = credential(options.auth, options.auth_env.as_deref())?;
    let transport = match (options.command, options.url) {
        (Some(program), None) => {
            if !options.headers.is_empty() || secret.is_some() {
                return invalid("headers, auth and auth_env require a url");
            }
            Transport::Command {
                program,
                args: options.args,
                directory: options.working_directory,
                env: options.env,
                inherited_env: options.inherit_env,
            }
        }
        (None, Some(url)) => {
            if !(options.args.is_empty() && options.env.is_empty() && options.inherit_env.is_empty()) {
                return invalid("args, env and inherit_env require a command");
            }
            if !is_http(&url) {
                return invalid(&format!("{url} is not an HTTP(S) URL"));
            }
            if secret.as_ref().is_some_and(|secret| !secret.is_bearer()) {
                return invalid("auth: the credential of an MCP server is a bearer token");
            }
            let headers = options.headers.iter().map(|(name, value)| header(name, value)).collect::<Result<_, _>>()?;
            Transport::Http { url, headers, secret, egress: Egress::new(options.allow_private) }
        }
        _ => return invalid("set either command or url"),
    };
    let frozen = FrozenParams::new(frozen_everywhere, &options.frozen_params);
    Ok(UpstreamServer::start(name.to_owned(), transport, filter, frozen, options.decode == Some(TextFormat::Json), Arc::clone(revision)))
}

fn check_name(name: &str) -> Result<(), SourceError> {
    if RESERVED_NAMES.contains(&name) {
        return Err(SourceError::InvalidOptions("the name is reserved; use another".into()));
    }
    let valid = snake_case(name);
    if valid != name {
        let message = format!("a name has lowercase letters, digits and underscores, such as '{valid}'");
        return Err(SourceError::InvalidOptions(message));
    }
    Ok(())
}

/// Returns the credential from the options or the environment.
fn credential(auth: Option<Secret>, variable: Option<&str>) -> Result<Option<Secret>, SourceError> {
    let invalid = |message: String| Err(SourceError::InvalidOptions(message));
    match (auth, variable) {
        (Some(_), Some(_)) => invalid("set either auth or auth_env, not both".into()),
        (Some(secret), None) if secret.reveal().is_empty() => invalid("auth is empty".into()),
        (auth, None) => Ok(auth),
        (None, Some(variable)) => match std::env::var(variable) {
            Ok(text) if !text.is_empty() => Ok(Some(Secret::new(text))),
            _ => invalid(format!("the environment variable {variable} for the credential is not set")),
        },
    }
}

fn header(name: &str, value: &Secret) -> Result<(HeaderName, HeaderValue), SourceError> {
    let invalid = |error: &dyn fmt::Display| SourceError::InvalidOptions(format!("the header '{name}': {error}"));
    let key = name.parse().map_err(|error: reqwest::header::InvalidHeaderName| invalid(&error))?;
    let mut value = HeaderValue::from_str(value.reveal()).map_err(|error| invalid(&error))?;
    value.set_sensitive(true);
    Ok((key, value))
}
