//! The script to run.

use std::collections::BTreeMap;

/// A script, its arguments and its environment values.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Script {
    /// The Luau source text. It is bytes because the guest reports invalid UTF-8 as a syntax error.
    pub source: Vec<u8>,
    /// The values of `...` in the script.
    pub arguments: Vec<String>,
    /// The values of the read-only table `env` in the script. Without it, scripts have no `env`.
    ///
    /// Environment variables of the process are never visible to a script, unless they are copied to this map.
    pub environment: Option<BTreeMap<String, String>>,
}

impl Script {
    /// Creates a script without arguments and environment values.
    pub fn new(source: impl Into<Vec<u8>>) -> Self {
        Self { source: source.into(), arguments: Vec::new(), environment: None }
    }

    /// Sets the arguments.
    #[must_use]
    pub fn with_arguments(mut self, arguments: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.arguments = arguments.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the values of the table `env`.
    #[must_use]
    pub fn with_environment(mut self, environment: impl IntoIterator<Item = (impl Into<String>, impl Into<String>)>) -> Self {
        self.environment = Some(environment.into_iter().map(|(name, value)| (name.into(), value.into())).collect());
        self
    }
}
