//! Tests of the io directory: attacks, quotas, whole-file writes, and a comparison with native files.

#[cfg(target_os = "linux")]
mod atomic_writes;
#[cfg(target_os = "linux")]
mod hostile_operations;
#[cfg(target_os = "linux")]
mod hostile_scripts;
mod model;
#[cfg(target_os = "linux")]
mod quotas;
