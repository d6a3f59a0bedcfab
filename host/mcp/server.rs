//! What the server answers, whatever the transport.

#![expect(deprecated, reason = "rmcp marks logging and subscriptions so, as the newest revision does; clients use them")]

use super::{
    arguments::{invalid, shortened},
    calls::{busy, failed},
    changes::{Changes, Subscriptions},
    docs, resources, result,
    tenant::Tenant,
    tools::{
        Answer, DocsTool, FileTool,
        script::{Arguments, EXECUTE_SCRIPT},
    },
};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest, CustomResult, ErrorCode,
        GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
        ListToolsResult, LoggingLevel, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
        ServerCapabilities, ServerConfig, SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool,
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

/// The revisions that clients use, with and without a handshake.
const REVISIONS: &[ProtocolVersion] = &[ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2025_11_25, ProtocolVersion::V_2026_07_28];

/// The server of one connection, session or request; cloning is cheap.
#[derive(Clone)]
pub struct Server {
    pub(super) tenant: Arc<Tenant>,
    pub(super) session: Arc<Session>,
}

/// What a client of the older revisions' kind has set.
pub(super) struct Session {
    level: Mutex<Option<LoggingLevel>>,
    pub(super) subscriptions: Arc<Subscriptions>,
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

    /// The least serious level that the client wants to hear: of this request, or as it once said.
    pub(super) fn level(&self, context: &RequestContext<RoleServer>) -> Option<LoggingLevel> {
        if !has_session(context) {
            return context.meta.log_level();
        }
        *self.session.level.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_logging();
        let capabilities = match (&self.tenant.io, &self.tenant.settings.sdk) {
            (Some(_), _) => capabilities.enable_resources().enable_resources_list_changed().enable_resources_subscribe().build(),
            (None, Some(_)) => capabilities.enable_resources().build(),
            (None, None) => capabilities.build(),
        };
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("toolscript", env!("CARGO_PKG_VERSION")).with_title("toolscript"))
            .with_instructions(
                "Runs Luau scripts in a sandbox: compute, transform data and work on files in one call of execute_script. Where there are \
                 file tools, they work on the same files. Where there is search_docs, scripts call APIs as functions of sdk.",
            )
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(REVISIONS)
    }

    async fn list_tools(&self, _: Option<PaginatedRequestParams>, _: RequestContext<RoleServer>) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tenant.tools().to_vec()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tenant.tools().iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(&self, request: CallToolRequestParams, context: RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
        if let (Some(tool), Some(sdk)) = (DocsTool::find(&request.name), &self.tenant.settings.sdk) {
            self.tenant.check_pace().map_err(busy)?;
            let answer = tool.answer(sdk, request.arguments);
            return Ok(answer.map_or_else(|wrong| result::of_mistake(&wrong), Answer::into_result).into());
        }
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
        let mut first = match &self.tenant.settings.sdk {
            Some(sdk) if cursor.is_none() => docs::list(sdk),
            _ => Vec::new(),
        };
        if self.tenant.io.is_none() && !first.is_empty() {
            return Ok(ListResourcesResult::with_all_items(first));
        }
        let listed = self.look(&context, 0, move |io, is_wanted| resources::list(&io.files, cursor.as_deref(), is_wanted));
        let mut listed = listed.await??;
        first.append(&mut listed.resources);
        listed.resources = first;
        Ok(listed)
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        match (&self.tenant.io, &self.tenant.settings.sdk) {
            (_, Some(_)) => Ok(ListResourceTemplatesResult::with_all_items(vec![docs::template()])),
            (Some(_), None) => Ok(ListResourceTemplatesResult::default()),
            (None, None) => Err(method_not_found()),
        }
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
        if let Some(sdk) = &self.tenant.settings.sdk
            && request.uri.starts_with(docs::SCHEME)
        {
            self.tenant.check_pace().map_err(busy)?;
            return docs::read(sdk, &request.uri).map(ReadResourceResponse::from);
        }
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
pub fn has_session(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_none_or(|version| version.has_initialize())
}

pub fn method_not_found() -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "Method not found", None)
}
