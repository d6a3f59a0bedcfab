//! `toolscript.toml`: every key optional, an unknown one an error that names it. Sizes are bytes.

mod apis;
mod server;

pub use apis::{ApiSection, Credential, McpServerSection};
pub use server::{AuthSection, ServerSection, Transport};

use crate::{
    Engine, EngineBuilder, Files, Limits,
    engine::{IoErrorMode, IoOptions},
    files::DirectoryError,
};
use anyhow::{Context as _, Result, bail, ensure};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::{
    collections::BTreeMap,
    io::ErrorKind,
    num::NonZeroU32,
    path::{Component, Path, PathBuf},
    time::Duration,
};

/// Looked for in the working directory.
const DEFAULT_FILE: &str = "toolscript.toml";

/// The io dir, where none is named.
const DEFAULT_IO_DIR: &str = "toolscript-files";

/// The whole file.
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
    pub apis: BTreeMap<String, ApiSection>,
    /// `[mcp_servers.NAME]`
    #[serde(default)]
    pub mcp_servers: BTreeMap<String, McpServerSection>,
    /// `[frozen_params]`: parameters of all APIs that scripts neither see nor set.
    #[serde(default)]
    pub frozen_params: Map<String, Value>,
    #[serde(skip)]
    protected: Protected,
}

/// The directories that no io directory may contain: a script could otherwise write the configuration of the next start.
#[derive(Debug, Default)]
struct Protected {
    directories: Vec<PathBuf>,
    /// Names what lies in them, for an error message.
    contents: String,
}

/// `[limits]`: what a run may use.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitsSection {
    /// Wall time in seconds.
    timeout: Option<f64>,
    fuel: Option<u64>,
    memory: Option<usize>,
    script: Option<usize>,
    logs: Option<usize>,
    result: Option<usize>,
    /// Calls of functions that lead out.
    api_calls: Option<u64>,
    /// Runs at once.
    pub concurrency: Option<usize>,
    /// Runs that wait.
    pub queue: Option<usize>,
    /// Runs of one tenant at once.
    pub tenant_concurrency: Option<usize>,
    /// Runs of one tenant that wait.
    pub tenant_queue: Option<usize>,
    /// Runs of one tenant that may begin in a minute.
    pub tenant_per_minute: Option<NonZeroU32>,
}

/// `[io]`: the files of scripts.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IoSection {
    dir: Option<PathBuf>,
    max_bytes: Option<u64>,
    max_files: Option<u64>,
    enabled: Option<bool>,
    errors: Option<IoErrorMode>,
    /// Bytes that all files of one tenant may take.
    pub tenant_bytes: Option<u64>,
}

impl Config {
    /// Reads the file that was named, or `toolscript.toml` if there is one.
    pub fn find(named: Option<&Path>) -> Result<Self> {
        let path = named.unwrap_or(Path::new(DEFAULT_FILE));
        #[expect(clippy::disallowed_methods, reason = "the person's own configuration, not a file of a script's")]
        let text = match std::fs::read_to_string(path) {
            Err(error) if named.is_none() && error.kind() == ErrorKind::NotFound => {
                let contents = "the working directory, from which toolscript.toml is read".into();
                return Ok(Self { protected: Protected { directories: vec![".".into()], contents }, ..Self::default() });
            }
            text => text.with_context(|| format!("can't read the configuration {}", path.display()))?,
        };
        let mut config = Self::parse(&text).with_context(|| format!("configuration {}", path.display()))?;
        config.limits.clone().resolve().check().with_context(|| format!("configuration {}: [limits]", path.display()))?;
        if config.io.dir.as_deref().is_some_and(has_parent) {
            bail!("configuration {}: [io] dir: {}", path.display(), DirectoryError::Traversal);
        }
        config.server.check().with_context(|| format!("configuration {}: [server]", path.display()))?;
        // The file may be a symlink: neither the link nor its target may be writable by scripts.
        #[expect(clippy::disallowed_methods, reason = "the configuration that the user named, not a file of a script")]
        let target = std::fs::canonicalize(path).with_context(|| format!("can't read the configuration {}", path.display()))?;
        let directories = [path, &target].map(directory_of).into();
        config.protected = Protected { directories, contents: format!("the configuration {}", path.display()) };
        Ok(config)
    }

