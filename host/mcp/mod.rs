//! The MCP server: runs scripts for models over stdio or HTTP.
//!
//! It offers the tool `execute_script`. With an io directory, it also offers tools and resources for the files. With an `sdk`, it also
//! offers tools and resources for the documentation of the functions.
//!
//! Everything that a client sends is checked before it is used. Results for models contain nothing about the host. Statistics are in
//! `_meta`, which no model reads.
//!
//! # Mounting the server in an axum router
//!
//! ```
//! use axum::{Router, routing::get};
//! use toolscript::{
//!     Engine,
//!     mcp::{HttpOptions, McpServer},
//! };
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = McpServer::builder(Engine::new()?).build();
//! let router = Router::new().route("/", get(|| async { "my service" })).merge(server.router(&HttpOptions::default())?);
//!
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
//! let url = format!("http://{}/mcp", listener.local_addr()?);
//! tokio::spawn(async move { axum::serve(listener, router).await });
//!
//! let request = serde_json::json!({
//!     "jsonrpc": "2.0",
//!     "id": 1,
//!     "method": "tools/call",
//!     "params": {
//!         "name": "execute_script",
//!         "arguments": { "script": "return 6 * 7" },
//!         "_meta": {
//!             "io.modelcontextprotocol/protocolVersion": "2026-07-28",
//!             "io.modelcontextprotocol/clientCapabilities": {},
//!         },
//!     },
//! });
//! let response = reqwest::Client::new()
//!     .post(url)
//!     .header("content-type", "application/json")
//!     .header("accept", "application/json, text/event-stream")
//!     .header("mcp-protocol-version", "2026-07-28")
//!     .header("mcp-method", "tools/call")
//!     .header("mcp-name", "execute_script")
//!     .body(request.to_string())
//!     .send()
//!     .await?;
//! let response: serde_json::Value = serde_json::from_str(&response.text().await?)?;
//! assert_eq!(response["result"]["structuredContent"]["result"], 42);
//! # Ok(())
//! # }
//! ```
//!
//! [`McpServer::serve_http`] serves a listener with limits on connections instead, and [`McpServer::serve_stdio`] serves one client over
//! standard input and output.
//!
//! # Tenants
//!
//! With [`AuthOptions`], clients need a bearer token. Each subject is a tenant with a directory, a run quota, a rate limit and a disk
//! quota of its own; see [`TenantLimits`]. Without authentication, all clients are one tenant.

mod arguments;
mod auth;
mod client_session;
mod docs_resources;
mod error;
mod file_job;
mod file_resources;
mod handler;
mod http;
mod large_output;
mod large_response;
mod metrics;
mod prompts;
mod request;
mod response_limit;
mod response_size;
mod run_notifications;
mod schema;
mod script_result;
mod server;
mod session_notifications;
mod state;
mod stdio;
mod subscriptions;
mod tenant;
mod tenant_limits;
mod tools;
mod unused_memory;
mod urls;

pub use auth::{AuthOptions, AuthOptionsError};
#[cfg(feature = "fuzzing")]
pub(crate) use auth::{AuthSettings, Authenticator};
pub use error::ServeError;
pub use http::{HttpOptions, HttpOptionsError};
pub use server::{McpServer, McpServerBuilder};
pub use tenant_limits::TenantLimits;
pub use tools::script_description::script_description;
