//! The configuration file, `toolscript.toml`. Every key is optional, and an unknown key is an error. Paths are relative to the
//! directory of the file.

mod check;
mod io;
mod limits;
mod parse_error;
mod paths;
mod server;
pub mod units;

pub use check::CheckSection;
pub use io::DEFAULT_IO_DIR;
pub use limits::LimitsSection;
pub use server::{AuthSection, ServerSection, Transport};

use crate::{
    allocation::read_up_to,
    files::DirectoryError,
    sdk::{ApiOptions, McpServerOptions},
    text,
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
pub const DEFAULT_FILE: &str = "toolscript.toml";

/// The size of the configuration file in bytes. It is held in memory, and a path such as `/dev/zero` has no end.
const MAX_SIZE: usize = 1 << 20;

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
    /// `[check]`
    #[serde(default)]
    pub check: CheckSection,
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
        let unreadable = || format!("can't read the configuration {}", path.display());
        let bytes = match read(path) {
            Err(error) if named.is_none() && error.kind() == ErrorKind::NotFound => {
                return Ok(Self { protected: Protected::working_directory(), ..Self::default() });
            }
            bytes => bytes.with_context(unreadable)?,
        };
        if bytes.len() > MAX_SIZE {
            bail!("{}: it is larger than {}", unreadable(), text::size(MAX_SIZE as u64));
        }
        let Ok(text) = String::from_utf8(bytes) else { bail!("{}: it is not UTF-8", unreadable()) };
        let mut config = Self::read(&text, path)?;
        config.protected = Protected::file(path).with_context(unreadable)?;
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

/// Reads the file, up to one byte after the limit.
fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    #[expect(clippy::disallowed_types, reason = "reads the configuration of the user, not a file of a script")]
    let file = std::fs::File::open(path)?;
    let mut bytes = Vec::new();
    read_up_to(file, MAX_SIZE as u64 + 1, &mut bytes)?;
    Ok(bytes)
}

/// Returns `true` if the path contains `..`. Such a path is rejected even if it is not used.
fn has_parent_component(path: &Path) -> bool {
    path.components().any(|component| component == Component::ParentDir)
}
