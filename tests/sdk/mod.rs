//! Tests of functions from OpenAPI specifications and upstream MCP servers.

#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod compatibility;
#[cfg(target_os = "linux")]
mod constraints;
#[cfg(target_os = "linux")]
mod docs;
#[cfg(target_os = "linux")]
mod docs_size;
#[cfg(target_os = "linux")]
mod egress;
#[cfg(target_os = "linux")]
mod faulty_servers;
#[cfg(target_os = "linux")]
mod hostile_scripts;
#[cfg(target_os = "linux")]
mod large_integers;
#[cfg(target_os = "linux")]
mod library;
#[cfg(target_os = "linux")]
mod mcp_servers;
#[cfg(target_os = "linux")]
mod relevance;
#[cfg(target_os = "linux")]
mod requests;
