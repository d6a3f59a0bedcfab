//! What `run` and `serve` share: limits, files, the configuration.

use crate::config::Config;
use crate::{Limits, engine::IoOptions};
use anyhow::{Context as _, Result, bail};
use clap::Args;
use std::{path::PathBuf, time::Duration};

#[derive(Args)]
#[command(next_help_heading = "Limits and files")]
pub struct LimitArguments {
    /// Wall time of a script in seconds [default: 30]
    #[arg(long, value_name = "S", value_parser = seconds)]
    timeout: Option<Duration>,

    /// Fuel of a script, about an instruction each [default: scales with the wall time]
    #[arg(long, value_name = "N")]
    fuel: Option<u64>,

    /// Memory of a script in MiB [default: 64]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(4..=4096))]
    memory_limit: Option<u64>,

    /// Calls of API functions that a script may make [default: 100]
    #[arg(long, value_name = "N")]
    max_api_calls: Option<u64>,

    /// Folder for the files of scripts, made when it is first written to [default: ./toolscript-files; none over HTTP]
    #[arg(long, value_name = "DIR", conflicts_with = "no_io")]
    io_dir: Option<PathBuf>,

    /// Gives scripts no files
    #[arg(long)]
    no_io: bool,

    /// Was replaced by --io-dir
    #[arg(long, hide = true)]
    output_dir: Option<PathBuf>,

    /// Configuration [default: toolscript.toml in the working directory, if it is there]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

impl LimitArguments {
    /// The limits of a run: those named here win over the configuration's.
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

    /// The files of scripts; `default` says whether there are any where nobody does.
    pub fn files(&self, config: &Config, default: bool) -> Result<Option<IoOptions>> {
        if self.output_dir.is_some() {
            bail!("--output-dir was replaced by --io-dir");
        }
        if self.no_io {
            return Ok(None);
        }
        config.open_io(self.io_dir.as_deref(), default)
    }
}
