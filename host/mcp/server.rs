//! The public entry point: [`McpServer`] and its builder.

use super::{
    error::ServeError,
    handler::Handler,
    http::{self, HttpOptions, HttpOptionsError},
    large_output::DEFAULT_INLINE,
    metrics::Metrics,
    response_limit::{DEFAULT_RESPONSE, MIN_RESPONSE},
    state::ServerState,
    stdio,
    tenant::Tenant,
};
use crate::{
    Engine, Limits,
    engine::{CheckMode, IoOptions},
    sdk::Sdk,
};
use std::{
    fmt,
    sync::{Arc, Mutex},
};
use tokio::{net::TcpListener, runtime::Handle, sync::Semaphore};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// An MCP server. Cloning is cheap; clones share the same state.
///
/// Serving needs a tokio runtime with io and time enabled.
#[derive(Clone)]
pub struct McpServer {
    state: Arc<ServerState>,
    io: Option<IoOptions>,
}

/// Settings of an [`McpServer`].
///
/// The defaults:
/// - `limits`: [`Limits::default`]
/// - `inline_limit`: 24 KiB
/// - `response_limit`: 8 MiB
/// - `resource_links`: off
/// - `check`: [`CheckMode::Errors`]
/// - `check_tool`: off
/// - no io directory: no file tools and no file resources
/// - no `sdk`: no documentation tools
/// - scripts run on the runtime that serves the clients
#[derive(Clone)]
pub struct McpServerBuilder {
    engine: Engine,
    limits: Limits,
    inline: usize,
    max_response: usize,
    resource_links: bool,
    check: CheckMode,
    check_tool: bool,
    io: Option<IoOptions>,
    sdk: Option<Arc<Sdk>>,
    script_runtime: Option<Handle>,
}

impl McpServer {
    /// Returns a builder for a server that runs its scripts on `engine`.
    ///
    /// Scripts can call the functions of the engine, unless [`McpServerBuilder::sdk`] replaces them.
    #[must_use]
    pub fn builder(engine: Engine) -> McpServerBuilder {
        McpServerBuilder {
            engine,
            limits: Limits::default(),
            inline: DEFAULT_INLINE,
            max_response: DEFAULT_RESPONSE,
            resource_links: false,
            check: CheckMode::Errors,
            check_tool: false,
            io: None,
            sdk: None,
            script_runtime: None,
        }
    }

    /// Returns a router with these paths. You can serve it alone or merge it into your own router:
    ///
    /// - `/mcp`: the MCP endpoint
    /// - `/healthz`: `ok`
    /// - `/metrics`: OpenMetrics text
    /// - `/.well-known/oauth-protected-resource` and the same with `/mcp`: the OAuth metadata (RFC 9728) of a server with
    ///   authentication
    ///
    /// The router accepts requests for loopback hosts and for [`HttpOptions::with_public_url`]. Limits on connections and on slow
    /// headers do not apply, because the caller owns the connections; see [`serve_http`](Self::serve_http). The caller also decides
    /// who can reach the listener: without authentication, everyone who reaches it can run scripts.
    ///
    /// Sessions, rate limits and quotas belong to the router: a second call returns a router with sessions and limits of its own.
    ///
    /// # Errors
    ///
    /// When the options can't be used.
    pub fn router(&self, options: &HttpOptions) -> Result<axum::Router, HttpOptionsError> {
        http::router(&self.state, self.io.clone(), options, None)
    }

    /// Serves the [`router`](Self::router) on a listener until [`drain_token`](Self::drain_token) or
    /// [`shutdown_token`](Self::shutdown_token) is cancelled.
    ///
    /// # Errors
    ///
    /// When the options can't be used, or the listener is not on a loopback address and there is no authentication; see
    /// [`HttpOptions::check_address`].
    pub async fn serve_http(&self, listener: TcpListener, options: &HttpOptions) -> Result<(), ServeError> {
        http::serve(&self.state, self.io.clone(), listener, options).await
    }

    /// Serves one client over standard input and output, until the input ends or [`shutdown_token`](Self::shutdown_token) is cancelled.
    /// Both stop the running scripts.
    ///
    /// # Errors
    ///
    /// When the client does not start a connection.
    pub async fn serve_stdio(&self) -> Result<(), ServeError> {
        stdio::serve(self.handler(), self.state.max_message(), self.state.shutdown.clone()).await
    }

    /// Serves one client over other streams than standard input and output.
    #[cfg(feature = "fuzzing")]
    pub(crate) async fn serve_streams(
        &self,
        input: impl tokio::io::AsyncRead + Send + Unpin + 'static,
        output: impl tokio::io::AsyncWrite + Send + Unpin + 'static,
    ) -> Result<(), ServeError> {
        stdio::serve_streams(self.handler(), self.state.max_message(), self.state.shutdown.clone(), input, output).await
    }

