//! `toolscript.toml`: every key optional, an unknown one an error that names it. Sizes are bytes.

use anyhow::{Context as _, Result};
use serde::Deserialize;
use std::{io::ErrorKind, path::Path, time::Duration};
use toolscript::{Engine, EngineBuilder, Limits};

/// Looked for in the working directory.
const DEFAULT_FILE: &str = "toolscript.toml";

/// The whole file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// `[limits]`
    #[serde(default)]
    pub limits: LimitsSection,
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
