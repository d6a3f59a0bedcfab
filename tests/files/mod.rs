//! Tests of the io directory: attacks, quotas, whole-file writes, failing disks, and a comparison with native files.

#[cfg(target_os = "linux")]
mod atomic_writes;
#[cfg(target_os = "linux")]
mod attributes;
#[cfg(target_os = "linux")]
mod disk_failures;
#[cfg(target_os = "linux")]
mod fault_injection;
#[cfg(target_os = "linux")]
mod hostile_operations;
#[cfg(target_os = "linux")]
mod hostile_scripts;
#[cfg(target_os = "linux")]
mod large_files;
mod model;
#[cfg(target_os = "linux")]
mod protected_names;
#[cfg(target_os = "linux")]
mod quotas;
#[cfg(target_os = "linux")]
mod stopped_scripts;

/// Returns the name of a test for the arguments of this test binary. `module` is the `module_path!()` of the test.
#[cfg(target_os = "linux")]
fn test_name(module: &str, test: &str) -> String {
    let (_, module) = module.split_once("::").expect("the module is not the crate root");
    format!("{module}::{test}")
}