    fn handler(&self) -> Handler {
        Handler::new(Arc::new(Tenant::new(Arc::clone(&self.state), self.io.clone(), None)))
    }

    /// Returns the token that starts a graceful stop of an HTTP server.
    ///
    /// When it is cancelled, the server accepts no connections and ends subscriptions. It waits for running scripts for the
    /// [drain timeout](HttpOptions::with_drain_timeout), then stops them.
    ///
    /// For a [`router`](Self::router) that you serve yourself, it only ends subscriptions: stop your listener too.
    #[must_use]
    pub fn drain_token(&self) -> CancellationToken {
        self.state.drain.clone()
    }

    /// Returns the token that stops all scripts and ends the server.
    #[must_use]
    pub fn shutdown_token(&self) -> CancellationToken {
        self.state.shutdown.clone()
    }
}

impl McpServerBuilder {
    /// The minimum of [`response_limit`](Self::response_limit) in bytes: 512 KiB.
    pub const MIN_RESPONSE_LIMIT: usize = MIN_RESPONSE;

    /// Sets the limits of each run. A client can lower the timeout for one call.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the size in bytes of a result, of a log and of a page of a file that a client gets in one response. 0 is no limit.
    ///
    /// A larger result or log is saved below `outputs` in the io directory, and the response has its head and tail.
    #[must_use]
    pub fn inline_limit(mut self, bytes: usize) -> Self {
        self.inline = bytes;
        self
    }

    /// Sets the maximum size of one response in bytes, as JSON. A smaller one than [`MIN_RESPONSE_LIMIT`](Self::MIN_RESPONSE_LIMIT) is
    /// replaced by it.
    ///
    /// Parts that exceed [`inline_limit`](Self::inline_limit) are shortened first. A result that still does not fit becomes an error.
    #[must_use]
    pub fn response_limit(mut self, bytes: usize) -> Self {
        self.max_response = bytes.max(MIN_RESPONSE);
        self
    }

    /// Adds a link to each written file to the results of tools. Off by default: some clients pass a link on to a model API that rejects
    /// it. `files_touched` has the names of the files in any case.
    #[must_use]
    pub fn resource_links(mut self, enabled: bool) -> Self {
        self.resource_links = enabled;
        self
    }

    /// Sets what happens with mistakes that are found in a script before it runs. A client can set it for one call.
    #[must_use]
    pub fn check(mut self, mode: CheckMode) -> Self {
        self.check = mode;
        self
    }

    /// Adds the tool `check_script`, which finds mistakes in a script without running it.
    #[must_use]
    pub fn check_tool(mut self, enabled: bool) -> Self {
        self.check_tool = enabled;
        self
    }

    /// Sets the io directory of scripts, file tools and resources.
    ///
    /// With [authentication](HttpOptions::with_auth), each tenant has a subdirectory of its own.
    #[must_use]
    pub fn io(mut self, io: IoOptions) -> Self {
        self.io = Some(io);
        self
    }

    /// Sets the functions that scripts call as `sdk.name(...)`, and adds tools that document them.
    #[must_use]
    pub fn sdk(mut self, sdk: impl Into<Arc<Sdk>>) -> Self {
        self.sdk = Some(sdk.into());
        self
    }

    /// Sets the runtime for scripts and file jobs, so that no client waits for the script of another.
    #[must_use]
    pub fn script_runtime(mut self, runtime: Handle) -> Self {
        self.script_runtime = Some(runtime);
        self
    }

    /// Builds the server.
    #[must_use]
    pub fn build(self) -> McpServer {
        let shutdown = CancellationToken::new();
        let file_job_threads = Arc::new(Semaphore::new(self.engine.concurrency()));
        let state = ServerState {
            engine: self.engine,
            limits: self.limits,
            inline: self.inline,
            max_response: self.max_response,
            resource_links: self.resource_links,
            check: self.check,
            check_tool: self.check_tool,
            sdk: self.sdk,
            metrics: Metrics::default(),
            unused_memory: Arc::default(),
            cached_tools: Mutex::default(),
            script_runtime: self.script_runtime,
            file_job_threads,
            active_runs: TaskTracker::new(),
            drain: shutdown.child_token(),
            shutdown,
        };
        McpServer { state: Arc::new(state), io: self.io }
    }
}

impl fmt::Debug for McpServer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("McpServer").field("limits", &self.state.limits).finish_non_exhaustive()
    }
}

impl fmt::Debug for McpServerBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("McpServerBuilder").field("limits", &self.limits).finish_non_exhaustive()
    }
}
