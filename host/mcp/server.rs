//! What the server answers, whatever the transport.

#![expect(deprecated, reason = "rmcp marks logging and subscriptions so, as the newest revision does; clients use them")]

use super::{
    arguments::{self, Arguments, invalid},
    changes::Changes,
    description,
    notices::Notices,
    resources, result,
};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest, CustomResult, ErrorCode, Implementation,
        ListResourcesResult, ListToolsResult, LoggingLevel, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams,
        ReadResourceResponse, ServerCapabilities, ServerConfig, SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool,
        ToolAnnotations, UnsubscribeRequestParams,
    },
    service::{RequestContext, SubscriptionContext},
};
use std::{
    borrow::Cow,
    sync::{Arc, Mutex, PoisonError},
};
use tokio_util::sync::CancellationToken;
use toolscript::{Engine, Io, Limits, Listener, Refusal, RunOptions, Script};

const EXECUTE_SCRIPT: &str = "execute_script";

/// The revisions that clients use, with and without a handshake.
const REVISIONS: &[ProtocolVersion] = &[ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2025_11_25, ProtocolVersion::V_2026_07_28];

/// Too many runs at once; clients may try again.
const BUSY: ErrorCode = ErrorCode(-32000);

/// What a server works with.
pub struct Settings {
    pub engine: Engine,
    pub limits: Limits,
    pub io: Option<Io>,
    /// Ends all runs.
    pub shutdown: CancellationToken,
}

/// One connection's server; cloning is cheap.
#[derive(Clone)]
pub struct Server {
    shared: Arc<Shared>,
}

struct Shared {
    settings: Settings,
    tool: Tool,
    changes: Changes,
    /// What the client set by the older revisions' way.
    level: Mutex<Option<LoggingLevel>>,
}

impl Server {
    pub fn new(settings: Settings) -> Self {
        let tool = Tool::new(EXECUTE_SCRIPT, description::tool(&settings.limits, settings.io.as_ref()), arguments::schema())
            .with_title("Execute a Luau script")
            .with_raw_output_schema(Arc::new(result::schema()))
            .with_annotations(ToolAnnotations::new().read_only(settings.io.is_none()).destructive(settings.io.is_some()).open_world(false));
        Self { shared: Arc::new(Shared { settings, tool, changes: Changes::default(), level: Mutex::default() }) }
    }

    /// Runs a script; what it says goes to the client meanwhile, and all of that is there before the result.
    async fn execute(self, arguments: Arguments, context: RequestContext<RoleServer>) -> Result<CallToolResult, ErrorData> {
        let Settings { engine, limits, io, shutdown } = &self.shared.settings;
        let mut limits = limits.clone();
        limits.timeout = arguments.timeout.map_or(limits.timeout, |timeout| timeout.min(limits.timeout));
        let notices = Notices::new(self.level(&context), context.meta.get_progress_token());
        let cancellation = shutdown.child_token();
        let mut options = RunOptions::default().with_limits(limits).with_cancellation(cancellation.clone());
        options.io = io.clone();
        options.listener = notices.clone().map(|notices| notices as Arc<dyn Listener>);

        let script = Script::new(arguments.script);
        let mut run = std::pin::pin!(engine.run(&script, options));
        let mut forward = std::pin::pin!(async {
            match &notices {
                Some(notices) => notices.forward(&context.peer).await,
                None => std::future::pending().await,
            }
        });
        let run = loop {
            tokio::select! {
                run = &mut run => break run,
                // It ends only after the run has.
                () = &mut forward => {}
                () = context.ct.cancelled(), if !cancellation.is_cancelled() => cancellation.cancel(),
            }
        };
        let run = run.map_err(|refusal| refused(&refusal))?;
        // A client that has gone, or is about to, hears nothing more.
        if !cancellation.is_cancelled() {
            if let Some(notices) = &notices {
                notices.finish(forward).await;
            }
            self.shared.changes.tell(&run.outcome.files_touched, has_session(&context).then_some(&context.peer)).await;
        }
        Ok(result::of_run(run))
    }

