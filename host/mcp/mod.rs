//! The MCP server: one tool, `execute_script`, and the files of the io dir as resources.
//!
//! What a client sends is checked before it is used, and what a model reads holds nothing of the host's. Statistics are in
//! `_meta`, which no model reads.

mod arguments;
mod changes;
mod description;
mod notices;
mod resources;
mod result;
mod server;
mod stdio;

pub use server::{Server, Settings};
pub use stdio::serve_stdio;
