//! The integration tests, one binary with a module per area. Script fixtures are files in `scripts/`.

#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests access files from outside the sandbox")]
#![expect(clippy::expect_used, clippy::panic, reason = "test helpers fail by panicking")]

mod check;
mod cli;
mod embedding;
mod engine;
mod files;
mod first_try;
mod mcp;
mod sandbox;
mod sdk;
mod support;
