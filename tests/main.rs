//! The integration tests: one binary, a module a theme. Scripts are files in `scripts/`.

#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests look at files from outside the box")]
#![expect(clippy::expect_used, clippy::panic, reason = "helpers of tests fail by panicking")]

#[cfg(target_os = "linux")]
mod api_server;
#[cfg(target_os = "linux")]
mod atomic_writes;
mod cancellation;
mod cli;
mod component;
mod examples;
mod file_model;
#[cfg(target_os = "linux")]
mod file_quotas;
mod files_command;
mod fixtures;
mod functions;
mod globals;
#[cfg(target_os = "linux")]
mod hostile_files;
#[cfg(target_os = "linux")]
mod hostile_operations;
#[cfg(target_os = "linux")]
mod http_server;
mod isolation;
#[cfg(target_os = "linux")]
mod key_server;
mod limits;
#[cfg(target_os = "linux")]
mod links;
#[cfg(target_os = "linux")]
mod mcp_auth;
#[cfg(target_os = "linux")]
mod mcp_clients;
#[cfg(target_os = "linux")]
mod mcp_drain;
#[cfg(target_os = "linux")]
mod mcp_files;
#[cfg(target_os = "linux")]
mod mcp_http;
#[cfg(target_os = "linux")]
mod mcp_http_hostile;
#[cfg(target_os = "linux")]
mod mcp_stdio;
#[cfg(target_os = "linux")]
mod mcp_tenants;
mod numbers;
#[cfg(unix)]
mod protected_configuration;
mod sandbox_exec;
#[cfg(target_os = "linux")]
mod sandbox_files;
#[cfg(target_os = "linux")]
mod sandbox_search;
#[cfg(target_os = "linux")]
mod sdk_calls;
#[cfg(target_os = "linux")]
mod sdk_docs;
#[cfg(target_os = "linux")]
mod sdk_egress;
#[cfg(target_os = "linux")]
mod sdk_hostile;
#[cfg(target_os = "linux")]
mod sdk_requests;
#[cfg(target_os = "linux")]
mod sdk_servers;
#[cfg(target_os = "linux")]
mod serve_options;
mod stopped;
mod support;
#[cfg(target_os = "linux")]
mod upstream_server;
#[cfg(target_os = "linux")]
mod wire;
