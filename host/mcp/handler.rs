//! The MCP requests that the server answers, on any transport.

#![expect(deprecated, reason = "rmcp deprecates logging and subscriptions, as the newest protocol revision does; clients use them")]

use super::{
    arguments::{invalid_params, truncate},
    client_session::{ClientSession, has_session},
    docs_resources,
    file_job::FileJob,
    file_resources, prompts,
    request::{Request, busy, internal_error},
    tenant::Tenant,
    tools::{DocsTool, FileTool, check_script, execute_script},
};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest, CustomResult, ErrorCode,
        GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
        ListToolsResult, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
        ServerConfig, SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use serde_json::Value;
use std::{borrow::Cow, sync::Arc};

/// The supported protocol revisions, with and without `initialize`.
const PROTOCOL_VERSIONS: &[ProtocolVersion] =
    &[ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2025_11_25, ProtocolVersion::V_2026_07_28];

/// Answers the requests of one connection, session or HTTP request. Cloning is cheap.
#[derive(Clone)]
pub struct Handler {
    tenant: Arc<Tenant>,
    session: Arc<ClientSession>,
}

impl Handler {
    pub fn new(tenant: Arc<Tenant>) -> Self {
        Self::with_session(tenant, Arc::default())
    }

    pub fn with_session(tenant: Arc<Tenant>, session: Arc<ClientSession>) -> Self {
        Self { tenant, session }
    }

    fn request(&self, context: RequestContext<RoleServer>) -> Request {
        Request { tenant: Arc::clone(&self.tenant), session: Arc::clone(&self.session), context }
    }

