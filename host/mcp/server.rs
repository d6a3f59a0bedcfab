//! What the server answers, whatever the transport.

#![expect(deprecated, reason = "rmcp marks logging and subscriptions so, as the newest revision does; clients use them")]

use super::{
    arguments::{Wrong, invalid, shortened},
    changes::{Changes, Subscriptions},
    notices::{Notices, Outlet, RequestStream},
    resources, result,
    tenant::{NotRun, Settings, Tenant},
    tools::{
        FileTool, Work,
        script::{Arguments, EXECUTE_SCRIPT},
    },
};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult, ContentBlock, CustomRequest,
        CustomResult, ErrorCode, GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult, ListResourceTemplatesResult,
        ListResourcesResult, ListToolsResult, LoggingLevel, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams,
        ReadResourceResponse, ServerCapabilities, ServerConfig, SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool,
        UnsubscribeRequestParams,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use std::{
    borrow::Cow,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};
use tokio_util::sync::{CancellationToken, DropGuard};
use toolscript::{Io, Listener, Refusal, RunOptions, Script};

/// The revisions that clients use, with and without a handshake.
const REVISIONS: &[ProtocolVersion] = &[ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2025_11_25, ProtocolVersion::V_2026_07_28];

/// Too many runs at once; clients may try again.
const BUSY: ErrorCode = ErrorCode(-32000);

/// The server of one connection, session or request; cloning is cheap.
#[derive(Clone)]
pub struct Server {
    tenant: Arc<Tenant>,
    session: Arc<Session>,
}

/// What a client of the older revisions' kind has set.
struct Session {
    level: Mutex<Option<LoggingLevel>>,
    subscriptions: Arc<Subscriptions>,
    /// The client hears of what others change; once is enough.
    follows: AtomicBool,
    gone: CancellationToken,
    /// Ends what works for the client behind its back.
    _gone: DropGuard,
}

impl Server {
    pub fn new(tenant: Arc<Tenant>) -> Self {
        let gone = CancellationToken::new();
        let session = Session {
            level: Mutex::default(),
            subscriptions: Arc::default(),
            follows: AtomicBool::new(false),
            gone: gone.clone(),
            _gone: gone.drop_guard(),
        };
        Self { tenant, session: Arc::new(session) }
    }

    /// Runs a script; what it says goes to the client meanwhile, and all of that is there before the result.
    async fn execute(self, arguments: Arguments, context: RequestContext<RoleServer>) -> Result<CallToolResult, ErrorData> {
        let Settings { limits, shutdown, .. } = &*self.tenant.settings;
        let mut limits = limits.clone();
        limits.timeout = arguments.timeout.map_or(limits.timeout, |timeout| timeout.min(limits.timeout));
        let notices = Notices::new(self.level(&context), context.meta.get_progress_token());
        let cancellation = shutdown.child_token();
        let mut options = RunOptions::default().with_limits(limits).with_cancellation(cancellation.clone());
        options.listener = notices.clone().map(|notices| notices as Arc<dyn Listener>);

        let stream = context.extensions.get::<RequestStream>().cloned();
        let closed = stream.as_ref().map(|stream| stream.closed.clone()).unwrap_or_default();
        let outlet = stream.map_or_else(|| Outlet::Peer(context.peer.clone()), Outlet::Stream);
        let script = Script::new(arguments.script);
        let mut run = std::pin::pin!(self.tenant.run(script, options));
        let mut forward = std::pin::pin!(async {
            match &notices {
                Some(notices) => notices.forward(&outlet).await,
                None => std::future::pending().await,
            }
        });
        let run = loop {
            tokio::select! {
                run = &mut run => break run,
                // It ends only after the run has.
                () = &mut forward => {}
                () = context.ct.cancelled(), if !cancellation.is_cancelled() => cancellation.cancel(),
                () = closed.cancelled(), if !cancellation.is_cancelled() => cancellation.cancel(),
            }
        };
        let run = match run {
            Ok(run) => run,
            Err(reason) => return not_run(reason),
        };
        // A client that has gone, or is about to, hears nothing more.
        if !cancellation.is_cancelled() {
            if let Some(notices) = &notices {
                notices.finish(forward).await;
            }
            let names: Vec<&str> = run.outcome.files_touched.iter().map(|file| file.name.as_str()).collect();
            self.tell(&names, &context).await;
        }
        Ok(result::of_run(run))
    }

    /// Works on files.
    async fn work(self, work: Work, context: RequestContext<RoleServer>) -> Result<CallToolResult, ErrorData> {
        let answer = match self.look(&context, work.holds, work.run).await? {
            Ok(answer) => answer,
            Err(error) => return Ok(CallToolResult::error(vec![ContentBlock::text(error.to_string())])),
        };
        if let Some(name) = &answer.changed {
            self.tell(&[name], &context).await;
        }
        Ok(answer.into_result())
    }

    /// Tells those who want to hear of files that were changed.
    async fn tell(&self, names: &[&str], context: &RequestContext<RoleServer>) {
        let peer = has_session(context).then_some(&context.peer);
        self.tenant.changes.tell(names, &self.session.subscriptions, peer).await;
    }

