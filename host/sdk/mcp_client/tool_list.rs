//! The tool list of a server.

use super::{
    connect::Failure,
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
    model::{PaginatedRequestParams, Tool},
    service::{Peer, ServiceError},
};
use std::sync::Arc;

/// The number of tools of one server. Further ones are ignored.
const MAX_TOOLS: usize = 10_000;

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
        for tool in list_tools(peer).await?.iter().take(MAX_TOOLS) {
            let name = names.assign(snake_case(&tool.name), &tool.name);
            if filter.allows(&[name.as_str(), &tool.name], is_read_only(tool)) {
                tools.push(Arc::new(UpstreamTool::new(name, tool, frozen.clone(), decodes_text)));
            }
        }
        tools.sort_by(|first, second| first.name.cmp(&second.name));
        Ok(Self { title: docs::summary(&[&title]), tools, clashes: names.clashes })
    }
}

/// Reads all pages of the tool list.
async fn list_tools(peer: &Peer<RoleClient>) -> Result<Vec<Tool>, Failure> {
    let mut tools = Vec::new();
    let mut cursor = None;
    let mut bytes: usize = 0;
    while tools.len() < MAX_TOOLS {
        let page = match peer.list_tools(Some(PaginatedRequestParams::default().with_cursor(cursor))).await {
            Ok(page) => page,
            // A server without tools may not implement the method.
            Err(ServiceError::McpError(_)) => break,
            Err(error) => return Err(Failure::new("it does not list its tools", error)),
        };
        let size = |tool: &Tool| serde_json::to_string(tool).map_or(usize::MAX, |text| text.len());
        bytes = page.tools.iter().map(size).fold(bytes, usize::saturating_add);
        if bytes > MAX_TOOL_LIST_BYTES {
            return Err(Failure::new("its tool list is too large", format!("more than {MAX_TOOL_LIST_BYTES} bytes")));
        }
        tools.extend(page.tools);
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    Ok(tools)
}
