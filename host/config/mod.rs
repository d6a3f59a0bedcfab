//! The configuration file, `toolscript.toml`. Every key is optional, and an unknown key is an error. Paths are relative to the
//! directory of the file.

mod io;
mod limits;
mod parse_error;
mod paths;
mod server;
pub mod units;

pub use limits::LimitsSection;
pub use server::{AuthSection, ServerSection, Transport};

use crate::{
    files::DirectoryError,
    sdk::{ApiOptions, McpServerOptions},
};
use anyhow::{Context as _, Result, anyhow, bail};
use io::{IoSection, Protected, directory_of};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::{
    collections::BTreeMap,
    io::ErrorKind,
    path::{Component, Path},
};

/// The configuration file in the working directory that is read if no other is named.
const DEFAULT_FILE: &str = "toolscript.toml";

/// The contents of the configuration file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// `[limits]`
    #[serde(default)]
    pub limits: LimitsSection,
    /// `[io]`
    #[serde(default)]
    pub io: IoSection,
    /// `[server]`
    #[serde(default)]
    pub server: ServerSection,
    /// `[auth]`
    #[serde(default)]
    pub auth: AuthSection,
    /// `[apis.NAME]`
    #[serde(default)]
    pub apis: BTreeMap<String, ApiOptions>,
    /// `[mcp_servers.NAME]`
    #[serde(default)]
    pub mcp_servers: BTreeMap<String, McpServerOptions>,
    /// `[frozen_params]`: parameters of all functions that the configuration sets, hidden from scripts.
    #[serde(default)]
    pub frozen_params: Map<String, Value>,
    #[serde(skip)]
    protected: Protected,
}

impl Config {
    /// Reads the named file, or `toolscript.toml` in the working directory if it exists.
    pub fn find(named: Option<&Path>) -> Result<Self> {
        let path = named.unwrap_or(Path::new(DEFAULT_FILE));
        #[expect(clippy::disallowed_methods, reason = "reads the configuration of the user, not a file of a script")]
        let text = match std::fs::read_to_string(path) {
            Err(error) if named.is_none() && error.kind() == ErrorKind::NotFound => {
                return Ok(Self { protected: Protected::working_directory(), ..Self::default() });
            }
            Err(error) if error.kind() == ErrorKind::InvalidData => {
                bail!("can't read the configuration {}: it is not UTF-8", path.display())
            }
            text => text.with_context(|| format!("can't read the configuration {}", path.display()))?,
        };
        let mut config = Self::read(&text, path)?;
        config.protected = Protected::file(path).with_context(|| format!("can't read the configuration {}", path.display()))?;
        Ok(config)
    }

    /// Reads the contents of the file at a path.
    pub(crate) fn read(text: &str, path: &Path) -> Result<Self> {
        let context = || format!("configuration {}", path.display());
        let mut config = Self::parse(text).with_context(context)?;
        if config.io.dir.as_deref().is_some_and(has_parent_component) {
            bail!("{}: [io] dir: {}", context(), DirectoryError::Traversal);
        }
        config.resolve_paths(&directory_of(path)).with_context(context)?;
        Ok(config)
    }

    fn parse(text: &str) -> Result<Self> {
        if text.parse::<toml::Table>().is_ok_and(|table| table.contains_key("output")) {
            bail!("[output] was replaced by [io], with dir, max_bytes, max_files, enabled and errors");
        }
        toml::from_str(text).map_err(|error| anyhow!(parse_error::describe(text, &error)))
    }
}

/// Returns `true` if the path contains `..`. Such a path is rejected even if it is not used.
fn has_parent_component(path: &Path) -> bool {
    path.components().any(|component| component == Component::ParentDir)
}
