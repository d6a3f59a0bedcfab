//! `[apis.NAME]` and `[mcp_servers.NAME]`: what the functions of scripts lead to.

use serde::Deserialize;
use serde_json::{Map, Value};
use std::{collections::BTreeMap, fmt};
use url::Url;

/// One HTTP API.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApiSection {
    /// Its OpenAPI specification: a file, or an address.
    pub spec: String,
    /// Where it is, if not where the specification says.
    pub base_url: Option<Url>,
    /// Its credential.
    pub auth: Option<Credential>,
    /// The variable of the environment that holds its credential.
    pub auth_env: Option<String>,
    /// Which of the specification's security schemes the credential is for.
    pub auth_scheme: Option<String>,
    /// Whether it may be on this machine, or in its network.
    #[serde(default)]
    pub allow_private: bool,
    /// Functions that there are, by patterns.
    #[serde(default)]
    pub allow: Vec<String>,
    /// Functions that there are not.
    #[serde(default)]
    pub deny: Vec<String>,
    /// Only functions that change nothing.
    #[serde(default)]
    pub read_only: bool,
    /// Parameters that scripts neither see nor set.
    #[serde(default)]
    pub frozen_params: Map<String, Value>,
}

/// One MCP server: a program, or an address.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McpServerSection {
    /// The program that is the server.
    pub command: Option<String>,
    #[serde(default)]
    pub args: Vec<String>,
    /// Variables of its environment.
    #[serde(default)]
    pub env: BTreeMap<String, Credential>,
    /// Names of variables that it gets as they are here.
    #[serde(default)]
    pub inherit_env: Vec<String>,
    /// Where the server is.
    pub url: Option<Url>,
    /// Headers of all requests to it.
    #[serde(default)]
    pub headers: BTreeMap<String, Credential>,
    /// A bearer token.
    pub auth: Option<Credential>,
    /// The variable of the environment that holds the token.
    pub auth_env: Option<String>,
    /// Whether it may be on this machine, or in its network.
    #[serde(default)]
    pub allow_private: bool,
    /// Functions that there are, by patterns.
    #[serde(default)]
    pub allow: Vec<String>,
    /// Functions that there are not.
    #[serde(default)]
    pub deny: Vec<String>,
    /// Only functions that say of themselves that they change nothing.
    #[serde(default)]
    pub read_only: bool,
    /// Arguments that scripts neither see nor set.
    #[serde(default)]
    pub frozen_params: Map<String, Value>,
}

/// A text that is not shown.
#[derive(Clone, Deserialize)]
#[serde(transparent)]
pub struct Credential(pub String);

impl fmt::Debug for Credential {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Credential")
    }
}
