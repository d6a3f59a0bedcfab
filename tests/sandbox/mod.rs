//! Tests of `Sandbox`: file operations, search and command execution.

mod exec;
#[cfg(target_os = "linux")]
mod files;
#[cfg(target_os = "linux")]
mod search;
