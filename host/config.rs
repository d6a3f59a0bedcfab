//! `toolscript.toml`: every key optional, an unknown one an error that names it. Sizes are bytes.

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
    time::Duration,
};
use toolscript::{Engine, EngineBuilder, Files, FilesError, Io, IoErrors, Limits};

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
    /// Runs at once.
    concurrency: Option<usize>,
    /// Runs that wait.
    queue: Option<usize>,
}

/// `[io]`: the files of scripts.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IoSection {
    dir: Option<PathBuf>,
    max_bytes: Option<u64>,
    max_files: Option<u64>,
    enabled: Option<bool>,
    errors: Option<IoErrors>,
}

impl Config {
    /// Reads the file that was named, or `toolscript.toml` if there is one.
    pub fn find(named: Option<&Path>) -> Result<Self> {
        let path = named.unwrap_or(Path::new(DEFAULT_FILE));
        #[expect(clippy::disallowed_methods, reason = "the person's own configuration, not a file of a script's")]
        let text = match std::fs::read_to_string(path) {
            Err(error) if named.is_none() && error.kind() == ErrorKind::NotFound => return Ok(Self::default()),
            text => text.with_context(|| format!("can't read the configuration {}", path.display()))?,
        };
        let config = Self::parse(&text).with_context(|| format!("configuration {}", path.display()))?;
        config.limits.clone().resolve().check().with_context(|| format!("configuration {}: [limits]", path.display()))?;
        Ok(config)
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
        limits
    }
}

impl IoSection {
    /// The files of scripts: in the directory that the command line names, or else in this section's, or in `./toolscript-files`.
    /// Naming one on the command line switches them on, and without `enabled` it is `default` that decides.
    pub fn resolve(&self, named: Option<&Path>, default: bool) -> Result<Option<Io>> {
        let (origin, dir) = match (named, &self.dir) {
            (Some(dir), _) => ("--io-dir", dir),
            (None, Some(dir)) => ("[io] dir", dir.as_path()),
            (None, None) => ("the io dir", Path::new(DEFAULT_IO_DIR)),
        };
        let off = named.is_none() && !self.enabled.unwrap_or(default);
        let files = match Files::new(dir) {
            // What is there does not matter to a run without files; a wrong name is wrong all the same.
            Err(error) if off && !matches!(error, FilesError::Traversal) => return Ok(None),
            files => files.with_context(|| format!("{origin} {}", dir.display()))?,
        };
        if off {
            return Ok(None);
        }
        let mut io = Io::new(files);
        io.max_bytes = self.max_bytes.unwrap_or(io.max_bytes);
        io.max_files = self.max_files.unwrap_or(io.max_files);
        io.errors = self.errors.unwrap_or(io.errors);
        Ok(Some(io))
    }
}
