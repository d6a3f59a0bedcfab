//! The integration tests: one binary, a module a theme. Scripts are files in `scripts/`.

mod cancellation;
mod cli;
mod fixtures;
mod globals;
mod isolation;
mod limits;
mod stopped;
mod support;