    /// Opens the io directory: the one that the command line names, or else the one in `[io] dir`, or `./toolscript-files`.
    ///
    /// A directory named on the command line enables io. Otherwise `[io] enabled` decides, or `default` if it is not set.
    ///
    /// # Errors
    ///
    /// When the directory can't be used, or contains the configuration.
    pub fn open_io(&self, named: Option<&Path>, default: bool) -> Result<Option<IoOptions>> {
        let Some((io, origin)) = self.io.resolve(named, default)? else { return Ok(None) };
        for directory in &self.protected.directories {
            let contains = io.files.contains(directory).with_context(|| format!("{origin}: can't open {}", directory.display()))?;
            ensure!(
                !contains,
                "{origin}: it contains {}; use a subdirectory such as --io-dir ./files, or a configuration elsewhere with --config",
                self.protected.contents
            );
        }
        Ok(Some(io))
    }

    fn parse(text: &str) -> Result<Self> {
        if text.parse::<toml::Table>().is_ok_and(|table| table.contains_key("output")) {
            bail!("[output] was replaced by [io], with dir, max_bytes, max_files, enabled and errors");
        }
        toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
            anyhow::anyhow!("line {line}: {}", error.message().replace('\n', " "))
        })
    }
}

impl LimitsSection {
    /// An engine with these limits on how many runs there are.
    pub fn engine(&self) -> EngineBuilder {
        let mut builder = Engine::builder();
        if let Some(runs) = self.concurrency {
            builder = builder.concurrency(runs);
        }
        if let Some(runs) = self.queue {
            builder = builder.queue(runs);
        }
        builder
    }

    /// These limits, with the defaults for what is not set.
    pub fn resolve(self) -> Limits {
        let mut limits = Limits::default();
        if let Some(seconds) = self.timeout {
            // What can't be a duration is refused by `Limits::check`.
            limits.timeout = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        }
        limits.fuel = self.fuel.or(limits.fuel);
        limits.memory = self.memory.unwrap_or(limits.memory);
        limits.script = self.script.unwrap_or(limits.script);
        limits.logs = self.logs.unwrap_or(limits.logs);
        limits.result = self.result.unwrap_or(limits.result);
        limits.api_calls = self.api_calls.unwrap_or(limits.api_calls);
        limits
    }
}

impl IoSection {
    /// Opens the directory, and returns it with the name and the origin of its path for error messages.
    fn resolve(&self, named: Option<&Path>, default: bool) -> Result<Option<(IoOptions, String)>> {
        if named.is_none() && !self.enabled.unwrap_or(default) {
            return Ok(None);
        }
        let (origin, dir) = match (named, &self.dir) {
            (Some(dir), _) => ("--io-dir", dir),
            (None, Some(dir)) => ("[io] dir", dir.as_path()),
            (None, None) => ("the io dir", Path::new(DEFAULT_IO_DIR)),
        };
        let origin = format!("{origin} {}", dir.display());
        let files = Files::new(dir).with_context(|| origin.clone())?;
        let mut io = IoOptions::new(files);
        io.max_bytes = self.max_bytes.unwrap_or(io.max_bytes);
        io.max_files = self.max_files.unwrap_or(io.max_files);
        io.errors = self.errors.unwrap_or(io.errors);
        Ok(Some((io, origin)))
    }
}

/// Whether a path has `..` in it, which is wrong whether or not it is used.
fn has_parent(path: &Path) -> bool {
    path.components().any(|component| component == Component::ParentDir)
}

/// Returns the directory that a file lies in.
fn directory_of(file: &Path) -> PathBuf {
    match file.parent() {
        Some(parent) if parent != Path::new("") => parent.into(),
        _ => PathBuf::from("."),
    }
}
