//! Which functions there are, as the host's owner says.

use super::document::SpecError;
use globset::{GlobBuilder, GlobMatcher};
use std::path::Path;

/// Lets functions through by their names; without anything to say, all of them.
#[derive(Debug, Default)]
pub struct Filter {
    allow: Vec<GlobMatcher>,
    deny: Vec<GlobMatcher>,
    read_only: bool,
}

impl Filter {
    /// Those that a pattern of `allow` fits, if there is one, and none of `deny`; only those that change nothing if `read_only`.
    pub fn new(allow: &[String], deny: &[String], read_only: bool) -> Result<Self, SpecError> {
        Ok(Self { allow: patterns(allow)?, deny: patterns(deny)?, read_only })
    }

    /// Whether there is a function that has these names: its own, and what its API calls it.
    pub fn lets(&self, names: &[impl AsRef<Path>], is_safe: bool) -> bool {
        let fits = |patterns: &[GlobMatcher]| patterns.iter().any(|pattern| names.iter().any(|name| pattern.is_match(name)));
        (is_safe || !self.read_only) && (self.allow.is_empty() || fits(&self.allow)) && !fits(&self.deny)
    }

    /// A pattern that fits none of these names: it is misspelt, and what it is for is not as its owner thinks.
    pub fn without_use(&self, names: &[String]) -> Option<&str> {
        let is_used = |pattern: &GlobMatcher| names.iter().any(|name| pattern.is_match(name));
        self.allow.iter().chain(&self.deny).find(|pattern| !is_used(pattern)).map(|pattern| pattern.glob().glob())
    }
}

fn patterns(texts: &[String]) -> Result<Vec<GlobMatcher>, SpecError> {
    let wrong = |text: &String, error: &globset::Error| SpecError::new(format!("the pattern '{text}': {}", error.kind()));
    texts.iter().map(|text| Ok(GlobBuilder::new(text).build().map_err(|error| wrong(text, &error))?.compile_matcher())).collect()
}
