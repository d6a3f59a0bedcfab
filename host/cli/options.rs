//! Arguments that `run` and `serve` share: limits, io directory and configuration.

use crate::{Limits, config::Config, engine::IoOptions};
use anyhow::{Context as _, Result, bail};
use clap::Args;
use std::{path::PathBuf, time::Duration};

#[derive(Args)]
#[command(next_help_heading = "Limits and files")]
pub struct LimitArguments {
    /// Maximum wall time of a script, in seconds [default: 30]
    #[arg(long, value_name = "S", value_parser = parse_seconds)]
    timeout: Option<Duration>,

    /// Maximum fuel of a script, about one unit per instruction [default: derived from the timeout]
    #[arg(long, value_name = "N")]
    fuel: Option<u64>,

    /// Maximum memory of a script, in MiB [default: 64]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(4..=4096))]
    memory_limit: Option<u64>,

    /// Maximum number of function calls of a script [default: 1000]
    #[arg(long, value_name = "N")]
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

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
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
        if let Some(mebibytes) = self.memory_limit {
            limits.memory = usize::try_from(mebibytes << 20).context("--memory-limit is too large for this machine")?;
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