    /// Returns an error unless clients can subscribe to single resources with this request.
    fn check_subscribable(&self, context: &RequestContext<RoleServer>) -> Result<(), ErrorData> {
        if self.tenant.io.is_some() && has_session(context) { Ok(()) } else { Err(method_not_found()) }
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_prompts().enable_logging();
        let capabilities = match (&self.tenant.io, &self.tenant.state.sdk) {
            (Some(_), _) => capabilities.enable_resources().enable_resources_list_changed().enable_resources_subscribe().build(),
            (None, Some(_)) => capabilities.enable_resources().build(),
            (None, None) => capabilities.build(),
        };
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("toolscript", env!("CARGO_PKG_VERSION")).with_title("toolscript"))
            .with_instructions(
                "Runs Luau scripts in a sandbox: compute, transform data and process files in one call of execute_script. The file tools, \
                 if present, access the same files. If search_docs is present, scripts call APIs as functions of sdk.",
            )
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(PROTOCOL_VERSIONS)
    }

    async fn list_tools(&self, _: Option<PaginatedRequestParams>, _: RequestContext<RoleServer>) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tenant.tools().to_vec()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tenant.tools().iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(&self, call: CallToolRequestParams, context: RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
        if let (Some(tool), Some(sdk)) = (DocsTool::find(&call.name), &self.tenant.state.sdk) {
            let inline = self.tenant.state.inline;
            let result = self.tenant.run_docs_job(sdk, move |sdk| tool.call(sdk, call.arguments, inline)).await.map_err(busy)?;
            return Ok(self.request(context).limit_tool_result(result).await?.into());
        }
        let request = self.request(context);
        // A separate task turns a panic into an error response.
        let task = match FileTool::find(&call.name) {
            Some(tool) if self.tenant.io.is_some() => {
                tool.prepare(call.arguments, self.tenant.state.inline).map(|job| tokio::spawn(request.call_file_tool(job)))
            }
            None if call.name == execute_script::NAME => {
                execute_script::Arguments::parse(call.arguments).map(|arguments| tokio::spawn(request.execute_script(arguments)))
            }
            None if call.name == check_script::NAME && self.tenant.state.check_tool => {
                check_script::Arguments::parse(call.arguments).map(|arguments| tokio::spawn(request.check_script(arguments)))
            }
            _ => return Err(invalid_params(&format!("`name`: unknown tool `{}`; see tools/list", truncate(&call.name)))),
        };
        match task {
            Ok(task) => {
                let mut result = task.await.unwrap_or_else(|_| Err(internal_error()))?;
                if !self.tenant.state.resource_links {
                    result.content.retain(|block| block.as_resource_link().is_none());
                }
                Ok(result.into())
            }
            Err(invalid) => Ok(invalid.into_result().into()),
        }
    }

    async fn list_resources(
        &self,
        params: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = params.and_then(|params| params.cursor);
        let sdk = self.tenant.state.sdk.clone().filter(|_| cursor.is_none());
        if let (None, Some(sdk)) = (&self.tenant.io, &sdk) {
            let resources = self.tenant.run_docs_job(sdk, docs_resources::list).await.map_err(busy)?;
            if !resources.is_empty() {
                return Ok(ListResourcesResult::with_all_items(resources));
            }
        }
        let job = FileJob::new(0, move |io, is_wanted| {
            let mut page = file_resources::list(&io.files, cursor.as_deref(), is_wanted)?;
            let mut resources = sdk.as_deref().map(docs_resources::list).unwrap_or_default();
            resources.append(&mut page.resources);
            page.resources = resources;
            Ok(page)
        });
        self.request(context).run_file_job(job).await?
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        match (&self.tenant.io, &self.tenant.state.sdk) {
            (_, Some(_)) => Ok(ListResourceTemplatesResult::with_all_items(vec![docs_resources::template()])),
            (Some(_), None) => Ok(ListResourceTemplatesResult::default()),
            (None, None) => Err(method_not_found()),
        }
    }

    async fn list_prompts(&self, _: Option<PaginatedRequestParams>, _: RequestContext<RoleServer>) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::list()))
    }

    async fn get_prompt(&self, params: GetPromptRequestParams, _: RequestContext<RoleServer>) -> Result<GetPromptResponse, ErrorData> {
        prompts::get(&params.name).map(GetPromptResponse::from)
    }

    // Completions are not supported. Without this method, rmcp would answer with empty lists.

    async fn complete(&self, _: CompleteRequestParams, _: RequestContext<RoleServer>) -> Result<CompleteResult, ErrorData> {
        Err(method_not_found())
    }

    async fn read_resource(
        &self,
        params: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if let Some(sdk) = &self.tenant.state.sdk
            && params.uri.starts_with(docs_resources::SCHEME)
        {
            let read = self.tenant.run_docs_job(sdk, move |sdk| docs_resources::read(sdk, &params.uri)).await.map_err(busy)?;
            return self.request(context).limit_resource(read?).await.map(ReadResourceResponse::from);
        }
        let job = FileJob::new(0, move |io, _| file_resources::read(&io.files, &params.uri));
        let request = self.request(context);
        let read = request.run_file_job(job).await??;
        request.limit_resource(read).await.map(ReadResourceResponse::from)
    }

    async fn subscribe(&self, params: SubscribeRequestParams, context: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.check_subscribable(&context)?;
        self.session.subscriptions.add(&params.uri)
    }

    async fn unsubscribe(&self, params: UnsubscribeRequestParams, context: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.check_subscribable(&context)?;
        self.session.subscriptions.remove(&params.uri);
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.tenant.io.is_some().then(|| self.tenant.file_changes.accept(requested))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.tenant.check_rate_limit().map_err(busy)?;
        self.tenant.file_changes.listen(context, &self.tenant.state.drain).await
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.session.follow_changes(&self.tenant, context.peer);
    }

    async fn set_level(&self, params: SetLevelRequestParams, context: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        if !has_session(&context) {
            return Err(method_not_found());
        }
        self.session.set_level(params.level);
        Ok(())
    }

    /// Answers unknown methods, and known methods with malformed parameters.
    async fn on_custom_request(&self, request: CustomRequest, context: RequestContext<RoleServer>) -> Result<CustomResult, ErrorData> {
        match request.method.as_str() {
            "initialize" | "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe" if !has_session(&context) => {
                Err(method_not_found())
            }
            "tools/call" => Err(invalid_params(malformed_call(request.params.as_ref()))),
            "resources/read" | "resources/subscribe" | "resources/unsubscribe" => Err(invalid_params("`uri` must be a string")),
            "logging/setLevel" => Err(invalid_params("`level` must be a log level of the protocol")),
            "prompts/get" => Err(invalid_params("`name` must be a string and `arguments` an object of strings")),
            "tools/list" | "prompts/list" | "resources/list" => Err(invalid_params("`cursor` must be a string")),
            "initialize" => Err(invalid_params("`protocolVersion`, `capabilities` and `clientInfo` are required")),
            _ => Err(method_not_found()),
        }
    }
}

/// Returns what is wrong with the parameters of a `tools/call` request.
fn malformed_call(params: Option<&Value>) -> &'static str {
    let field = |name| params.and_then(|params| params.get(name));
    if !field("name").is_some_and(Value::is_string) {
        "`params.name` must be a string, the name of a tool"
    } else if field("arguments").is_some_and(|arguments| !arguments.is_object()) {
        "`params.arguments` must be an object"
    } else {
        "`params` has a field of the wrong type; it takes `name`, `arguments` and `_meta`"
    }
}

pub fn method_not_found() -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "Method not found", None)
}