    /// The least serious level that the client wants to hear: of this request, or as it once said.
    fn level(&self, context: &RequestContext<RoleServer>) -> Option<LoggingLevel> {
        if !has_session(context) {
            return context.meta.log_level();
        }
        *self.shared.level.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Work on the files, where it may block.
    async fn with_files<R: Send + 'static>(
        &self,
        work: impl FnOnce(&toolscript::Files) -> Result<R, ErrorData> + Send + 'static,
    ) -> Result<R, ErrorData> {
        let Some(io) = &self.shared.settings.io else {
            return Err(ErrorData::resource_not_found("Resource not found: files are switched off", None));
        };
        let files = io.files.clone();
        tokio::task::spawn_blocking(move || work(&files)).await.unwrap_or_else(|_| Err(failed()))
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_logging();
        let capabilities = match self.shared.settings.io {
            Some(_) => capabilities.enable_resources().enable_resources_list_changed().enable_resources_subscribe().build(),
            None => capabilities.build(),
        };
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("toolscript", env!("CARGO_PKG_VERSION")).with_title("toolscript"))
            .with_instructions("Runs Luau scripts in a sandbox: compute, transform data and work on files in one call of execute_script.")
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(REVISIONS)
    }

    async fn list_tools(&self, _: Option<PaginatedRequestParams>, _: RequestContext<RoleServer>) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(vec![self.shared.tool.clone()]))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        (name == EXECUTE_SCRIPT).then(|| self.shared.tool.clone())
    }

    async fn call_tool(&self, request: CallToolRequestParams, context: RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
        if request.name != EXECUTE_SCRIPT {
            return Err(invalid(&format!("`name`: there is no such tool; there is `{EXECUTE_SCRIPT}`")));
        }
        let arguments = Arguments::parse(request.arguments)?;
        // In a task of its own, so that a panic is an answer too.
        let result = tokio::spawn(self.clone().execute(arguments, context)).await;
        result.unwrap_or_else(|_| Err(failed())).map(CallToolResponse::from)
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        if self.shared.settings.io.is_none() {
            return Ok(ListResourcesResult::default());
        }
        self.with_files(move |files| resources::list(files, request.and_then(|request| request.cursor).as_deref())).await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.with_files(move |files| resources::read(files, &request.uri)).await.map(ReadResourceResponse::from)
    }

    async fn subscribe(&self, request: SubscribeRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.shared.changes.subscribe(&request.uri)
    }

    async fn unsubscribe(&self, request: UnsubscribeRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.shared.changes.unsubscribe(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.shared.settings.io.is_some().then(|| Changes::granted(requested))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.shared.changes.listen(context).await
    }

    async fn set_level(&self, request: SetLevelRequestParams, context: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        if !has_session(&context) {
            return Err(method_not_found());
        }
        *self.shared.level.lock().unwrap_or_else(PoisonError::into_inner) = Some(request.level);
        Ok(())
    }

    /// A known method comes here when its parameters have another shape than the protocol's.
    async fn on_custom_request(&self, request: CustomRequest, _: RequestContext<RoleServer>) -> Result<CustomResult, ErrorData> {
        match request.method.as_str() {
            "tools/call" => Err(invalid("`name` must be a string and `arguments` an object")),
            "resources/read" | "resources/subscribe" | "resources/unsubscribe" => Err(invalid("`uri` must be a string")),
            "logging/setLevel" => Err(invalid("`level` must be one of the protocol's levels")),
            "tools/list" | "resources/list" => Err(invalid("`cursor` must be a string")),
            "initialize" => Err(invalid("`protocolVersion`, `capabilities` and `clientInfo` are required")),
            _ => Err(method_not_found()),
        }
    }
}

/// Whether the request is by a revision that has a handshake, after which the client may set things once.
fn has_session(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_none_or(|version| version.has_initialize())
}

fn method_not_found() -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "Method not found", None)
}

fn refused(refusal: &Refusal) -> ErrorData {
    match refusal {
        Refusal::ScriptTooLarge { .. } => invalid(&format!("`script`: {refusal}")),
        Refusal::Limit(_) => invalid(&format!("`timeout_ms`: {refusal}")),
        _ => ErrorData::new(BUSY, refusal.to_string(), None),
    }
}

fn failed() -> ErrorData {
    ErrorData::internal_error("the server failed; the cause is in its log", None)
}
