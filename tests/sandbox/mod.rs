//! Tests of `Sandbox`: file operations, search and command execution.

mod backend;
#[cfg(target_os = "linux")]
mod delete;
mod environment;
mod exec;
#[cfg(target_os = "linux")]
pub mod files;
mod handle;
#[cfg(target_os = "linux")]
mod search;

use crate::support::{IoDir, engine};
use toolscript::Sandbox;

/// Returns a sandbox with the io directory of a test.
pub fn sandbox(dir: &IoDir) -> Sandbox {
    Sandbox::new(engine().clone(), dir.io.clone())
}
