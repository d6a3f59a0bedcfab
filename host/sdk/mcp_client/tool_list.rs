//! The tool list of a server.

use super::{
    connect::Failure,
    http_client::undecoded_reason,
    oversized_messages::TOO_LARGE,
    tool::{UpstreamTool, is_read_only},
};
use crate::sdk::{
    docs,
    filter::FunctionFilter,
    frozen_params::FrozenParams,
    names::{DistinctNames, snake_case},
};
use rmcp::{
    RoleClient,
    model::{ClientRequest, CustomResult, ListToolsRequest, PaginatedRequestParams, ServerResult, Tool},
    service::{Peer, ServiceError},
};
use serde_json::Value;
use std::sync::Arc;

/// The number of tools of one server. Further ones are ignored.
const MAX_TOOLS: usize = 10_000;

/// The number of invalid tools of one server that are reported.
const MAX_SKIPPED: usize = 100;

/// The size of the tool list of one server in bytes.
const MAX_TOOL_LIST_BYTES: usize = 16 << 20;

/// The tools of a server, from the last time that it listed them.
#[derive(Default)]
pub struct ToolList {
    /// The title or name of the server.
    pub title: String,
    /// Sorted by name.
    pub tools: Vec<Arc<UpstreamTool>>,
    /// A line for each tool that did not get its preferred name.
    pub clashes: Vec<String>,
    /// A line for each tool that is not offered, because its definition is invalid.
    pub skipped: Vec<String>,
}

impl ToolList {
    /// Asks the server for its tools, and keeps those that the filter allows.
    pub async fn fetch(
        peer: &Peer<RoleClient>,
        filter: &FunctionFilter,
        frozen: &FrozenParams,
        decodes_text: bool,
    ) -> Result<Self, Failure> {
        let info = peer.peer_info().and_then(|info| info.server_info.clone());
        let title = info.map(|info| info.title.unwrap_or(info.name)).unwrap_or_default();
        let mut names = DistinctNames::default();
        let mut tools = Vec::new();
        let ListedTools { tools: listed, skipped } = list_tools(peer).await?;
        for tool in listed.iter().take(MAX_TOOLS) {
            let name = names.assign(snake_case(&tool.name), &tool.name);
            if filter.allows(&[name.as_str(), &tool.name], is_read_only(tool)) {
                tools.push(Arc::new(UpstreamTool::new(name, tool, frozen.clone(), decodes_text)));
            }
        }
        tools.sort_by(|first, second| first.name.cmp(&second.name));
        Ok(Self { title: docs::summary(&[&title]), tools, clashes: names.clashes, skipped })
    }
}

/// The tools that a server lists, and a line for each that has no valid definition.
#[derive(Default)]
struct ListedTools {
    tools: Vec<Tool>,
    skipped: Vec<String>,
}

/// Reads all pages of the tool list.
async fn list_tools(peer: &Peer<RoleClient>) -> Result<ListedTools, Failure> {
    let mut all = ListedTools::default();
    let mut cursor = None;
    let mut bytes: usize = 0;
    let too_large = || Failure::new("its tool list is too large", format!("more than {MAX_TOOL_LIST_BYTES} bytes"));
    while all.tools.len() < MAX_TOOLS {
        let request = ListToolsRequest::with_param(PaginatedRequestParams::default().with_cursor(cursor));
        let page = match peer.send_request(ClientRequest::ListToolsRequest(request)).await {
            Ok(ServerResult::ListToolsResult(page)) => Page { tools: page.tools, skipped: Vec::new(), next_cursor: page.next_cursor },
            Ok(ServerResult::CustomResult(CustomResult(page))) => Page::read(page)?,
            Ok(_) => return Err(Failure::new("it does not list its tools", "the response is not a list of tools")),
            Err(ServiceError::McpError(error)) if error.code == TOO_LARGE => return Err(too_large()),
            Err(ServiceError::McpError(error)) if let Some(reason) = undecoded_reason(&error) => return Err(Failure::new(reason, error)),
            // A server without tools may not implement the method.
            Err(ServiceError::McpError(_)) => break,
            Err(error) => return Err(Failure::new("it does not list its tools", error)),
        };
        let size = |tool: &Tool| serde_json::to_string(tool).map_or(usize::MAX, |text| text.len());
        bytes = page.tools.iter().map(size).fold(bytes, usize::saturating_add);
        if bytes > MAX_TOOL_LIST_BYTES {
            return Err(too_large());
        }
        all.tools.extend(page.tools);
        all.skipped.extend(page.skipped);
        all.skipped.truncate(MAX_SKIPPED);
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    Ok(all)
}

/// A page of the tool list.
struct Page {
    tools: Vec<Tool>,
    skipped: Vec<String>,
    next_cursor: Option<String>,
}

impl Page {
    /// Reads a page with at least one invalid tool. The others are used.
    fn read(mut page: Value) -> Result<Self, Failure> {
        let next_cursor = page.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
        let Some(Value::Array(definitions)) = page.get_mut("tools").map(Value::take) else {
            return Err(Failure::new("it does not list its tools", "the response is not a list of tools"));
        };
        let (mut tools, mut skipped) = (Vec::new(), Vec::new());
        for definition in definitions {
            let name = definition.get("name").and_then(Value::as_str).map(|name| format!("'{}'", docs::summary(&[name])));
            match serde_json::from_value(definition) {
                Ok(tool) => tools.push(tool),
                Err(error) => skipped.push(format!("the tool {} is skipped: {error}", name.as_deref().unwrap_or("without a name"))),
            }
        }
        Ok(Self { tools, skipped, next_cursor })
    }
}