    /// The least serious level that the client wants to hear: of this request, or as it once said.
    fn level(&self, context: &RequestContext<RoleServer>) -> Option<LoggingLevel> {
        if !has_session(context) {
            return context.meta.log_level();
        }
        *self.session.level.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Work on the files, where it may block, until the client cancels it or goes away.
    async fn look<R: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        holds: usize,
        work: impl FnOnce(&Io, &dyn Fn() -> bool) -> R + Send + 'static,
    ) -> Result<R, ErrorData> {
        if self.tenant.io.is_none() {
            return Err(method_not_found());
        }
        let cancellation = CancellationToken::new();
        let closed = context.extensions.get::<RequestStream>().map(|stream| stream.closed.clone()).unwrap_or_default();
        let mut look = std::pin::pin!(self.tenant.look(holds, cancellation.clone(), work));
        let looked = loop {
            tokio::select! {
                looked = &mut look => break looked,
                () = context.ct.cancelled(), if !cancellation.is_cancelled() => cancellation.cancel(),
                () = closed.cancelled(), if !cancellation.is_cancelled() => cancellation.cancel(),
            }
        };
        looked.map_err(|reason| ErrorData::new(BUSY, reason.to_string(), None))?.ok_or_else(failed)
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_logging();
        let capabilities = match self.tenant.io {
            Some(_) => capabilities.enable_resources().enable_resources_list_changed().enable_resources_subscribe().build(),
            None => capabilities.build(),
        };
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("toolscript", env!("CARGO_PKG_VERSION")).with_title("toolscript"))
            .with_instructions(
                "Runs Luau scripts in a sandbox: compute, transform data and work on files in one call of execute_script. Where there are \
                 file tools, they work on the same files.",
            )
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(REVISIONS)
    }

    async fn list_tools(&self, _: Option<PaginatedRequestParams>, _: RequestContext<RoleServer>) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tenant.tools.clone()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tenant.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(&self, request: CallToolRequestParams, context: RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
        // In a task of its own, so that a panic is an answer too.
        let called = match FileTool::find(&request.name) {
            Some(tool) if self.tenant.io.is_some() => {
                tool.prepare(request.arguments).map(|work| tokio::spawn(self.clone().work(work, context)))
            }
            None if request.name == EXECUTE_SCRIPT => {
                Arguments::parse(request.arguments).map(|arguments| tokio::spawn(self.clone().execute(arguments, context)))
            }
            _ => return Err(invalid(&format!("`name`: there is no tool `{}`; see tools/list", shortened(&request.name)))),
        };
        match called {
            Ok(called) => called.await.unwrap_or_else(|_| Err(failed())).map(CallToolResponse::from),
            Err(wrong) => Ok(result::of_mistake(&wrong).into()),
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        self.look(&context, 0, move |io, is_wanted| resources::list(&io.files, cursor.as_deref(), is_wanted)).await?
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        if self.tenant.io.is_some() { Ok(ListResourceTemplatesResult::default()) } else { Err(method_not_found()) }
    }

    // What is not offered is not there: the library would answer with nothing.

    async fn list_prompts(&self, _: Option<PaginatedRequestParams>, _: RequestContext<RoleServer>) -> Result<ListPromptsResult, ErrorData> {
        Err(method_not_found())
    }

    async fn get_prompt(&self, _: GetPromptRequestParams, _: RequestContext<RoleServer>) -> Result<GetPromptResponse, ErrorData> {
        Err(method_not_found())
    }

    async fn complete(&self, _: CompleteRequestParams, _: RequestContext<RoleServer>) -> Result<CompleteResult, ErrorData> {
        Err(method_not_found())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.look(&context, 0, move |io, _| resources::read(&io.files, &request.uri)).await?.map(ReadResourceResponse::from)
    }

    async fn subscribe(&self, request: SubscribeRequestParams, context: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        if self.tenant.io.is_none() || !has_session(&context) {
            return Err(method_not_found());
        }
        self.session.subscriptions.add(&request.uri)
    }

    async fn unsubscribe(&self, request: UnsubscribeRequestParams, context: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        if self.tenant.io.is_none() || !has_session(&context) {
            return Err(method_not_found());
        }
        self.session.subscriptions.remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.tenant.io.is_some().then(|| Changes::granted(requested))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.tenant.changes.listen(context, &self.tenant.settings.draining).await
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        if self.tenant.io.is_some() && !self.session.follows.swap(true, Ordering::Relaxed) {
            let (subscriptions, gone) = (Arc::clone(&self.session.subscriptions), self.session.gone.clone());
            self.tenant.changes.follow(subscriptions, context.peer, gone);
        }
    }

    async fn set_level(&self, request: SetLevelRequestParams, context: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        if !has_session(&context) {
            return Err(method_not_found());
        }
        *self.session.level.lock().unwrap_or_else(PoisonError::into_inner) = Some(request.level);
        Ok(())
    }

    /// A known method comes here when its parameters have another shape than the protocol's.
    async fn on_custom_request(&self, request: CustomRequest, context: RequestContext<RoleServer>) -> Result<CustomResult, ErrorData> {
        match request.method.as_str() {
            "initialize" | "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe" if !has_session(&context) => {
                Err(method_not_found())
            }
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

/// The model mends its own mistakes; the rest is for its client.
fn not_run(reason: NotRun) -> Result<CallToolResult, ErrorData> {
    match reason {
        NotRun::Refused(refusal @ Refusal::ScriptTooLarge { .. }) => Ok(result::of_mistake(&Wrong(format!("`script`: {refusal}")))),
        NotRun::Refused(Refusal::Limit(limit)) => Ok(result::of_mistake(&Wrong(format!("`timeout_ms`: {limit}")))),
        NotRun::Failed(_) => Err(failed()),
        busy => Err(ErrorData::new(BUSY, busy.to_string(), None)),
    }
}

fn failed() -> ErrorData {
    ErrorData::internal_error("the server failed; the cause is in its log", None)
}
