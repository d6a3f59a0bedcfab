//! Tools of other MCP servers as functions of scripts.

use crate::{
    support::api_server::{folder_with, message, outcome, result, run, toolscript},
    support::http_server::HttpServer,
    support::upstream_server::{HttpUpstream, folder, program},
    support::wire::{Wire, call},
};
use serde_json::{Value, json};
use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// Long enough for a machine that is busy with other tests.
const PATIENCE: Duration = Duration::from_secs(60);

fn wait_for(path: &Path) {
    let started = Instant::now();
    while !path.exists() {
        assert!(started.elapsed() < PATIENCE, "{} does not come", path.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// What scripts make of each kind of answer, wherever the server is.
fn check_answers(folder: &TempDir) {
    let outcome = |script: &str| result(folder, script);
    assert_eq!(outcome("return sdk.up.add{ a = 1, b = 2 }"), json!({ "sum": 3 }));
    assert_eq!(outcome("return sdk.add{ a = 1, b = 2 }.sum"), json!(3));
    assert_eq!(
        outcome("return sdk.up.say_it{ text = 'hellö' }, sdk.up.say_it_2{}, sdk.up.say_it()"),
        json!(["hellö", "the other one", "nothing"])
    );
    assert_eq!(outcome("return sdk.up.snapshot()"), json!({ "type": "image", "data": "AAEC", "mimeType": "image/png" }));
    assert_eq!(
        outcome("return sdk.up.several()"),
        json!(["one", { "type": "resource_link", "uri": "https://example.com/a", "name": "a" }])
    );
    assert_eq!(
        outcome("local all = sdk.all{ { sdk.up.add, { a = 1, b = 1 } }, { sdk.say_it, { text = 'x' } } } return all[1].sum, all[2]"),
        json!([2, "x"])
    );
    assert_eq!(message(folder, "sdk.up.fail()"), "script:1: up.fail: it does not work\\nat all");
    assert_eq!(message(folder, "sdk.up.refuse()"), "script:1: up.refuse: not like this");
    assert_eq!(message(folder, "sdk.up.add{ a = 1 }"), "script:1: up.add: arguments: \"b\" is a required property");
    assert_eq!(message(folder, "sdk.up.add{ a = 1, b = 'x' }"), "script:1: up.add: arguments.b: \"x\" is not of type \"number\"");
    assert_eq!(message(folder, "sdk.up.add(1)"), "script:1: up.add: arguments: 1 is not of type \"object\"");
    assert_eq!(message(folder, "sdk.up.add({}, {})"), "script:1: up.add: it takes one argument, a table");
}

#[test]
fn a_program_answers() {
    let folder = folder("");
    check_answers(&folder);
    // It has what its entry says, and of the rest what any program needs.
    let environment = result(&folder, "return sdk.up.environment()");
    assert_eq!(environment["given"], "given");
    let names: Vec<&str> = environment["names"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    assert!(names.contains(&"PATH") && !names.contains(&"CANARY") && !names.iter().any(|name| name.starts_with("CARGO")), "{names:?}");
    let inherits = crate::support::upstream_server::folder("inherit_env = [\"CANARY\"]\n");
    let names = result(&inherits, "return sdk.up.environment().names");
    assert!(names.as_array().is_some_and(|names| names.contains(&json!("CANARY"))), "{names}");
}

#[test]
fn a_server_over_http_answers() {
    let marks = TempDir::new().expect("a folder");
    let server = HttpUpstream::start(marks.path());
    check_answers(&server.folder(""));
}

#[test]
fn this_program_is_a_server_too() {
    let folder = folder_with("");
    let inner = format!("inner={} serve --no-io", env!("CARGO_BIN_EXE_toolscript"));
    let script = "return sdk.inner.execute_script{ script = 'return 6 * 7' }.result";
    let output = toolscript(folder.path(), &["run", "--json", "--mcp", &inner, "-e", script]).output().expect("it runs");
    assert_eq!(outcome(&output)["result"], 42, "{output:?}");
}

#[test]
fn clashes_and_servers_that_are_down_are_told_and_the_others_work() {
    let folder = folder("[mcp_servers.gone]\ncommand = \"no-such-program-anywhere\"\n[mcp_servers.mute]\ncommand = \"true\"\n");
    let script = "local ok, why = pcall(function() return sdk.gone.tool end) return sdk.up.add{ a = 1, b = 1 }.sum, why, (select(2, pcall(function() return sdk.mute end)))";
    let output = toolscript(folder.path(), &["run", "--json", "-e", script]).output().expect("it runs");
    let results = outcome(&output)["result"].clone();
    assert_eq!(results[0], 2);
    assert_eq!(results[1], "script:1: there is no 'gone' now: the server 'gone' is down: it can't be started");
    assert_eq!(results[2], "script:1: there is no 'mute' now: the server 'mute' is down: it ended before it answered");
    let notes = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        notes.contains("note: the MCP server 'gone' is down: it can't be started (no-such-program-anywhere: No such file or directory"),
        "{notes}"
    );
    assert!(notes.contains("note: the MCP server 'up': say-it is say_it_2, as say_it is sayIt already\n"), "{notes}");
}

#[test]
fn a_call_ends_with_the_scripts_time_and_is_cancelled_upstream() {
    let folder = folder("");
    let mut wire = Wire::start(folder.path(), &[]);
    let mut params = call("print('before') sdk.up.wait()");
    params["arguments"]["timeout_ms"] = json!(1000);
    let answer = wire.ask("tools/call", params);
    let outcome = &answer["result"]["structuredContent"];
    assert_eq!((&outcome["error"]["kind"], &outcome["logs"]), (&json!("timeout"), &json!(["before"])), "{answer}");
    wait_for(&folder.path().join("cancelled"));
    // The connection is as good as before.
    assert_eq!(wire.run("return sdk.up.add{ a = 2, b = 2 }.sum")["structuredContent"]["result"], 4);
}

#[test]
fn a_server_that_ends_is_started_again() {
    let folder = folder("");
    let mut wire = Wire::start(folder.path(), &[]);
    // A call that changes nothing is made again.
    let outcome = wire.run("return sdk.up.crash_once()")["structuredContent"].clone();
    assert_eq!(outcome["result"], "this time it is fine", "{outcome}");
    // Another is not: it may have been made.
    let outcome = wire.run("sdk.up.crash()")["structuredContent"].clone();
    assert_eq!(outcome["error"]["message"], "script:1: up.crash: the connection to the server was lost; the call may have been made");
    // It was down twice in a short time, so it waits a little; a script is told, or finds it up again.
    let started = Instant::now();
    loop {
        let outcome = wire.run("return sdk.up.add{ a = 3, b = 4 }.sum")["structuredContent"].clone();
        if outcome["result"] == 7 {
            break;
        }
        let message = outcome["error"]["message"].as_str().expect("a message").to_owned();
        assert!(message.starts_with("script:1: up.add: the server is down: the connection was lost; it is tried again in "), "{message}");
        assert!(started.elapsed() < PATIENCE, "it does not come back");
    }
}

#[test]
fn a_server_over_http_that_was_away_is_found_again() {
    let marks = TempDir::new().expect("a folder");
    let server = HttpUpstream::start(marks.path());
    let folder = server.folder("");
    let mut wire = Wire::start(folder.path(), &[]);
    assert_eq!(wire.run("return sdk.up.add{ a = 1, b = 1 }.sum")["structuredContent"]["result"], 2);
    drop(server);
    let outcome = wire.run("return sdk.up.add{ a = 1, b = 1 }.sum")["structuredContent"].clone();
    let message = outcome["error"]["message"].as_str().expect("a message").to_owned();
    assert!(message.starts_with("script:1: up.add: the server is down: the server can't be reached; it is tried again in "), "{message}");
    assert!(!message.contains("127.0.0.1"), "{message}");
}

#[test]
fn tools_that_come_later_are_functions_later() {
    let folder = folder("");
    let mut wire = Wire::start(folder.path(), &[]);
    assert_eq!(wire.run("return sdk.up.grow()")["structuredContent"]["result"], "there is more now");
    let started = Instant::now();
    while wire.run("return sdk.up.grown()")["structuredContent"]["result"] != "here it is" {
        assert!(started.elapsed() < PATIENCE, "it does not come");
    }
    let tools = wire.ask("tools/list", json!({}))["result"]["tools"].clone();
    assert!(tools[0]["description"].as_str().is_some_and(|text| text.contains("sdk.up: A server upstream (14 functions)")), "{tools}");
}

#[test]
fn only_what_is_let_through_is_there() {
    let filtered = folder("allow = [\"say_*\", \"add\"]\ndeny = [\"say_it_2\"]\n");
    let names = "local names = {} for name in sdk.up do table.insert(names, name) end table.sort(names) return names";
    assert_eq!(result(&filtered, names), json!(["add", "say_it"]));
    assert_eq!(result(&folder("read_only = true\n"), names), json!(["crash_once"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_shown_to_its_server_and_to_nobody_else() {
    let marks = TempDir::new().expect("a folder");
    let upstream = HttpUpstream::start(marks.path());
    let folder = upstream.folder("auth = \"owners-token\"\n");
    let shown = || fs::read_to_string(marks.path().join("authorization")).expect("a mark");
    assert_eq!(result(&folder, "return sdk.up.authorization().shown"), "Bearer [redacted]");
    assert_eq!(shown(), "Bearer owners-token");
    // A client brings its own, for one run.
    let server = HttpServer::start(folder.path(), &[]);
    let mut client = server.client();
    let mut params = call("return sdk.up.authorization().shown, sdk.up.authorization().shown");
    params["_meta"] = json!({ "auth": { "up": "tenants-token" } });
    let answer = client.ask("tools/call", params).await.last().clone();
    assert_eq!(answer["result"]["structuredContent"]["result"], json!(["Bearer [redacted]", "Bearer [redacted]"]), "{answer}");
    assert_eq!(shown(), "Bearer tenants-token");
    let answer = client.ask("tools/call", call("return sdk.up.authorization().shown")).await.last().clone();
    assert_eq!(answer["result"]["structuredContent"]["result"], "Bearer [redacted]", "{answer}");
    assert_eq!(shown(), "Bearer owners-token");
}

#[test]
fn a_program_takes_no_token() {
    let folder = folder("");
    let mut wire = Wire::start(folder.path(), &[]);
    for (auth, message) in [
        (json!({ "up": "token" }), "Invalid params: `_meta.auth`: the server 'up' is a program here, and takes no credential"),
        (json!({ "down": "token" }), "Invalid params: `_meta.auth`: there is no API 'down'"),
        (json!({ "up": 7 }), "Invalid params: `_meta.auth`: the credential of 'up' must be a string"),
        (json!("token"), "Invalid params: `_meta.auth`: it must be an object with a credential for each API"),
    ] {
        let mut params = call("return 1");
        params["_meta"] = json!({ "auth": auth });
        assert_eq!(wire.ask("tools/call", params)["error"]["message"], message);
    }
}

#[test]
fn no_program_is_left_behind() {
    let folder = folder("");
    fs::write(folder.path().join("hold.luau"), "sdk.up.wait()").expect("a script");
    let running = || {
        let processes = fs::read_dir("/proc").expect("processes").flatten();
        let marks = folder.path().to_string_lossy().into_owned();
        processes
            .filter(|process| fs::read(process.path().join("environ")).is_ok_and(|all| String::from_utf8_lossy(&all).contains(&marks)))
            .count()
    };
    let mut child = toolscript(folder.path(), &["run", "hold.luau"]).spawn().expect("it starts");
    wait_for(&folder.path().join("waiting"));
    assert_eq!(running(), 1, "{} is running", program().display());
    child.kill().expect("killed");
    child.wait().expect("an end");
    let started = Instant::now();
    while running() > 0 {
        assert!(started.elapsed() < PATIENCE, "it does not end");
        std::thread::sleep(Duration::from_millis(10));
    }
    let outcome = run(&folder, "return sdk.up.add{ a = 1, b = 1 }.sum");
    assert_eq!(outcome["result"], 2);
    assert_eq!(running(), 0);
}
