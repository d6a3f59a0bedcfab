//! What this program is to another MCP server: a client that only calls tools.

use rmcp::{
    ClientHandler, RoleClient,
    model::{ClientCapabilities, ClientConfig, Implementation},
    service::NotificationContext,
};
use std::sync::Arc;
use tokio::sync::Notify;

/// A client that hears of changed tools, and has nothing to offer to the server.
#[derive(Clone, Default)]
pub struct Client {
    pub tools_changed: Arc<Notify>,
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(ClientCapabilities::default(), Implementation::new("toolscript", env!("CARGO_PKG_VERSION")))
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.tools_changed.notify_one();
    }
}
