//! MCP over HTTP: each revision's ways, sessions, files, counts.

use crate::{
    support::http_server::{Answer, Events, HttpServer, call, folder, with_config},
    support::wait_for,
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::fs;

fn methods(answer: &Answer) -> Vec<&str> {
    answer.messages.iter().filter_map(|message| message["method"].as_str()).collect()
}

/// Lines in their order and one progress, however they were gathered, and the result behind them.
fn check_notified(answer: &Answer) {
    let of = |method: &str| answer.messages.iter().filter(|message| message["method"] == method).collect::<Vec<_>>();
    let lines: Vec<&str> = of("notifications/message").iter().filter_map(|message| message["params"]["data"].as_str()).collect();
    assert_eq!(lines.join("\n"), "one\ntwo", "{answer:?}");
    let [progress] = of("notifications/progress")[..] else { panic!("{answer:?}") };
    assert_eq!((&progress["params"]["progress"], &progress["params"]["message"]), (&json!(1.0), &json!("half")));
    assert_eq!(answer.last()["result"]["structuredContent"]["result"], 3);
}

#[tokio::test]
async fn lines_and_progress_come_through_the_requests_own_stream_before_the_result() {
    let folder = folder();
    let server = HttpServer::start(folder.path(), &[]);
    let script = "print('one') progress(1, 2, 'half') print('two') return 3";
    for version in ["2025-06-18", "2025-11-25"] {
        let mut client = server.session(version, None).await;
        assert_eq!(client.ask("logging/setLevel", json!({ "level": "info" })).await.last()["result"], json!({}));
        let mut params = call(script);
        params["_meta"] = json!({ "progressToken": "token" });
        check_notified(&client.ask("tools/call", params).await);
    }
    let mut params = call(script);
    params["_meta"] = json!({ "progressToken": "token", "io.modelcontextprotocol/logLevel": "info" });
    check_notified(&server.client().ask("tools/call", params).await);
}

#[tokio::test]
async fn only_clients_that_know_them_get_events_without_a_message() {
    let folder = folder();
    let server = HttpServer::start(folder.path(), &[]);
    for (version, expected) in [("2025-06-18", false), ("2025-11-25", true)] {
        let mut client = server.session(version, None).await;
        let answer = client.ask("tools/call", call("return 1")).await;
        assert_eq!(answer.text.contains("retry:"), expected, "{version}: {}", answer.text);
        assert_eq!(answer.last()["result"]["structuredContent"]["result"], 1);
    }
}

#[tokio::test]
async fn a_level_is_of_its_session_alone() {
    let folder = folder();
    let server = HttpServer::start(folder.path(), &[]);
    let mut loud = server.session("2025-11-25", None).await;
    let mut silent = server.session("2025-11-25", None).await;
    loud.ask("logging/setLevel", json!({ "level": "debug" })).await;
    assert_eq!(methods(&loud.ask("tools/call", call("print('x')")).await), ["notifications/message"]);
    assert_eq!(methods(&silent.ask("tools/call", call("print('x')")).await), Vec::<&str>::new());
}

#[tokio::test]
async fn a_plain_answer_is_plain_json() {
    let folder = folder();
    let server = HttpServer::start(folder.path(), &[]);
    let response = server.client().send("tools/call", call("return 1")).await;
    assert_eq!(response.headers()["content-type"], "application/json");
    assert!(response.headers().contains_key("content-length"));
    assert_eq!(Answer::of(response).await.last()["result"]["structuredContent"]["result"], 1);
}

#[tokio::test]
async fn files_are_off_unless_somebody_says_otherwise() {
    let folder = folder();
    let server = HttpServer::start(folder.path(), &[]);
    let mut client = server.client();
    assert_eq!(client.result("return io == nil and os.remove == nil and file == nil").await, true);
    assert_eq!(client.ask("resources/list", json!({})).await.last()["error"]["code"], -32601);

    for (arguments, config) in [(&["--io-dir", "files"][..], ""), (&[], "[io]\nenabled = true\ndir = 'files'\n")] {
        let folder = with_config(config);
        let server = HttpServer::start(folder.path(), arguments);
        let mut client = server.client();
        assert_eq!(client.result("io.open('a', 'w'):write('x'):close() return io.list()").await, json!(["a"]));
        assert_eq!(client.ask("resources/list", json!({})).await.last()["result"]["resources"][0]["uri"], "io:///a");
        assert_eq!(fs::read_to_string(folder.path().join("files/a")).expect("the file"), "x");
    }
}

#[tokio::test]
async fn a_session_hears_of_what_others_have_changed() {
    let folder = folder();
    let server = HttpServer::start(folder.path(), &["--io-dir", "files"]);
    let mut listening = server.session("2025-11-25", None).await;
    assert_eq!(listening.ask("resources/subscribe", json!({ "uri": "io:///a" })).await.last()["result"], json!({}));
    let mut events = Events::of(listening.request(Method::GET).send().await.expect("a stream"));
    server.session("2025-11-25", None).await.result("io.open('a', 'w'):close() io.open('b', 'w'):close()").await;
    assert_eq!(events.next().await.expect("a message")["method"], "notifications/resources/list_changed");
    let updated = events.next().await.expect("a message");
    assert_eq!((&updated["method"], &updated["params"]["uri"]), (&json!("notifications/resources/updated"), &json!("io:///a")));
    // And by the newest revision's way.
    let wish = json!({ "notifications": { "resourcesListChanged": true, "resourceSubscriptions": ["io:///a"] } });
    let mut news = Events::of(server.client().send("subscriptions/listen", wish).await);
    assert_eq!(news.next().await.expect("a message")["method"], "notifications/subscriptions/acknowledged");
    listening.result("io.open('a', 'w'):close()").await;
    assert_eq!(news.next().await.expect("a message")["method"], "notifications/resources/list_changed");
    assert_eq!(news.next().await.expect("a message")["params"]["uri"], "io:///a");
}

#[tokio::test]
async fn cancelling_and_ending_a_session_stop_its_scripts_and_a_lost_connection_does_not() {
    let folder = with_config("[limits]\nconcurrency = 1\n");
    let server = HttpServer::start(folder.path(), &["--io-dir", "files", "--timeout", "600"]);
    let started = folder.path().join("files/started");
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
            assert_eq!(client.request(Method::DELETE).send().await.expect("an answer").status(), StatusCode::NO_CONTENT);
            assert_eq!(client.request(Method::DELETE).send().await.expect("an answer").status(), StatusCode::NOT_FOUND);
            assert_eq!(client.send("ping", json!({})).await.status(), StatusCode::NOT_FOUND);
        }
        // The only permit is free again.
        assert_eq!(server.client().result("os.remove('started') return 1").await, 1, "{ending}");
        while answer.chunk().await.is_ok_and(|chunk| chunk.is_some()) {}
    }

    // The older revisions say that a lost connection is no cancellation.
    let mut client = server.session("2025-11-25", None).await;
    let script = "io.open('started', 'w'):close() local t = os.clock() while os.clock() < t + 0.3 do end io.open('finished', 'w'):close()";
    let answer = client.send("tools/call", call(script)).await;
    wait_for(|| started.exists()).await;
    drop(answer);
    wait_for(|| folder.path().join("files/finished").exists()).await;

    // The newest says that it is.
    server.client().result("os.remove('started')").await;
    let mut client = server.client();
    let asking = tokio::spawn(async move { client.send("tools/call", call(endless)).await });
    wait_for(|| started.exists()).await;
    asking.abort();
    assert_eq!(server.client().result("return 1").await, 1);
}

