//! Arguments that `run` and `serve` share: limits, io directory and configuration.

use crate::{
    Limits,
    config::{
        Config,
        units::{MAX_COUNT, MAX_FUEL, MEMORY, TIME, parse_duration, parse_integer, parse_size},
    },
    engine::IoOptions,
};
use anyhow::{Context as _, Result, bail};
use clap::Args;
use std::{path::PathBuf, time::Duration};

#[derive(Args)]
#[command(next_help_heading = "Limits and files")]
pub struct LimitArguments {
    /// Maximum wall time of a script: seconds, or a time such as 500ms or 5m [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = |text: &str| parse_duration(text, TIME))]
    timeout: Option<Duration>,

    /// Maximum fuel of a script, about one unit per instruction [default: derived from the timeout]
    #[arg(long, value_name = "N", value_parser = |text: &str| parse_integer(text, 1..=MAX_FUEL))]
    fuel: Option<u64>,

    /// Maximum memory of a script: a size such as 128MiB, or a number of MiB [default: 64MiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_memory)]
    memory_limit: Option<u64>,

    /// Maximum number of function calls of a script [default: 1000]
    #[arg(long, value_name = "N", value_parser = |text: &str| parse_integer(text, 0..=MAX_COUNT))]
    max_api_calls: Option<u64>,

    /// Directory that scripts can access, created at the first write [default: ./toolscript-files; none over HTTP]
    #[arg(long, value_name = "DIR", conflicts_with = "no_io")]
    io_dir: Option<PathBuf>,

    /// Give scripts no access to files
    #[arg(long)]
    no_io: bool,

    /// Replaced by --io-dir
    #[arg(long, hide = true)]
    output_dir: Option<PathBuf>,

    /// Configuration file [default: toolscript.toml in the working directory, if it exists]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// Parses a size. A number without a unit is in MiB.
fn parse_memory(text: &str) -> Result<u64, String> {
    match text.parse::<u64>() {
        Ok(mebibytes) => parse_size(&mebibytes.saturating_mul(1 << 20).to_string(), MEMORY),
        Err(_) => parse_size(text, MEMORY),
    }
}

impl LimitArguments {
    /// Returns the limits of a run. Arguments override the configuration.
    pub fn resolve(&self, config: &Config) -> Result<Limits> {
        let mut limits = config.limits.clone().resolve();
        if let Some(timeout) = self.timeout {
            limits.timeout = timeout;
        }
        if self.fuel.is_some() {
            limits.fuel = self.fuel;
        }
        if let Some(bytes) = self.memory_limit {
            limits.memory = usize::try_from(bytes).context("--memory-limit is too large for this machine")?;
        }
        limits.api_calls = self.max_api_calls.unwrap_or(limits.api_calls);
        limits.check()?;
        Ok(limits)
    }

    /// Opens the io directory. `enabled_by_default` applies if neither the arguments nor the configuration decide.
    pub fn open_io(&self, config: &Config, enabled_by_default: bool) -> Result<Option<IoOptions>> {
        if self.output_dir.is_some() {
            bail!("--output-dir was replaced by --io-dir");
        }
        if self.no_io {
            return Ok(None);
        }
        config.open_io(self.io_dir.as_deref(), enabled_by_default)
    }
}
