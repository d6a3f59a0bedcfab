//! Tests of the command line.

mod examples;
mod files;
#[cfg(unix)]
mod protected_configuration;
mod run;
#[cfg(target_os = "linux")]
mod serve;