#[tokio::test]
async fn more_runs_than_allowed_are_refused_at_once() {
    let folder = with_config("[limits]\nconcurrency = 1\nqueue = 0\n");
    let server = HttpServer::start(folder.path(), &["--io-dir", "files"]);
    let mut endless = server.session("2025-11-25", None).await;
    let _answer = endless.send("tools/call", call("io.open('started', 'w'):close() while true do end")).await;
    wait_for(|| folder.path().join("files/started").exists()).await;
    let refused = json!({ "code": -32000, "message": "busy: 1 scripts are running and 0 are waiting; try again later" });
    assert_eq!(server.client().ask("tools/call", call("return 1")).await.last()["error"], refused);
    let metrics = reqwest::get(server.url("/metrics")).await.expect("an answer").text().await.expect("a text");
    assert!(metrics.contains("toolscript_refused_total{reason=\"busy\"} 1\n"), "{metrics}");
    assert!(metrics.contains("toolscript_runs_running 1\n"), "{metrics}");
}

#[tokio::test]
async fn a_client_that_says_twice_that_it_is_there_hears_once_of_a_change() {
    let folder = folder();
    let server = HttpServer::start(folder.path(), &["--io-dir", "files"]);
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
    let mut heard = Vec::new();
    while heard.last() != Some(&json!("notifications/resources/updated")) {
        heard.push(events.next().await.expect("a message")["method"].clone());
    }
    let changed = "notifications/resources/list_changed";
    assert_eq!(heard, [changed, changed, "notifications/resources/updated"]);
}

#[tokio::test]
async fn metrics_count_what_was_done() {
    let folder = folder();
    let server = HttpServer::start(folder.path(), &["--io-dir", "files"]);
    let mut client = server.client();
    client.result("io.open('a', 'w'):write('12345'):close() return 1").await;
    let failed: Value = client.run("error('x')").await;
    assert_eq!(failed["content"][0]["text"], "Script execution error: script:1: x");
    let response = reqwest::get(server.url("/metrics")).await.expect("an answer");
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
        assert!(text.lines().any(|found| found == line), "{line} is not in {text}");
    }
}
