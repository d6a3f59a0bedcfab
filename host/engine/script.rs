//! What to run, and how this once.

use super::limits::Limits;
use crate::bridge::Listener;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// A script and its arguments.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Script {
    /// Luau source text. Bytes, as the guest decides whether they are text.
    pub source: Vec<u8>,
    /// What the script gets as `...`.
    pub arguments: Vec<String>,
}

impl Script {
    /// A script without arguments.
    pub fn new(source: impl Into<Vec<u8>>) -> Self {
        Self { source: source.into(), arguments: Vec::new() }
    }

    /// The same script with these arguments.
    #[must_use]
    pub fn with_arguments(mut self, arguments: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.arguments = arguments.into_iter().map(Into::into).collect();
        self
    }
}

/// How to run a script this once.
///
/// The defaults: the limits of [`Limits::default`], a token that nobody cancels, nobody listening, a seed from the system.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct RunOptions {
    /// The limits of this run.
    pub limits: Limits,
    /// Cancelling it stops the run, which then reports what was done so far.
    pub cancellation: CancellationToken,
    /// Hears of log lines and progress as they come.
    pub listener: Option<Arc<dyn Listener>>,
    /// Seeds `math.random`, for a run that can be repeated.
    pub seed: Option<u64>,
}

impl RunOptions {
    /// The same options with these limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The same options with this token.
    #[must_use]
    pub fn with_cancellation(mut self, cancellation: CancellationToken) -> Self {
        self.cancellation = cancellation;
        self
    }

    /// The same options with this listener.
    #[must_use]
    pub fn with_listener(mut self, listener: Arc<dyn Listener>) -> Self {
        self.listener = Some(listener);
        self
    }

    /// The same options with this seed.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }
}
