//! The integration tests: one binary, a module a theme. Scripts are files in `scripts/`.

#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests look at files from outside the box")]
#![expect(clippy::expect_used, clippy::panic, reason = "helpers of tests fail by panicking")]

mod cancellation;
mod cli;
mod examples;
mod file_model;
#[cfg(target_os = "linux")]
mod file_quotas;
mod fixtures;
mod globals;
#[cfg(target_os = "linux")]
mod hostile_files;
mod isolation;
mod limits;
#[cfg(unix)]
mod mcp_clients;
#[cfg(target_os = "linux")]
mod mcp_stdio;
mod numbers;
mod stopped;
mod support;
#[cfg(target_os = "linux")]
mod wire;
