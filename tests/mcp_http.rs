//! MCP over HTTP: each revision's ways, what is refused, and how it ends.

use crate::{
    http_server::{Answer, Events, HttpClient, HttpServer, PATIENCE, call},
    support::wait_for,
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::{fs, time::Instant};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

fn folder() -> TempDir {
    TempDir::new().expect("a folder")
}

fn with_config(config: &str) -> TempDir {
    let folder = folder();
    fs::write(folder.path().join("toolscript.toml"), config).expect("a file");
    folder
}

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
async fn a_lost_connection_ends_a_run_although_bytes_of_a_next_request_wait() {
    let folder = with_config("[limits]\nconcurrency = 1\n");
    let server = HttpServer::start(folder.path(), &["--io-dir", "files", "--timeout", "600"]);
    let mut params = call("io.open('started', 'w'):close() while true do end");
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
    });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\n\
         mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: execute_script\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let mut stream = TcpStream::connect(&server.address).await.expect("a connection");
    stream.write_all(format!("{head}{body}G").as_bytes()).await.expect("sent");
    wait_for(|| folder.path().join("files/started").exists()).await;
    drop(stream);
    // The only permit is free again.
    assert_eq!(server.client().result("return 1").await, 1);
}

#[tokio::test]
async fn a_session_whose_client_does_not_read_is_nobody_elses_trouble() {
    let folder = with_config("[server]\nconnections = 40\n");
    let server = HttpServer::start(folder.path(), &["--io-dir", "files"]);
    // A stream of news that nobody reads, and news.
    let stuck = server.session("2025-11-25", None).await;
    let _unread = stuck.request(Method::GET).send().await.expect("a stream");
    let mut busy = server.session("2025-11-25", None).await;
    for round in 0..30 {
        let script = format!("for i = 1, 90 do io.open(('%s%d-%d'):format(('n'):rep(200), {round}, i), 'w'):close() end return 1");
        assert_eq!(busy.result(&script).await, 1);
    }
    // More sessions than there may be: the oldest make room, the stuck one among them.
    for _ in 0..40 {
        server.session("2025-11-25", None).await;
    }
    assert_eq!(stuck.clone().send("ping", json!({})).await.status(), StatusCode::NOT_FOUND);
    assert!(peak_memory(server.process()) < 200 << 10, "{} KiB", peak_memory(server.process()));
}

