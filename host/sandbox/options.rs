//! The options of one execution.

use crate::engine::{Listener, bridge::FunctionProvider};
use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};
use tokio_util::sync::CancellationToken;

/// Options for one execution of a script or a command.
///
/// The defaults:
/// - no arguments, and no environment values
/// - the functions of the engine
/// - the working directory and the timeout of the sandbox
/// - no listener
/// - a cancellation token that is never cancelled
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct ExecOptions {
    /// The arguments, which the script receives as `...`. Those of a command come first.
    pub arguments: Vec<String>,
    /// The values of the read-only table `env` in the script. Without it, scripts have no `env`.
    pub environment: Option<BTreeMap<String, String>>,
    /// The functions that the script can call as `sdk.name(...)`. They replace those of the engine.
    pub functions: Option<Arc<dyn FunctionProvider>>,
    /// The directory that relative paths start at, relative to the working directory of the sandbox.
    pub working_directory: Option<String>,
    /// The limit on wall time. It can only lower the timeout of the sandbox.
    pub timeout: Option<Duration>,
    /// Receives log lines and progress while the script runs.
    pub listener: Option<Arc<dyn Listener>>,
    /// Stops the run when it is cancelled.
    pub cancellation: CancellationToken,
}

impl ExecOptions {
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

    /// Sets the functions, for example [`Functions`](crate::Functions).
    #[must_use]
    pub fn with_functions(mut self, functions: impl FunctionProvider + 'static) -> Self {
        self.functions = Some(Arc::new(functions));
        self
    }

    /// Sets the directory that relative paths start at.
    #[must_use]
    pub fn with_working_directory(mut self, directory: impl Into<String>) -> Self {
        self.working_directory = Some(directory.into());
        self
    }

    /// Sets the limit on wall time.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets the listener.
    #[must_use]
    pub fn with_listener(mut self, listener: Arc<dyn Listener>) -> Self {
        self.listener = Some(listener);
        self
    }

    /// Sets the cancellation token.
    #[must_use]
    pub fn with_cancellation(mut self, cancellation: CancellationToken) -> Self {
        self.cancellation = cancellation;
        self
    }
}

impl fmt::Debug for ExecOptions {
    /// Environment values may be secrets, so only their names are shown.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ExecOptions")
            .field("arguments", &self.arguments)
            .field("environment", &self.environment.as_ref().map(|environment| environment.keys().collect::<Vec<_>>()))
            .field("functions", &self.functions.is_some())
            .field("working_directory", &self.working_directory)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
