//! Upstream MCP servers that are slow, or that send invalid or very large messages.

use crate::support::{
    api_server::{directory_with, message, outcome, result, toolscript},
    compressing_server::CompressingServer,
    outcome as outcome_of, run_with,
    upstream_server::program,
};
use serde_json::json;
use std::{
    fs,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};
use tempfile::TempDir;
use toolscript::{
    RunOptions,
    engine::Listener,
    sdk::{McpServerOptions, Note, Sdk},
};

fn raw_directory() -> TempDir {
    directory_with(&format!("[mcp_servers.up]\ncommand = {:?}\nargs = [\"--raw\"]\n", program()))
}

#[test]
fn an_invalid_tool_is_skipped_and_reported() {
    let directory = raw_directory();
    let script = "return sdk.up.early_id(), sdk.up.late_id(), (pcall(function() return sdk.up.no_schema end))";
    let output = toolscript(directory.path(), &["run", "--json", "-e", script]).output().expect("toolscript runs");
    assert_eq!(outcome(&output)["result"], json!(["x", "x", false]), "{output:?}");
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "note: the MCP server 'up': the tool 'no_schema' is skipped: missing field `inputSchema`\n\
         note: the MCP server 'up': the tool without a name is skipped: missing field `name`\n"
    );
}

#[test]
fn a_response_that_is_too_large_is_an_error_at_once() {
    let directory = raw_directory();
    let started = Instant::now();
    for tool in ["early_id", "late_id"] {
        for bytes in [9 << 20, 30 << 20] {
            let error = format!("script:1: up.{tool}: the response is too large: at most 8388608 bytes are allowed at once");
            assert_eq!(message(&directory, &format!("sdk.up.{tool}{{ bytes = {bytes} }}")), error);
        }
    }
    assert!(started.elapsed() < Duration::from_secs(60), "the calls wait for the timeout of the script");
    // The connection still works.
    let script = format!("local ok = pcall(sdk.up.early_id, {{ bytes = {} }}) return ok, sdk.up.early_id{{ bytes = 3 }}", 30 << 20);
    assert_eq!(result(&directory, &script), json!([false, "xxx"]));
}

#[test]
fn compressed_responses_over_http_are_decoded_and_bounded() {
    let server = CompressingServer::start();
    for path in ["json", "sse"] {
        let directory = server.directory(path);
        for (how, error) in [
            ("zstd", "the response has the content encoding 'zstd', which is not supported"),
            ("broken", "the server sent a response that can't be decoded"),
            // The limit counts decoded bytes.
            ("bomb", "the response is too large: at most 8388608 bytes are allowed at once"),
            ("endless", "the response is too large: at most 8388608 bytes are allowed at once"),
        ] {
            // The connection is used before and after.
            let script = format!(
                "local first = sdk.up.get{{ how = 'gzip' }}
                 local _, failed = pcall(sdk.up.get, {{ how = '{how}' }})
                 return first, tostring(failed), sdk.up.get()"
            );
            assert_eq!(result(&directory, &script), json!(["hello", format!("up.get: {error}"), "hello"]), "{path}: {how}");
        }
    }
    let directory = server.directory("zstd");
    let output = toolscript(directory.path(), &["run", "--json", "-e", "return 1"]).output().expect("toolscript runs");
    let note = "note: the MCP server 'up' is down: the response has the content encoding 'zstd', which is not supported";
    assert!(String::from_utf8_lossy(&output.stderr).starts_with(note), "{output:?}");
}

/// Lets a server start when the script prints a line.
struct StartServer(PathBuf);

impl Listener for StartServer {
    fn line(&self, _: &str) {
        fs::write(&self.0, "").expect("the file is written");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_waits_for_a_server_that_is_still_starting() {
    let directory = TempDir::new().expect("a directory");
    let go = directory.path().join("go");
    let script = format!("while [ ! -e '{}' ]; do sleep 0.05; done; exec '{}'", go.display(), program().display());
    let server = McpServerOptions::command("sh")
        .with_args(["-c".to_owned(), script])
        .with_env("MARKERS", directory.path().to_string_lossy().into_owned());
    let sdk = Arc::new(Sdk::builder().mcp_server("up", server).build().await.expect("an SDK"));
    assert_eq!(sdk.notes(), [Note::McpServerStarting { server: "up".into() }]);
    assert_eq!(sdk.notes()[0].to_string(), "the MCP server 'up' is still starting; calls of its functions wait for it");
    assert!(sdk.sources()[0].is_starting);
    let unknown = sdk.docs_for("up.add").expect_err("the tools are not known");
    assert_eq!(unknown.to_string(), "'up.add' is not available yet: the MCP server 'up' is still starting");
    let unknown = sdk.docs_for("nothing").expect_err("there is no such function");
    assert_eq!(unknown.to_string(), "there is no function 'nothing'; use sdk.search to find functions; still starting: 'up'");

    let options = || RunOptions::default().with_functions(Arc::clone(&sdk));
    let script = "local add, docs = sdk.up.add, sdk.docs('up.add') print('the server may start') return add{ a = 1, b = 2 }.sum, docs";
    let run = run_with(script, options().with_listener(Arc::new(StartServer(go)))).await;
    let docs = "the MCP server 'up' is still starting; calls of its functions wait for it";
    assert_eq!(outcome_of(&run)["result"], json!([3, docs]));
    assert!(!sdk.sources()[0].is_starting);
    let run = run_with("return (pcall(function() return sdk.up._starting end))", options()).await;
    assert_eq!(outcome_of(&run)["result"], json!(false));
}
