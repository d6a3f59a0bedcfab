//! MCP over HTTP: notifications, sessions, files, cancellation, metrics.

use crate::support::{
    http_server::{Answer, Events, HttpServer, call},
    server_process::{temp_directory, temp_directory_with_config},
    wait_for,
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::fs;

fn methods(answer: &Answer) -> Vec<&str> {
    answer.messages.iter().filter_map(|message| message["method"].as_str()).collect()
}

/// Checks that the response has all log lines in order, one progress notification, and then the result.
fn check_notifications(answer: &Answer) {
    let with_method = |method: &str| answer.messages.iter().filter(|message| message["method"] == method).collect::<Vec<_>>();
    let lines: Vec<&str> = with_method("notifications/message").iter().filter_map(|message| message["params"]["data"].as_str()).collect();
    assert_eq!(lines.join("\n"), "one\ntwo", "{answer:?}");
    let [progress] = with_method("notifications/progress")[..] else { panic!("{answer:?}") };
    assert_eq!((&progress["params"]["progress"], &progress["params"]["message"]), (&json!(1.0), &json!("half")));
    assert_eq!(answer.last()["result"]["structuredContent"]["result"], 3);
}

#[tokio::test]
async fn log_lines_and_progress_arrive_in_the_response_before_the_result() {
    let directory = temp_directory();
    let server = HttpServer::start(directory.path(), &[]);
    let script = "print('one') progress(1, 2, 'half') print('two') return 3";
    for version in ["2025-06-18", "2025-11-25"] {
        let mut client = server.session(version, None).await;
        assert_eq!(client.ask("logging/setLevel", json!({ "level": "info" })).await.last()["result"], json!({}));
        let mut params = call(script);
        params["_meta"] = json!({ "progressToken": "token" });
        check_notifications(&client.ask("tools/call", params).await);
    }
    let mut params = call(script);
    params["_meta"] = json!({ "progressToken": "token", "io.modelcontextprotocol/logLevel": "info" });
    check_notifications(&server.client().ask("tools/call", params).await);
}

#[tokio::test]
async fn only_clients_that_support_it_receive_events_without_a_message() {
    let directory = temp_directory();
    let server = HttpServer::start(directory.path(), &[]);
    for (version, expected) in [("2025-06-18", false), ("2025-11-25", true)] {
        let mut client = server.session(version, None).await;
        let answer = client.ask("tools/call", call("return 1")).await;
        assert_eq!(answer.text.contains("retry:"), expected, "{version}: {}", answer.text);
        assert_eq!(answer.last()["result"]["structuredContent"]["result"], 1);
    }
}

#[tokio::test]
async fn a_log_level_applies_to_its_session_only() {
    let directory = temp_directory();
    let server = HttpServer::start(directory.path(), &[]);
    let mut loud = server.session("2025-11-25", None).await;
    let mut silent = server.session("2025-11-25", None).await;
    loud.ask("logging/setLevel", json!({ "level": "debug" })).await;
    assert_eq!(methods(&loud.ask("tools/call", call("print('x')")).await), ["notifications/message"]);
    assert_eq!(methods(&silent.ask("tools/call", call("print('x')")).await), Vec::<&str>::new());
}

#[tokio::test]
async fn a_response_without_notifications_is_plain_json() {
    let directory = temp_directory();
    let server = HttpServer::start(directory.path(), &[]);
    let response = server.client().send("tools/call", call("return 1")).await;
    assert_eq!(response.headers()["content-type"], "application/json");
    assert!(response.headers().contains_key("content-length"));
    assert_eq!(Answer::of(response).await.last()["result"]["structuredContent"]["result"], 1);
}

#[tokio::test]
async fn files_are_disabled_by_default() {
    let directory = temp_directory();
    let server = HttpServer::start(directory.path(), &[]);
    let mut client = server.client();
    assert_eq!(client.result("return io == nil and os.remove == nil and file == nil").await, true);
    assert_eq!(client.ask("resources/list", json!({})).await.last()["error"]["code"], -32601);

    for (arguments, config) in [(&["--io-dir", "files"][..], ""), (&[], "[io]\nenabled = true\ndir = 'files'\n")] {
        let directory = temp_directory_with_config(config);
        let server = HttpServer::start(directory.path(), arguments);
        let mut client = server.client();
        assert_eq!(client.result("io.open('a', 'w'):write('x'):close() return io.list()").await, json!(["a"]));
        assert_eq!(client.ask("resources/list", json!({})).await.last()["result"]["resources"][0]["uri"], "io:///a");
        assert_eq!(fs::read_to_string(directory.path().join("files/a")).expect("the file"), "x");
    }
}

#[tokio::test]
async fn a_session_is_notified_of_changes_by_other_clients() {
    let directory = temp_directory();
    let server = HttpServer::start(directory.path(), &["--io-dir", "files"]);
    let mut listening = server.session("2025-11-25", None).await;
    assert_eq!(listening.ask("resources/subscribe", json!({ "uri": "io:///a" })).await.last()["result"], json!({}));
    let mut events = Events::of(listening.request(Method::GET).send().await.expect("a stream"));
    server.session("2025-11-25", None).await.result("io.open('a', 'w'):close() io.open('b', 'w'):close()").await;
    assert_eq!(events.next().await.expect("a message")["method"], "notifications/resources/list_changed");
    let updated = events.next().await.expect("a message");
    assert_eq!((&updated["method"], &updated["params"]["uri"]), (&json!("notifications/resources/updated"), &json!("io:///a")));
    // The same with a subscription of the newest protocol revision.
    let filter = json!({ "notifications": { "resourcesListChanged": true, "resourceSubscriptions": ["io:///a"] } });
    let mut changes = Events::of(server.client().send("subscriptions/listen", filter).await);
    assert_eq!(changes.next().await.expect("a message")["method"], "notifications/subscriptions/acknowledged");
    listening.result("io.open('a', 'w'):close()").await;
    assert_eq!(changes.next().await.expect("a message")["method"], "notifications/resources/list_changed");
    assert_eq!(changes.next().await.expect("a message")["params"]["uri"], "io:///a");
}

#[tokio::test]
async fn cancelling_or_deleting_a_session_stops_its_scripts_and_a_lost_connection_does_not() {
    let directory = temp_directory_with_config("[limits]\nconcurrency = 1\n");
    let server = HttpServer::start(directory.path(), &["--io-dir", "files", "--timeout", "600"]);
    let started = directory.path().join("files/started");
    let endless = "io.open('started', 'w'):close() while true do end";
    for ending in ["cancel", "delete"] {
        let mut client = server.session("2025-11-25", None).await;
        let mut answer = client.send("tools/call", call(endless)).await;
        wait_for(|| started.exists()).await;
        if ending == "cancel" {
            let params = json!({ "requestId": client.last_id });
            let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
            assert_eq!(client.post(&cancel).await.status(), StatusCode::ACCEPTED);
        } else {
            assert_eq!(client.request(Method::DELETE).send().await.expect("a response").status(), StatusCode::NO_CONTENT);
            assert_eq!(client.request(Method::DELETE).send().await.expect("a response").status(), StatusCode::NOT_FOUND);
            assert_eq!(client.send("ping", json!({})).await.status(), StatusCode::NOT_FOUND);
        }
        // The only permit is free again.
        assert_eq!(server.client().result("os.remove('started') return 1").await, 1, "{ending}");
        while answer.chunk().await.is_ok_and(|chunk| chunk.is_some()) {}
    }

    // In the older protocol revisions, a lost connection does not cancel the request.
    let mut client = server.session("2025-11-25", None).await;
    let script = "io.open('started', 'w'):close() local t = os.clock() while os.clock() < t + 0.3 do end io.open('finished', 'w'):close()";
    let answer = client.send("tools/call", call(script)).await;
    wait_for(|| started.exists()).await;
    drop(answer);
    wait_for(|| directory.path().join("files/finished").exists()).await;

    // In the newest revision, it does.
    server.client().result("os.remove('started')").await;
    let mut client = server.client();
    let request = tokio::spawn(async move { client.send("tools/call", call(endless)).await });
    wait_for(|| started.exists()).await;
    request.abort();
    assert_eq!(server.client().result("return 1").await, 1);
}

#[tokio::test]
async fn runs_above_the_limit_are_rejected_at_once() {
    let directory = temp_directory_with_config("[limits]\nconcurrency = 1\nqueue = 0\n");
    let server = HttpServer::start(directory.path(), &["--io-dir", "files"]);
    let mut endless = server.session("2025-11-25", None).await;
    let _answer = endless.send("tools/call", call("io.open('started', 'w'):close() while true do end")).await;
    wait_for(|| directory.path().join("files/started").exists()).await;
    let rejected = json!({ "code": -32000, "message": "busy: 1 scripts are running and 0 are waiting; try again later" });
    assert_eq!(server.client().ask("tools/call", call("return 1")).await.last()["error"], rejected);
    let metrics = reqwest::get(server.url("/metrics")).await.expect("a response").text().await.expect("a text");
    assert!(metrics.contains("toolscript_refused_total{reason=\"busy\"} 1\n"), "{metrics}");
    assert!(metrics.contains("toolscript_runs_running 1\n"), "{metrics}");
}

#[tokio::test]
async fn a_client_that_sends_initialized_twice_is_notified_once_of_a_change() {
    let directory = temp_directory();
    let server = HttpServer::start(directory.path(), &["--io-dir", "files"]);
    let listening = server.session("2025-11-25", None).await;
    for _ in 0..3 {
        listening.post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    }
    let mut events = Events::of(listening.request(Method::GET).send().await.expect("a stream"));
    let mut other = server.session("2025-11-25", None).await;
    listening.clone().ask("resources/subscribe", json!({ "uri": "io:///b" })).await;
    for name in ["a", "b"] {
        other.result(&format!("io.open('{name}', 'w'):close()")).await;
    }
    let mut methods = Vec::new();
    while methods.last() != Some(&json!("notifications/resources/updated")) {
        methods.push(events.next().await.expect("a message")["method"].clone());
    }
    let changed = "notifications/resources/list_changed";
    assert_eq!(methods, [changed, changed, "notifications/resources/updated"]);
}

#[tokio::test]
async fn the_files_of_a_listen_request_are_limited() {
    let directory = temp_directory();
    let server = HttpServer::start(directory.path(), &["--io-dir", "files"]);
    for (requested, accepted) in [(100, 100), (1000, 100), (1001, 0), (100_000, 0)] {
        let uris: Vec<String> = (0..requested).map(|number| format!("io:///{number}")).collect();
        let filter = json!({ "notifications": { "resourcesListChanged": true, "resourceSubscriptions": uris } });
        let mut changes = Events::of(server.client().send("subscriptions/listen", filter).await);
        let acknowledged = changes.next().await.expect("a message");
        let granted = &acknowledged["params"]["notifications"];
        assert_eq!(granted["resourcesListChanged"], true, "{acknowledged}");
        assert_eq!(granted["resourceSubscriptions"].as_array().map_or(0, Vec::len), accepted, "{requested}");
    }
}

#[tokio::test]
async fn the_newest_revision_has_no_subscribe_request() {
    let directory = temp_directory();
    let server = HttpServer::start(directory.path(), &["--io-dir", "files"]);
    for method in ["resources/subscribe", "resources/unsubscribe"] {
        let answer = server.client().ask(method, json!({ "uri": "io:///a" })).await;
        assert_eq!(answer.last()["error"]["code"], -32601, "{method}: {answer:?}");
    }
}

#[tokio::test]
async fn metrics_count_runs_and_bytes() {
    let directory = temp_directory();
    let server = HttpServer::start(directory.path(), &["--io-dir", "files"]);
    let mut client = server.client();
    client.result("io.open('a', 'w'):write('12345'):close() return 1").await;
    let failed: Value = client.run("error('x')").await;
    assert_eq!(failed["content"][0]["text"], "Script execution error: script:1: x");
    let response = reqwest::get(server.url("/metrics")).await.expect("a response");
    assert_eq!(response.headers()["content-type"], "application/openmetrics-text; version=1.0.0; charset=utf-8");
    let text = response.text().await.expect("a text");
    for line in [
        "toolscript_runs_total{outcome=\"done\"} 1",
        "toolscript_runs_total{outcome=\"runtime\"} 1",
        "toolscript_run_seconds_count 2",
        "toolscript_file_bytes_total{direction=\"written\"} 5",
        "toolscript_runs_running 0",
        "toolscript_runs_waiting 0",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is missing in {text}");
    }
}
