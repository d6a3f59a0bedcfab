//! Calls of tools of upstream MCP servers.

use crate::support::{
    api_server::{directory_with, message, outcome, result, run, toolscript},
    http_server::HttpServer,
    server_process::TIMEOUT,
    upstream_server::{self, HttpUpstream, directory, program, running_processes},
    wire::{Wire, call},
};
use serde_json::{Value, json};
use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};
use tempfile::TempDir;

fn wait_for_file(path: &Path) {
    let started = Instant::now();
    while !path.exists() {
        assert!(started.elapsed() < TIMEOUT, "{} does not exist", path.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Checks the result of each kind of tool, for any transport.
fn check_results(directory: &TempDir) {
    let call = |script: &str| result(directory, script);
    assert_eq!(call("return sdk.up.add{ a = 1, b = 2 }"), json!({ "sum": 3 }));
    assert_eq!(call("return sdk.add{ a = 1, b = 2 }.sum"), json!(3));
    assert_eq!(
        call("return sdk.up.say_it{ text = 'hellö' }, sdk.up.say_it_2{}, sdk.up.say_it()"),
        json!(["hellö", "the other one", "nothing"])
    );
    assert_eq!(call("return sdk.up.picture()"), json!({ "type": "image", "data": "\0\u{1}\u{2}", "mime_type": "image/png" }));
    assert_eq!(call("return sdk.up.several()"), json!(["one", { "type": "resource_link", "uri": "https://example.com/a", "name": "a" }]));
    let bytes = "sdk.up.say_it{ text = { 'a', '\\255' } }";
    let advice = "the bytes are not UTF-8; pass base64.encode(bytes) if the function expects base64";
    assert_eq!(message(directory, bytes), format!("script:1: up.say_it: arguments.text[2]: {advice}"));
    assert_eq!(
        call("local all = sdk.all{ { sdk.up.add, { a = 1, b = 1 } }, { sdk.say_it, { text = 'x' } } } return all[1].sum, all[2]"),
        json!([2, "x"])
    );
    assert_eq!(message(directory, "sdk.up.fail()"), "script:1: up.fail: it does not work\\nat all");
    assert_eq!(message(directory, "sdk.up.reject()"), "script:1: up.reject: not like this");
    assert_eq!(message(directory, "sdk.up.add{ a = 1 }"), "script:1: up.add: arguments: \"b\" is a required property");
    assert_eq!(message(directory, "sdk.up.add{ a = 1, b = 'x' }"), "script:1: up.add: arguments.b: \"x\" is not of type \"number\"");
    assert_eq!(message(directory, "sdk.up.add(1)"), "script:1: up.add: arguments: 1 is not of type \"object\"");
    assert_eq!(message(directory, "sdk.up.add({}, {})"), "script:1: up.add: the function takes one argument, a table");
}

#[test]
fn scripts_call_tools_of_a_program() {
    let directory = directory("");
    check_results(&directory);
    // The program gets the variables of its options and a few that every program needs.
    let environment = result(&directory, "return sdk.up.environment()");
    assert_eq!(environment["given"], "given");
    let names: Vec<&str> = environment["names"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    assert!(names.contains(&"PATH") && !names.contains(&"CANARY") && !names.iter().any(|name| name.starts_with("CARGO")), "{names:?}");
    let inherits = upstream_server::directory("inherit_env = [\"CANARY\"]\n");
    let names = result(&inherits, "return sdk.up.environment().names");
    assert!(names.as_array().is_some_and(|names| names.contains(&json!("CANARY"))), "{names}");
}

#[test]
fn scripts_call_tools_over_http() {
    let markers = TempDir::new().expect("a directory");
    let server = HttpUpstream::start(markers.path());
    check_results(&server.directory(""));
}

#[test]
fn scripts_call_tools_of_toolscript_itself() {
    let directory = directory_with("");
    let inner = format!("inner={} serve --no-io", env!("CARGO_BIN_EXE_toolscript"));
    let script = "return sdk.inner.execute_script{ script = 'return 6 * 7' }.result";
    let output = toolscript(directory.path(), &["run", "--json", "--mcp", &inner, "-e", script]).output().expect("toolscript runs");
    assert_eq!(outcome(&output)["result"], 42, "{output:?}");
}

#[test]
fn name_clashes_and_servers_that_are_down_are_reported_and_the_others_work() {
    let directory = directory("[mcp_servers.gone]\ncommand = \"no-such-program-anywhere\"\n[mcp_servers.mute]\ncommand = \"true\"\n");
    let script = "local ok, why = pcall(function() return sdk.gone.tool end) return sdk.up.add{ a = 1, b = 1 }.sum, why, (select(2, pcall(function() return sdk.mute end)))";
    let output = toolscript(directory.path(), &["run", "--json", "-e", script]).output().expect("toolscript runs");
    let results = outcome(&output)["result"].clone();
    assert_eq!(results[0], 2);
    assert_eq!(results[1], "script:1: 'gone' is not available: the MCP server 'gone' is down: it can't be started");
    assert_eq!(results[2], "script:1: 'mute' is not available: the MCP server 'mute' is down: it exited before it responded");
    let notes = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        notes.contains("note: the MCP server 'gone' is down: it can't be started (no-such-program-anywhere: No such file or directory"),
        "{notes}"
    );
    assert!(notes.contains("note: the MCP server 'up': say-it is named say_it_2, because sayIt is already named say_it\n"), "{notes}");
}

#[test]
fn a_call_ends_with_the_timeout_of_the_script_and_is_cancelled_upstream() {
    let directory = directory("");
    let mut wire = Wire::start(directory.path(), &[]);
    let mut params = call("print('before') sdk.up.wait()");
    params["arguments"]["timeout_ms"] = json!(1000);
    let response = wire.ask("tools/call", params);
    let outcome = &response["result"]["structuredContent"];
    assert_eq!((&outcome["error"]["kind"], &outcome["logs"]), (&json!("timeout"), &json!(["before"])), "{response}");
    wait_for_file(&directory.path().join("cancelled"));
    // The connection still works.
    assert_eq!(wire.run("return sdk.up.add{ a = 2, b = 2 }.sum")["structuredContent"]["result"], 4);
}

#[test]
fn a_server_that_exits_is_restarted() {
    let directory = directory("");
    let mut wire = Wire::start(directory.path(), &[]);
    // A call of a read-only tool is repeated.
    let outcome = wire.run("return sdk.up.crash_once()")["structuredContent"].clone();
    assert_eq!(outcome["result"], "this time it is fine", "{outcome}");
    // A call of another tool is not repeated, because it may have been executed.
    let outcome = wire.run("sdk.up.crash()")["structuredContent"].clone();
    assert_eq!(outcome["error"]["message"], "script:1: up.crash: the connection to the server was lost; the call may have been executed");
    // The server exited twice in a short time, so there is a pause before the next start. Until then calls fail.
    let started = Instant::now();
    loop {
        let outcome = wire.run("return sdk.up.add{ a = 3, b = 4 }.sum")["structuredContent"].clone();
        if outcome["result"] == 7 {
            break;
        }
        let message = outcome["error"]["message"].as_str().expect("a message").to_owned();
        assert!(message.starts_with("script:1: up.add: the server is down: the connection was lost; next attempt in "), "{message}");
        assert!(started.elapsed() < TIMEOUT, "the server is not restarted");
    }
}

#[test]
fn an_unreachable_http_server_is_reported_without_its_url() {
    let markers = TempDir::new().expect("a directory");
    let server = HttpUpstream::start(markers.path());
    let directory = server.directory("");
    let mut wire = Wire::start(directory.path(), &[]);
    assert_eq!(wire.run("return sdk.up.add{ a = 1, b = 1 }.sum")["structuredContent"]["result"], 2);
    drop(server);
    let outcome = wire.run("return sdk.up.add{ a = 1, b = 1 }.sum")["structuredContent"].clone();
    let message = outcome["error"]["message"].as_str().expect("a message").to_owned();
    assert!(
        message.starts_with("script:1: up.add: the server is down: it can't be reached: it refused the connection; next attempt in "),
        "{message}"
    );
    assert!(!message.contains("127.0.0.1"), "{message}");
}

#[test]
fn new_tools_become_functions() {
    let directory = directory("");
    let mut wire = Wire::start(directory.path(), &[]);
    assert_eq!(wire.run("return sdk.up.grow()")["structuredContent"]["result"], "there is more now");
    let started = Instant::now();
    while wire.run("return sdk.up.grown()")["structuredContent"]["result"] != "here it is" {
        assert!(started.elapsed() < TIMEOUT, "the new tool is not listed");
    }
    let tools = wire.ask("tools/list", json!({}))["result"]["tools"].clone();
    assert!(
        tools[0]["description"].as_str().is_some_and(
            |text| text.contains("sdk.up: A server upstream (add, authorization, crash, crash_once, environment, fail, grow, grown, ")
        ),
        "{tools}"
    );
}

#[test]
fn filters_select_the_tools_of_a_server() {
    let filtered = directory("allow = [\"say_*\", \"add\"]\ndeny = [\"say_it_2\"]\n");
    let names = "local names = {} for name in sdk.up do table.insert(names, name) end table.sort(names) return names";
    assert_eq!(result(&filtered, names), json!(["add", "say_it"]));
    assert_eq!(result(&directory("read_only = true\n"), names), json!(["crash_once"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_sent_to_its_own_server_only() {
    let markers = TempDir::new().expect("a directory");
    let upstream = HttpUpstream::start(markers.path());
    let directory = upstream.directory("auth = \"owners-token\"\n");
    let received = || fs::read_to_string(markers.path().join("authorization")).expect("a marker file");
    assert_eq!(result(&directory, "return sdk.up.authorization().received"), "Bearer [redacted]");
    assert_eq!(received(), "Bearer owners-token");
    // A client sends its own token, for one run.
    let server = HttpServer::start(directory.path(), &[]);
    let mut client = server.client();
    let mut params = call("return sdk.up.authorization().received, sdk.up.authorization().received");
    params["_meta"] = json!({ "auth": { "up": "tenants-token" } });
    let response = client.ask("tools/call", params).await.last().clone();
    assert_eq!(response["result"]["structuredContent"]["result"], json!(["Bearer [redacted]", "Bearer [redacted]"]), "{response}");
    assert_eq!(received(), "Bearer tenants-token");
    let response = client.ask("tools/call", call("return sdk.up.authorization().received")).await.last().clone();
    assert_eq!(response["result"]["structuredContent"]["result"], "Bearer [redacted]", "{response}");
    assert_eq!(received(), "Bearer owners-token");
}

#[test]
fn credentials_for_a_program_or_an_unknown_server_are_rejected() {
    let directory = directory("");
    let mut wire = Wire::start(directory.path(), &[]);
    for (auth, message) in [
        (json!({ "up": "token" }), "Invalid params: `_meta.auth`: the MCP server 'up' is a local program and takes no credential"),
        (json!({ "down": "token" }), "Invalid params: `_meta.auth`: there is no API or MCP server 'down'"),
        (json!("token"), "Invalid params: `_meta.auth`: it must be an object with a credential for each API"),
    ] {
        let mut params = call("return 1");
        params["_meta"] = json!({ "auth": auth });
        assert_eq!(wire.ask("tools/call", params)["error"]["message"], message);
    }
}

#[test]
fn no_process_is_left_running() {
    let directory = directory("");
    fs::write(directory.path().join("hold.luau"), "sdk.up.wait()").expect("a script");
    let running = || running_processes(directory.path());
    let mut child = toolscript(directory.path(), &["run", "hold.luau"]).spawn().expect("toolscript starts");
    wait_for_file(&directory.path().join("waiting"));
    assert_eq!(running(), 1, "{} is running", program().display());
    child.kill().expect("killed");
    child.wait().expect("an end");
    let started = Instant::now();
    while running() > 0 {
        assert!(started.elapsed() < TIMEOUT, "the process does not exit");
        std::thread::sleep(Duration::from_millis(10));
    }
    let outcome = run(&directory, "return sdk.up.add{ a = 1, b = 1 }.sum");
    assert_eq!(outcome["result"], 2);
    assert_eq!(running(), 0);
}
