//! The script to run.

/// A script and its arguments.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Script {
    /// The Luau source text. It is bytes because the guest reports invalid UTF-8 as a syntax error.
    pub source: Vec<u8>,
    /// The values of `...` in the script.
    pub arguments: Vec<String>,
}

impl Script {
    /// Creates a script without arguments.
    pub fn new(source: impl Into<Vec<u8>>) -> Self {
        Self { source: source.into(), arguments: Vec::new() }
    }

    /// Sets the arguments.
    #[must_use]
    pub fn with_arguments(mut self, arguments: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.arguments = arguments.into_iter().map(Into::into).collect();
        self
    }
}