#[tokio::test]
async fn two_requests_of_a_session_with_one_id_are_one_too_many() {
    let folder = folder();
    let server = HttpServer::start(folder.path(), &["--io-dir", "files"]);
    let mut client = server.session("2025-11-25", None).await;
    let running =
        client.send("tools/call", call("io.open('started', 'w'):close() while not pcall(io.open, 'go') do end return 'first'")).await;
    wait_for(|| folder.path().join("files/started").exists()).await;
    let mut again = HttpClient { last_id: client.last_id - 1, ..client.clone() };
    let refused = json!({ "code": -32600, "message": "Invalid Request: a request with this id is under way" });
    assert_eq!(again.ask("tools/call", call("return 'second'")).await.last()["error"], refused);
    again.last_id -= 1;
    server.client().result("io.open('go', 'w'):close()").await;
    assert_eq!(Answer::of(running).await.last()["result"]["structuredContent"]["result"], "first");
    assert_eq!(again.result("return 'third'").await, "third");
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
async fn a_foreign_host_or_origin_is_forbidden_on_every_path() {
    let folder = folder();
    let server = HttpServer::start(folder.path(), &[]);
    for path in ["/mcp", "/healthz", "/metrics", "/.well-known/oauth-protected-resource", "/nowhere"] {
        for (name, value) in [("host", "evil.example"), ("origin", "http://evil.example"), ("origin", "null")] {
            let response = reqwest::Client::new().post(server.url(path)).header(name, value).send().await.expect("an answer");
            assert_eq!(response.status(), StatusCode::FORBIDDEN, "{path} {name}");
        }
    }
    let response = reqwest::Client::new().get(server.url("/healthz")).header("origin", "http://localhost:3000").send().await;
    assert_eq!(response.expect("an answer").text().await.expect("a text"), "ok\n");
}

#[tokio::test]
async fn what_is_no_message_is_answered_with_an_error() {
    let folder = folder();
    let server = HttpServer::start(folder.path(), &[]);
    let client = server.client();
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let post = |body: String| client.request(Method::POST).header("content-type", "application/json").body(body).send();
    let (parse, batch) = ("Parse error: the body is not JSON", "Invalid Request: batches are not supported");
    let invalid = "Invalid Request: the body is no JSON-RPC message, or is nested too deep";
    for (body, code, message) in [
        ("{".to_owned(), -32700, parse),
        ("\u{0}".to_owned(), -32700, parse),
        ("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]".to_owned(), -32600, batch),
        (deep.clone(), -32600, batch),
        (format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{deep}}}"), -32600, invalid),
        ("{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}".to_owned(), -32600, invalid),
        (format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}}", "9".repeat(400)), -32600, invalid),
    ] {
        let answer = Answer::of(post(body.clone()).await.expect("an answer")).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{}", &body[..body.len().min(80)]);
        assert_eq!(answer.last(), &json!({ "jsonrpc": "2.0", "id": null, "error": { "code": code, "message": message } }));
    }
    let plain = client.request(Method::POST).header("content-type", "text/plain").body("{}").send().await.expect("an answer");
    assert_eq!(plain.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
    let unknown = HttpClient { session: Some("unknown".into()), version: "2025-11-25".into(), ..client.clone() };
    assert_eq!(unknown.post(&json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" })).await.status(), StatusCode::NOT_FOUND);
    assert_eq!(server.client().result("return 'alive'").await, "alive");
}

#[tokio::test]
async fn a_body_over_the_cap_is_refused_and_memory_is_bounded() {
    let folder = folder();
    let server = HttpServer::start(folder.path(), &[]);
    let head = "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
    // Said in front, and found on the way.
    for (length, chunks) in [("content-length: 2147483648", 0), ("transfer-encoding: chunked", 64)] {
        let mut stream = TcpStream::connect(&server.address).await.expect("a connection");
        stream.write_all(format!("{head}{length}\r\n\r\n").as_bytes()).await.expect("sent");
        let (mut input, mut output) = stream.split();
        let sending = async {
            let chunk = format!("100000\r\n{}\r\n", " ".repeat(1 << 20));
            // The server may close before all of it is sent.
            for _ in 0..chunks {
                if output.write_all(chunk.as_bytes()).await.is_err() {
                    break;
                }
            }
        };
        let mut answer = [0; 12];
        let (_, read) = tokio::join!(sending, input.read_exact(&mut answer));
        read.expect("an answer");
        assert_eq!(&answer, b"HTTP/1.1 413", "{length}");
    }
    assert_eq!(server.client().result("return 'alive'").await, "alive");
    assert!(peak_memory(server.process()) < 200 << 10, "{} KiB", peak_memory(server.process()));
}

/// The most that a process ever had in memory, in KiB.
fn peak_memory(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).expect("status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a line");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

#[tokio::test]
async fn slow_headers_and_stalled_bodies_are_ended_and_others_are_served() {
    let folder = with_config("[server]\nheader_timeout = 0.5\nbody_timeout = 0.5\n");
    let server = HttpServer::start(folder.path(), &[]);
    let mut slow_headers = TcpStream::connect(&server.address).await.expect("a connection");
    slow_headers.write_all(b"POST /mcp HTTP/1.1\r\nhost: loc").await.expect("sent");
    let mut slow_body = TcpStream::connect(&server.address).await.expect("a connection");
    slow_body.write_all(b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{").await.expect("sent");
    assert_eq!(server.client().result("return 'served'").await, "served");
    let mut rest = Vec::new();
    tokio::time::timeout(PATIENCE, slow_headers.read_to_end(&mut rest)).await.expect("closed").expect("closed");
    let mut answer = [0; 12];
    tokio::time::timeout(PATIENCE, slow_body.read_exact(&mut answer)).await.expect("an answer").expect("an answer");
    assert_eq!(&answer, b"HTTP/1.1 408");
}

#[tokio::test]
async fn more_connections_than_allowed_are_closed_at_once() {
    let folder = with_config("[server]\nconnections = 4\n");
    let server = HttpServer::start(folder.path(), &[]);
    let mut open = Vec::new();
    for _ in 0..4 {
        let mut stream = TcpStream::connect(&server.address).await.expect("a connection");
        // An answer shows that it was accepted.
        stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").await.expect("sent");
        stream.read_exact(&mut [0; 12]).await.expect("an answer");
        open.push(stream);
    }
    let mut refused = TcpStream::connect(&server.address).await.expect("a connection");
    let closed = tokio::time::timeout(PATIENCE, refused.read(&mut [0; 1])).await.expect("in time");
    assert!(matches!(closed, Ok(0) | Err(_)), "{closed:?}");
    open.pop();
    wait_for_async(async || reqwest::get(server.url("/healthz")).await.is_ok()).await;
}

async fn wait_for_async(mut condition: impl AsyncFnMut() -> bool) {
    let started = Instant::now();
    while !condition().await {
        assert!(started.elapsed() < PATIENCE, "it does not come true");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_signal_lets_runs_end_and_ends_what_waits() {
    let folder = folder();
    let mut server = HttpServer::start(folder.path(), &["--io-dir", "files"]);
    let listening = server.session("2025-11-25", None).await;
    let mut events = Events::of(listening.request(Method::GET).send().await.expect("a stream"));
    let wish = json!({ "notifications": { "resourcesListChanged": true } });
    let mut news = Events::of(server.client().send("subscriptions/listen", wish).await);
    news.next().await.expect("an acknowledgement");
    let mut client = server.client();
    let script = "io.open('started', 'w'):close() local t = os.clock() while os.clock() < t + 0.5 do end return 'finished'";
    let running = tokio::spawn(async move { client.result(script).await });
    wait_for(|| folder.path().join("files/started").exists()).await;
    server.signal("TERM");
    assert_eq!(running.await.expect("a result"), "finished");
    assert_eq!(events.next().await, None);
    while news.next().await.is_some() {}
    assert_eq!(server.ended().await.code(), Some(0));
    assert!(TcpStream::connect(&server.address).await.is_err());
}

#[tokio::test]
async fn a_run_without_its_client_is_given_time_to_end_too() {
    let folder = with_config("[server]\ndrain = 600\n");
    let mut server = HttpServer::start(folder.path(), &["--io-dir", "files"]);
    let mut client = server.session("2025-11-25", None).await;
    let script = "io.open('started', 'w'):close() local t = os.clock() while os.clock() < t + 0.5 do end io.open('finished', 'w'):close()";
    let answer = client.send("tools/call", call(script)).await;
    wait_for(|| folder.path().join("files/started").exists()).await;
    drop((answer, client));
    server.signal("TERM");
    assert_eq!(server.ended().await.code(), Some(0));
    assert!(folder.path().join("files/finished").exists());
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
async fn clients_that_dawdle_do_not_hold_up_the_end() {
    for request in ["POST /mcp HTTP/1.1\r\nhost: loc", ""] {
        let folder = with_config("[server]\ndrain = 600\n");
        let mut server = HttpServer::start(folder.path(), &[]);
        let mut slow = TcpStream::connect(&server.address).await.expect("a connection");
        slow.write_all(request.as_bytes()).await.expect("sent");
        assert_eq!(server.client().result("return 1").await, 1);
        server.signal("TERM");
        assert_eq!(server.ended().await.code(), Some(0), "{request:?}");
    }
    // One that has asked is waited for, until a second signal.
    let folder = with_config("[server]\ndrain = 600\n");
    let mut server = HttpServer::start(folder.path(), &[]);
    let mut slow = TcpStream::connect(&server.address).await.expect("a connection");
    slow.write_all(b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{").await.expect("sent");
    assert_eq!(server.client().result("return 1").await, 1);
    server.signal("TERM");
    wait_for_async(async || TcpStream::connect(&server.address).await.is_err()).await;
    server.signal("TERM");
    assert_eq!(server.ended().await.code(), Some(0));
}

#[tokio::test]
async fn runs_that_do_not_end_are_stopped_when_the_time_to_drain_is_over_or_at_a_second_signal() {
    for second_signal in [false, true] {
        let folder = with_config(if second_signal { "" } else { "[server]\ndrain = 0.2\n" });
        let mut server = HttpServer::start(folder.path(), &["--io-dir", "files", "--timeout", "600"]);
        let mut client = server.client();
        let running =
            tokio::spawn(async move { client.ask("tools/call", call("io.open('started', 'w'):close() while true do end")).await });
        wait_for(|| folder.path().join("files/started").exists()).await;
        server.signal("TERM");
        if second_signal {
            // It no longer listens once it has heard the first.
            wait_for_async(async || TcpStream::connect(&server.address).await.is_err()).await;
            server.signal("TERM");
        }
        let answer = running.await.expect("an answer");
        let outcome = &answer.last()["result"]["structuredContent"];
        assert_eq!(outcome["error"]["kind"], "cancelled", "{answer:?}");
        assert_eq!(outcome["files_touched"][0]["name"], "started");
        assert_eq!(server.ended().await.code(), Some(0), "second signal: {second_signal}");
    }
}

#[tokio::test]
async fn a_public_address_needs_authentication_or_plain_words() {
    let folder = folder();
    let run = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_toolscript"));
        let output = command.arg("serve").args(arguments).current_dir(folder.path()).output().expect("it runs");
        (output.status.code(), String::from_utf8(output.stderr).expect("a text"))
    };
    for (arguments, code, message) in [
        (
            &["--transport", "http", "--listen", "0.0.0.0:0"][..],
            Some(2),
            "can be reached from other machines, and there is no authentication: set --auth-authority, or --allow-anyone if everyone who reaches it may run scripts\n",
        ),
        (
            &["--transport", "http", "--auth-authority", "https://issuer.example"],
            Some(2),
            "error: authentication needs --public-url: clients must know what to get a token for\n",
        ),
        (
            &["--transport", "http", "--auth-audience", "x"],
            Some(2),
            "error: authentication needs --auth-authority, the issuer of the tokens\n",
        ),
        (
            &["--transport", "http", "--public-url", "https://a.example", "--auth-authority", "http://issuer.example"],
            Some(2),
            "error: --auth-authority: http://issuer.example/ must begin with https://\n",
        ),
        (
            &["--transport", "http", "--public-url", "https://a.example/?x=1"],
            Some(2),
            "error: --public-url https://a.example/?x=1: it must be an address such as https://tools.example.com\n",
        ),
        (
            &["--transport", "http", "--public-url", "https://a.example/path"],
            Some(2),
            "error: --public-url https://a.example/path: it must be an address such as https://tools.example.com\n",
        ),
        (&["--listen", "127.0.0.1:0"], Some(2), "error: --listen is for servers over HTTP; add --transport http\n"),
        (&["--transport", "http", "--listen", "nowhere"], Some(2), "error: can't listen on nowhere: invalid socket address\n"),
    ] {
        let (status, stderr) = run(arguments);
        assert!(stderr.ends_with(message), "{arguments:?}: {stderr}");
        assert_eq!(status, code, "{arguments:?}");
    }
}

#[tokio::test]
async fn flags_win_over_the_environment_and_that_over_the_file() {
    let folder = with_config("[server]\ntransport = 'http'\nlisten = 'of the file'\n");
    let listens = |environment: Option<&str>, flags: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_toolscript"));
        command.arg("serve").args(flags).current_dir(folder.path()).env_remove("TOOLSCRIPT_LISTEN");
        if let Some(listen) = environment {
            command.env("TOOLSCRIPT_LISTEN", listen);
        }
        let said = String::from_utf8(command.output().expect("it runs").stderr).expect("a text");
        said.strip_prefix("error: can't listen on ").and_then(|rest| rest.split_once(':')).expect(&said).0.to_owned()
    };
    assert_eq!(listens(None, &[]), "of the file");
    assert_eq!(listens(Some("of the environment"), &[]), "of the environment");
    assert_eq!(listens(Some("of the environment"), &["--listen", "of the flag"]), "of the flag");
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
