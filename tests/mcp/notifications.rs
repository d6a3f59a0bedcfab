//! Log lines and progress of running scripts, over standard input and output.

use crate::support::{
    server_process::{peak_memory, temp_directory},
    wire::{Wire, call},
};
use serde_json::{Value, json};
use std::time::Instant;

#[test]
fn log_lines_and_progress_arrive_before_the_result() {
    let directory = temp_directory();
    let mut wire = Wire::start(directory.path(), &[]);
    wire.run("print('no level is set')");
    assert_eq!(wire.notifications, Vec::<Value>::new());
    assert!(wire.ask("logging/setLevel", json!({ "level": "info" }))["result"].is_object());
    let script =
        "print('one') progress(1, 3, 'first') print('two') progress(1, 3) progress(0.5) progress(0 / 0) progress(math.huge) progress(2, 3)";
    let mut params = call(script);
    params["_meta"] = json!({ "progressToken": "token" });
    let answer = wire.ask("tools/call", params);
    assert_eq!(answer["result"]["structuredContent"]["logs"], json!(["one", "two"]));
    let lines: String = log_texts(&wire.notifications).join("\n");
    assert_eq!(lines, "one\ntwo");
    let progress: Vec<f64> = progress_values(&wire.notifications);
    assert!(progress.is_sorted_by(|one, next| one < next) && progress.last() == Some(&2.0), "{progress:?}");
    wire.notifications.clear();
    wire.ask("logging/setLevel", json!({ "level": "error" }));
    wire.run("print('less serious')");
    assert_eq!(wire.notifications, Vec::<Value>::new());
}

#[test]
fn the_rate_of_notifications_is_limited() {
    let directory = temp_directory();
    let mut wire = Wire::start(directory.path(), &[]);
    wire.ask("logging/setLevel", json!({ "level": "debug" }));
    let started = Instant::now();
    let mut params = call("for i = 1, 200000 do progress(i) if i % 10 == 0 then print('line ' .. i) end end return 'done'");
    params["_meta"] = json!({ "progressToken": 1 });
    assert_eq!(wire.ask("tools/call", params)["result"]["structuredContent"]["result"], "done");
    let max = 4 + started.elapsed().as_millis() as usize / 50;
    // The log is large, so it is also saved as a file, which the client is notified of once.
    let (changes, others): (Vec<_>, Vec<_>) =
        wire.notifications.iter().partition(|notification| notification["method"] == "notifications/resources/list_changed");
    assert_eq!(changes.len(), 1);
    assert!(others.len() <= max, "{} notifications, at most {max}", others.len());
    assert_eq!(progress_values(&wire.notifications).last(), Some(&200_000.0));
    assert!(log_texts(&wire.notifications).iter().all(|text| text.len() < 70_000));
}

#[test]
fn a_client_that_does_not_read_costs_bounded_memory() {
    let directory = temp_directory();
    let mut wire = Wire::start(directory.path(), &[]);
    wire.ask("logging/setLevel", json!({ "level": "debug" }));
    let gate = wire.gate();
    let not_reading = gate.lock().expect("not poisoned");
    let id = wire.begin("tools/call", call("for i = 1, 500000 do print(('x'):rep(100)) end io.open('done', 'w'):close() return 'done'"));
    // A client that does not read does not delay the script.
    let started = Instant::now();
    while !directory.path().join("toolscript-files/done").exists() {
        assert!(started.elapsed().as_secs() < 30, "the script waits for the client");
        std::thread::yield_now();
    }
    drop(not_reading);
    let answer = wire.answer(id);
    assert_eq!(answer["result"]["structuredContent"]["truncated"], json!(["logs"]));
    assert!(log_texts(&wire.notifications).last().expect("a message").contains("more lines; see the logs of the result"));
    let peak = peak_memory(wire.process());
    assert!(peak < 200 << 20, "{peak} bytes");
}

#[test]
fn in_the_newest_revision_the_log_level_applies_to_one_request() {
    let directory = temp_directory();
    let mut wire = Wire::start_silently(directory.path(), &[]);
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} });
    assert!(wire.ask("server/discover", json!({ "_meta": meta }))["result"]["supportedVersions"].is_array());
    assert_eq!(wire.ask("logging/setLevel", json!({ "level": "info", "_meta": meta }))["error"]["code"], -32601);
    assert_eq!(wire.ask("resources/subscribe", json!({ "uri": "io:///a", "_meta": meta }))["error"]["code"], -32601);
    let mut params = call("print('said')");
    params["_meta"] = meta.clone();
    wire.ask("tools/call", params.clone());
    assert_eq!(wire.notifications, Vec::<Value>::new());
    params["_meta"]["io.modelcontextprotocol/logLevel"] = json!("info");
    wire.ask("tools/call", params);
    assert_eq!(log_texts(&wire.notifications), ["said"]);
}

/// Returns the text of all log messages.
fn log_texts(notifications: &[Value]) -> Vec<&str> {
    let messages = notifications.iter().filter(|message| message["method"] == "notifications/message");
    messages.map(|message| message["params"]["data"].as_str().expect("a text")).collect()
}

/// Returns the values of all progress notifications.
fn progress_values(notifications: &[Value]) -> Vec<f64> {
    let all = notifications.iter().filter(|message| message["method"] == "notifications/progress");
    all.map(|message| message["params"]["progress"].as_f64().expect("a number")).collect()
}
