//! Selects the functions that scripts can call, by the patterns `allow` and `deny` and the flag `read_only`.

use globset::{GlobBuilder, GlobMatcher};
use std::path::Path;

/// A filter on function names. The default allows all functions.
#[derive(Debug, Default)]
pub struct FunctionFilter {
    allow: Vec<GlobMatcher>,
    deny: Vec<GlobMatcher>,
    read_only: bool,
}

impl FunctionFilter {
    /// Creates a filter. An empty `allow` allows all names, and `deny` takes precedence. Fails on an invalid pattern.
    pub fn new(allow: &[String], deny: &[String], read_only: bool) -> Result<Self, String> {
        Ok(Self { allow: compile(allow)?, deny: compile(deny)?, read_only })
    }

    /// Returns `true` if a function with these names is allowed: its own name, and the name in the specification or on the server.
    pub fn allows(&self, names: &[impl AsRef<Path>], is_read_only: bool) -> bool {
        let matches = |patterns: &[GlobMatcher]| patterns.iter().any(|pattern| names.iter().any(|name| pattern.is_match(name)));
        (is_read_only || !self.read_only) && (self.allow.is_empty() || matches(&self.allow)) && !matches(&self.deny)
    }

    /// Returns a pattern that matches none of these names. It is probably misspelled, so that the filter does not protect as intended.
    pub fn unused_pattern(&self, names: &[String]) -> Option<&str> {
        let is_used = |pattern: &GlobMatcher| names.iter().any(|name| pattern.is_match(name));
        self.allow.iter().chain(&self.deny).find(|pattern| !is_used(pattern)).map(|pattern| pattern.glob().glob())
    }
}

fn compile(patterns: &[String]) -> Result<Vec<GlobMatcher>, String> {
    let invalid = |pattern: &String, error: &globset::Error| format!("invalid pattern '{pattern}': {}", error.kind());
    let glob = |pattern: &String| GlobBuilder::new(pattern).build().map_err(|error| invalid(pattern, &error));
    patterns.iter().map(|pattern| Ok(glob(pattern)?.compile_matcher())).collect()
}
