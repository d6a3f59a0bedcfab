//! The MCP server: `execute_script`, tools for the files of the io dir, and those files as resources.
//!
//! What a client sends is checked before it is used, and what a model reads holds nothing of the host's. Statistics are in
//! `_meta`, which no model reads.

mod address;
mod arguments;
mod auth;
mod calls;
mod changes;
mod description;
mod docs;
mod http;
mod metrics;
mod notices;
mod resources;
mod result;
mod server;
mod stdio;
mod tenant;
mod tools;

pub use address::{below, check_secure};
pub use auth::{AuthSettings, Authenticator};
pub use http::{ConnectionLimits, Door, Guard, Guarded, HttpLimits, Place, Shares, Site, Tenants, serve_http};
pub use metrics::Metrics;
pub use server::Server;
pub use stdio::serve_stdio;
pub use tenant::{Allotment, Settings, Tenant};

use crate::Limits;

/// Bytes of one message, at least.
const MESSAGE: usize = 8 << 20;

/// Bytes of one message: a script of the size that is allowed, with all of its characters escaped, and what is around it.
pub fn max_message(limits: &Limits) -> usize {
    limits.script.saturating_mul(6).saturating_add(1 << 20).max(MESSAGE)
}
