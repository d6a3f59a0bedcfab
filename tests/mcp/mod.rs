//! Tests of the MCP server over stdio and HTTP.

#[cfg(target_os = "linux")]
mod auth;
#[cfg(target_os = "linux")]
mod clients;
#[cfg(target_os = "linux")]
mod drain;
#[cfg(target_os = "linux")]
mod execute_script;
#[cfg(target_os = "linux")]
mod file_tools;
#[cfg(target_os = "linux")]
mod hostile_http;
#[cfg(target_os = "linux")]
mod http;
#[cfg(target_os = "linux")]
mod large_output;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(target_os = "linux")]
mod mounted;
#[cfg(target_os = "linux")]
mod notifications;
#[cfg(target_os = "linux")]
mod prompts;
#[cfg(target_os = "linux")]
mod resources;
#[cfg(target_os = "linux")]
mod resumption;
#[cfg(target_os = "linux")]
mod session_notifications;
#[cfg(target_os = "linux")]
mod stdio;
#[cfg(target_os = "linux")]
mod tenants;
#[cfg(target_os = "linux")]
mod threads;
#[cfg(target_os = "linux")]
mod tool_list;
