//! The options of sandboxes, runs and file operations. They arrive as JSON text with the names that JavaScript uses.

use napi::Status;
use serde::{Deserialize, de::DeserializeOwned};
use std::{collections::BTreeMap, time::Duration};
use toolscript::{
    Limits,
    engine::CheckMode,
    files::{GlobQuery, GrepQuery},
};

/// Parses options. The error does not contain a position, because the caller does not see the text.
pub fn parse<T: DeserializeOwned>(text: &str) -> napi::Result<T> {
    serde_json::from_str(text).map_err(|error| {
        let message = error.to_string();
        napi::Error::new(Status::InvalidArg, message.split(" at line ").next().unwrap_or_default())
    })
}

/// The limits of runs. A limit that is missing keeps its value.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct LimitOptions {
    timeout_ms: Option<f64>,
    fuel: Option<u64>,
    memory: Option<usize>,
    script: Option<usize>,
    logs: Option<usize>,
    result: Option<usize>,
    api_calls: Option<u64>,
}

impl LimitOptions {
    /// Changes the limits that are given, and checks all of them.
    pub fn apply(self, mut limits: Limits) -> Result<Limits, String> {
        if let Some(milliseconds) = self.timeout_ms {
            limits.timeout = timeout(milliseconds)?;
        }
        limits.fuel = self.fuel.or(limits.fuel);
        limits.memory = self.memory.unwrap_or(limits.memory);
        limits.script = self.script.unwrap_or(limits.script);
        limits.logs = self.logs.unwrap_or(limits.logs);
        limits.result = self.result.unwrap_or(limits.result);
        limits.api_calls = self.api_calls.unwrap_or(limits.api_calls);
        limits.check().map_err(|error| error.to_string())?;
        Ok(limits)
    }
}

/// Converts a number of milliseconds. A negative number, infinity and NaN are rejected.
fn timeout(milliseconds: f64) -> Result<Duration, String> {
    Duration::try_from_secs_f64(milliseconds / 1000.0).map_err(|_| "timeout must be more than 0 and at most 86400 seconds".into())
}

/// The options of a sandbox.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SandboxOptions {
    #[serde(default)]
    pub limits: LimitOptions,
    pub working_directory: Option<String>,
    pub max_bytes: Option<u64>,
    pub max_files: Option<u64>,
    pub disk_quota: Option<u64>,
    pub concurrency: Option<usize>,
    pub return_io_errors: bool,
    pub protect_names: bool,
}

/// The options of a run or a command.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RunArguments {
    #[serde(default)]
    pub arguments: Vec<String>,
    #[serde(default)]
    pub limits: LimitOptions,
    pub seed: Option<u64>,
    #[serde(default)]
    pub credentials: BTreeMap<String, String>,
    pub env: Option<BTreeMap<String, String>>,
    #[serde(default)]
    pub check: CheckMode,
    /// The directory of a command.
    pub working_directory: Option<String>,
    /// JavaScript receives each log line.
    #[serde(default)]
    pub on_print: bool,
    /// JavaScript receives progress.
    #[serde(default)]
    pub on_progress: bool,
}

/// The options of a check.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CheckArguments {
    pub env: Option<BTreeMap<String, String>>,
}

/// The options of a search by name.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GlobOptions {
    pattern: String,
    path: Option<String>,
    #[serde(default)]
    hidden: bool,
    #[serde(default)]
    files_only: bool,
    max_results: Option<usize>,
}

impl From<GlobOptions> for GlobQuery {
    fn from(options: GlobOptions) -> Self {
        let mut query = Self::new(options.pattern).with_hidden(options.hidden).with_files_only(options.files_only);
        query.path = options.path.unwrap_or(query.path);
        query.max_results = options.max_results.unwrap_or(query.max_results);
        query
    }
}

/// The options of a search for lines.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GrepOptions {
    pattern: String,
    path: Option<String>,
    glob: Option<String>,
    #[serde(default)]
    regex: bool,
    #[serde(default)]
    hidden: bool,
    #[serde(default)]
    context: usize,
    max_matches: Option<usize>,
}

impl From<GrepOptions> for GrepQuery {
    fn from(options: GrepOptions) -> Self {
        let mut query = Self::new(options.pattern).with_regex(options.regex).with_hidden(options.hidden).with_context(options.context);
        query.path = options.path.unwrap_or(query.path);
        query.glob = options.glob;
        query.max_matches = options.max_matches.unwrap_or(query.max_matches);
        query
    }
}
