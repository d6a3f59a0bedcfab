//! The APIs and MCP servers from the command line and the configuration.

use super::output;
use crate::{
    config::Config,
    engine::functions::RESERVED_NAMES,
    sdk::{ApiOptions, McpServerOptions, Sdk, snake_case, specification_title},
};
use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
};

/// The names of specification files, in snake case, that do not name the API.
const GENERIC_NAMES: [&str; 12] =
    ["api", "api_docs", "apis", "definition", "index", "open_api", "openapi", "openapi3", "schema", "spec", "specification", "swagger"];

#[derive(Args)]
#[command(next_help_heading = "APIs")]
pub struct ApiArguments {
    /// Path or URL of an OpenAPI specification, whose operations scripts call as sdk.NAME.operation
    #[arg(long = "api", value_name = "[NAME=]SPEC")]
    apis: Vec<String>,

    /// Command or URL of an MCP server, whose tools scripts call as sdk.NAME.tool
    #[arg(long = "mcp", value_name = "NAME=COMMAND-OR-URL")]
    servers: Vec<String>,

    /// Environment variable that contains the credential of an API or MCP server; the name is optional if there is one API
    #[arg(long, visible_alias = "auth", value_name = "[NAME:]VARIABLE")]
    api_auth: Vec<String>,

    /// Allow private and loopback addresses for an API or MCP server
    #[arg(long, value_name = "NAME")]
    allow_private: Vec<String>,
}

/// The options of all APIs and MCP servers, by name.
struct Sources {
    apis: BTreeMap<String, ApiOptions>,
    servers: BTreeMap<String, McpServerOptions>,
}

impl ApiArguments {
    /// Loads the APIs and MCP servers for scripts, and prints notes on them. Returns `None` if there are none. `specifications` are more
    /// values of `--api`.
    pub async fn load(&self, config: &Config, specifications: &[String]) -> Result<Option<Arc<Sdk>>> {
        self.sources(config, specifications).await?.build(config).await
    }

    /// Loads the APIs and MCP servers to read about their functions. Works without credentials whose variables are not set, because it
    /// calls no function.
    pub async fn load_for_reading(&self, config: &Config) -> Result<Option<Arc<Sdk>>> {
        let mut sources = self.sources(config, &[]).await?;
        let credentials = sources.apis.values_mut().map(|options| &mut options.auth_env);
        for variable in credentials.chain(sources.servers.values_mut().map(|options| &mut options.auth_env)) {
            variable.take_if(|variable| std::env::var_os(variable).is_none_or(|value| value.is_empty()));
        }
        sources.build(config).await
    }

    /// Merges the flags into the configuration.
    async fn sources(&self, config: &Config, specifications: &[String]) -> Result<Sources> {
        let mut sources = Sources { apis: config.apis.clone(), servers: config.mcp_servers.clone() };
        for given in self.apis.iter().chain(specifications) {
            let (name, spec) = name_and_spec(given).await?;
            let previous = sources.apis.insert(name.clone(), ApiOptions::new(spec));
            ensure!(previous.is_none(), "two APIs are named '{name}'; rename one with NAME=SPEC");
        }
        let mut named = BTreeSet::new();
        for given in &self.servers {
            let (name, options) = name_and_server(given)?;
            ensure!(named.insert(name.clone()), "two MCP servers are named '{name}'; rename one");
            // Overrides the entry in the configuration.
            sources.servers.insert(name, options);
        }
        for given in &self.api_auth {
            let (name, variable) = match given.split_once(':') {
                Some((name, variable)) => (name.to_owned(), variable),
                None => (sources.only_name().with_context(|| format!("--api-auth {given}: write NAME:VARIABLE"))?, given.as_str()),
            };
            let (auth_env, _) = sources.settings(&name).with_context(|| format!("--api-auth {given}"))?;
            *auth_env = Some(variable.to_owned());
        }
        for name in &self.allow_private {
            let (_, allow_private) = sources.settings(name).with_context(|| format!("--allow-private {name}"))?;
            *allow_private = true;
        }
        Ok(sources)
    }
}

