//! Fuzz targets for libFuzzer. The environment variable `FUZZ_TARGET` selects one. `fuzz/run` builds and runs them.
//!
//! A target reads bytes, calls toolscript with them and checks invariants. A panic anywhere in the process is a finding, even where the
//! program would catch it.

#![no_main]
#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "targets prepare and check files outside of the io directory")]

#[path = "targets/bridge.rs"]
mod bridge;
#[path = "targets/config.rs"]
mod config;
mod input;
#[path = "targets/json.rs"]
mod json;
#[path = "targets/jwt.rs"]
mod jwt;
#[path = "targets/mcp.rs"]
mod mcp;
#[path = "targets/openapi.rs"]
mod openapi;
#[path = "targets/paths.rs"]
mod paths;
mod runtime;
#[path = "targets/scripts.rs"]
mod scripts;
#[path = "targets/sse.rs"]
mod sse;
#[path = "targets/upstream.rs"]
mod upstream;

use std::sync::LazyLock;

/// A target: panics if the input violates an invariant.
type Target = fn(&[u8]);

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    match name.as_str() {
        "bridge" => bridge::run,
        "config" => config::run,
        "json" => json::run,
        "jwt" => jwt::run,
        "mcp" => mcp::run,
        "openapi" => openapi::run,
        "paths" => paths::run,
        "scripts" => scripts::run,
        "sse" => sse::run,
        "upstream" => upstream::run,
        _ => panic!("FUZZ_TARGET is {name:?}, which is no target; see fuzz/run"),
    }
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| TARGET(data));
