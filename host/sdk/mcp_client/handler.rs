//! The client side of an MCP connection. It only calls tools, and offers nothing to the server.

use rmcp::{
    ClientHandler, RoleClient,
    model::{ClientCapabilities, ClientConfig, Implementation},
    service::NotificationContext,
};
use std::sync::Arc;
use tokio::sync::Notify;

/// Receives notifications of a server.
#[derive(Clone, Default)]
pub struct Handler {
    /// Notified when the tools of the server have changed.
    pub tools_changed: Arc<Notify>,
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(ClientCapabilities::default(), Implementation::new("toolscript", env!("CARGO_PKG_VERSION")))
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.tools_changed.notify_one();
    }
}