impl Sources {
    /// Loads the specifications, connects to the servers, and prints notes.
    async fn build(self, config: &Config) -> Result<Option<Arc<Sdk>>> {
        if self.apis.is_empty() && self.servers.is_empty() {
            return Ok(None);
        }
        let builder = Sdk::builder().frozen_params(config.frozen_params.clone());
        let builder = self.apis.into_iter().fold(builder, |builder, (name, options)| builder.api(name, options));
        let builder = self.servers.into_iter().fold(builder, |builder, (name, options)| builder.mcp_server(name, options));
        let sdk = builder.build().await?;
        for note in sdk.notes() {
            output::print_note(&note.to_string());
        }
        Ok(Some(Arc::new(sdk)))
    }

    /// Returns the name of the only API or, without APIs, of the only MCP server.
    fn only_name(&self) -> Option<String> {
        let names: Vec<&String> = if self.apis.is_empty() { self.servers.keys().collect() } else { self.apis.keys().collect() };
        match names[..] {
            [name] => Some(name.clone()),
            _ => None,
        }
    }

    /// Returns the settings of an API or MCP server that flags can change: `auth_env` and `allow_private`.
    fn settings(&mut self, name: &str) -> Result<(&mut Option<String>, &mut bool)> {
        let known: Vec<&str> = self.apis.keys().chain(self.servers.keys()).map(String::as_str).collect();
        let known = if known.is_empty() { "none".into() } else { known.join(", ") };
        match (self.apis.get_mut(name), self.servers.get_mut(name)) {
            (Some(options), _) => Ok((&mut options.auth_env, &mut options.allow_private)),
            (None, Some(options)) => Ok((&mut options.auth_env, &mut options.allow_private)),
            (None, None) => bail!("there is no API or MCP server '{name}'; available: {known}"),
        }
    }
}

/// Parses `NAME=SPEC`, or `SPEC` with the name of its file. If that name says nothing, the title of the specification is used.
async fn name_and_spec(given: &str) -> Result<(String, &str)> {
    if let Some((name, spec)) = given.split_once('=')
        && !name.contains(['/', ':', '.'])
    {
        return Ok((name.to_owned(), spec));
    }
    let path = given.split(['?', '#']).next().unwrap_or(given);
    let stem = Path::new(path).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    ensure!(!stem.is_empty(), "the API {given} has no name; write NAME={given}");
    let name = snake_case(stem);
    if !is_generic(&name) {
        return Ok((name, given));
    }
    // A specification that can't be loaded is reported later.
    let title = specification_title(given).await.map(|title| snake_case(&title));
    Ok((title.filter(|title| title != "_" && !RESERVED_NAMES.contains(&title.as_str())).unwrap_or(name), given))
}

/// Returns `true` for a file name that many specifications have, such as `openapi` or `v2`.
fn is_generic(name: &str) -> bool {
    let is_version = name.strip_prefix('v').is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
    is_version || GENERIC_NAMES.contains(&name)
}

/// Parses `NAME=URL`, or `NAME=COMMAND` with arguments quoted as in a shell.
fn name_and_server(given: &str) -> Result<(String, McpServerOptions)> {
    let (name, server) = given.split_once('=').with_context(|| format!("--mcp {given}: write NAME=COMMAND or NAME=URL"))?;
    let options = if server.starts_with("http://") || server.starts_with("https://") {
        McpServerOptions::url(server.parse().with_context(|| format!("--mcp {given}"))?)
    } else {
        let mut words = shlex::split(server).with_context(|| format!("--mcp {given}: a quote is not closed"))?.into_iter();
        let program = words.next().with_context(|| format!("--mcp {given}: the command is missing"))?;
        McpServerOptions::command(program).with_args(words)
    };
    Ok((name.to_owned(), options))
}
