//! The APIs and MCP servers that a command is given, by flags and by the configuration.

mod load;

use super::output;
use crate::{
    config::{ApiSection, Config, McpServerSection},
    sdk::{Sdk, snake_case},
};
use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;
use futures_util::future::join_all;
use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};
use tokio::time::timeout;

/// For servers to start before anything else does. Those that take longer come later.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Args)]
#[command(next_help_heading = "APIs")]
pub struct ApiArguments {
    /// OpenAPI specification, a file or an address, whose operations scripts call as sdk.NAME.operation
    #[arg(long = "api", value_name = "[NAME=]SPEC")]
    apis: Vec<String>,

    /// MCP server, a command or an address, whose tools scripts call as sdk.NAME.tool
    #[arg(long = "mcp", value_name = "NAME=COMMAND-OR-URL")]
    servers: Vec<String>,

    /// Variable of the environment that holds the credential of an API or a server
    #[arg(long, value_name = "NAME:VARIABLE")]
    api_auth: Vec<String>,

    /// Lets an API or a server be on this machine or in its network
    #[arg(long, value_name = "NAME")]
    allow_private: Vec<String>,
}

/// What is configured, by name.
struct Sections {
    apis: BTreeMap<String, ApiSection>,
    servers: BTreeMap<String, McpServerSection>,
}

impl ApiArguments {
    /// All functions; nothing if there are no APIs and no servers. What is not as it was meant to be is told.
    pub async fn load(&self, config: &Config, more: &[String]) -> Result<Option<Arc<Sdk>>> {
        let Sections { apis, servers } = self.sections(config, more)?;
        if apis.is_empty() && servers.is_empty() {
            return Ok(None);
        }
        let revision = Arc::new(AtomicU64::new(0));
        let mut upstreams = Vec::new();
        for (name, section) in servers {
            upstreams.push(load::server(&name, section, config, &revision).with_context(|| format!("the MCP server '{name}'"))?);
        }
        let mut loaded = Vec::new();
        for (name, section) in apis {
            let api = load::api(&name, section, config).await.with_context(|| format!("the API '{name}'"))?;
            for clash in &api.clashes {
                output::print_note(&format!("the API '{name}': {clash}"));
            }
            if api.operations.is_empty() {
                output::print_note(&format!("the API '{name}' has no functions"));
            }
            loaded.push(api);
        }
        let settled = upstreams.iter().map(|server| async move { (server, timeout(PATIENCE, server.settled()).await) });
        for (server, settled) in join_all(settled).await {
            match settled {
                Err(_) => output::print_note(&format!("the MCP server '{}' is still starting; its functions come later", server.name)),
                Ok(Err(failure)) => output::print_note(&format!(
                    "the MCP server '{}' is down: {} ({}); it is tried again",
                    server.name, failure.public, failure.cause
                )),
                Ok(Ok(())) => {
                    for clash in &server.listing().clashes {
                        output::print_note(&format!("the MCP server '{}': {clash}", server.name));
                    }
                }
            }
        }
        Ok(Some(Arc::new(Sdk::new(loaded, upstreams, revision))))
    }

    fn sections(&self, config: &Config, more: &[String]) -> Result<Sections> {
        let mut sections = Sections { apis: config.apis.clone(), servers: config.mcp_servers.clone() };
        for given in self.apis.iter().chain(more) {
            let (name, spec) = name_and_spec(given)?;
            let section = ApiSection { spec: spec.to_owned(), ..ApiSection::default() };
            ensure!(
                sections.apis.insert(name.clone(), section).is_none(),
                "there are two APIs of the name '{name}'; name one with NAME=SPEC"
            );
        }
        for given in &self.servers {
            let (name, section) = server_section(given)?;
            ensure!(sections.servers.insert(name.clone(), section).is_none(), "there are two MCP servers of the name '{name}'");
        }
        if let Some(name) = sections.apis.keys().find(|name| sections.servers.contains_key(*name)) {
            bail!("'{name}' is the name of an API and of an MCP server; they need two names");
        }
        for given in &self.api_auth {
            let (name, variable) = given.split_once(':').with_context(|| format!("--api-auth {given}: write NAME:VARIABLE"))?;
            let (auth_env, _) = sections.named(name).with_context(|| format!("--api-auth {given}"))?;
            *auth_env = Some(variable.to_owned());
        }
        for name in &self.allow_private {
            let (_, allow_private) = sections.named(name).with_context(|| format!("--allow-private {name}"))?;
            *allow_private = true;
        }
        Ok(sections)
    }
}

impl Sections {
    /// What flags change of an API or a server: where its credential is, and whether it may be private.
    fn named(&mut self, name: &str) -> Result<(&mut Option<String>, &mut bool)> {
        let known: Vec<&str> = self.apis.keys().chain(self.servers.keys()).map(String::as_str).collect();
        let known = if known.is_empty() { "there are none".into() } else { format!("there are {}", known.join(", ")) };
        match (self.apis.get_mut(name), self.servers.get_mut(name)) {
            (Some(section), _) => Ok((&mut section.auth_env, &mut section.allow_private)),
            (None, Some(section)) => Ok((&mut section.auth_env, &mut section.allow_private)),
            (None, None) => bail!("there is no API or MCP server '{name}'; {known}"),
        }
    }
}

/// `NAME=SPEC`, or a specification whose file is called like the API.
fn name_and_spec(given: &str) -> Result<(String, &str)> {
    if let Some((name, spec)) = given.split_once('=')
        && !name.contains(['/', ':', '.'])
    {
        return Ok((name.to_owned(), spec));
    }
    let path = given.split(['?', '#']).next().unwrap_or(given);
    let stem = Path::new(path).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    ensure!(!stem.is_empty(), "the API {given} has no name; write NAME={given}");
    Ok((snake_case(stem), given))
}

/// `NAME=COMMAND` with arguments as in a shell, or `NAME=URL`.
fn server_section(given: &str) -> Result<(String, McpServerSection)> {
    let (name, what) = given.split_once('=').with_context(|| format!("--mcp {given}: write NAME=COMMAND or NAME=URL"))?;
    let mut section = McpServerSection::default();
    if what.starts_with("http://") || what.starts_with("https://") {
        section.url = Some(what.parse().with_context(|| format!("--mcp {given}"))?);
    } else {
        let mut words = shlex::split(what).with_context(|| format!("--mcp {given}: a quote is not closed"))?.into_iter();
        section.command = Some(words.next().with_context(|| format!("--mcp {given}: there is no command"))?);
        section.args = words.collect();
    }
    Ok((name.to_owned(), section))
}
