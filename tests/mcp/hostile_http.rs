//! Hostile and stalled HTTP clients: they are rejected or disconnected, and other clients are served.

use crate::support::{
    http_server::{Answer, HttpClient, HttpServer, call, wait_for_async},
    server_process::{TIMEOUT, peak_memory, temp_directory, temp_directory_with_config},
    wait_for,
};
use reqwest::{Method, StatusCode};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

#[tokio::test]
async fn a_lost_connection_stops_its_run_although_a_next_request_is_buffered() {
    let directory = temp_directory_with_config("[limits]\nconcurrency = 1\n");
    let server = HttpServer::start(directory.path(), &["--io-dir", "files", "--timeout", "600"]);
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
    wait_for(|| directory.path().join("files/started").exists()).await;
    drop(stream);
    // The only permit is free again.
    assert_eq!(server.client().result("return 1").await, 1);
}

#[tokio::test]
async fn a_session_whose_client_does_not_read_does_not_affect_others() {
    let directory = temp_directory_with_config("[server]\nconnections = 40\n");
    let server = HttpServer::start(directory.path(), &["--io-dir", "files"]);
    // A notification stream that is not read, and notifications for it.
    let stuck = server.session("2025-11-25", None).await;
    let _unread = stuck.request(Method::GET).send().await.expect("a stream");
    let mut busy = server.session("2025-11-25", None).await;
    for round in 0..30 {
        let script = format!("for i = 1, 90 do io.open(('%s%d-%d'):format(('n'):rep(200), {round}, i), 'w'):close() end return 1");
        assert_eq!(busy.result(&script).await, 1);
    }
    // More sessions than the limit: the oldest are ended, including the stuck one.
    for _ in 0..40 {
        server.session("2025-11-25", None).await;
    }
    assert_eq!(stuck.clone().send("ping", json!({})).await.status(), StatusCode::NOT_FOUND);
    assert!(peak_memory(server.process()) < 200 << 20, "{} bytes", peak_memory(server.process()));
}

#[tokio::test]
async fn a_request_id_in_use_is_rejected() {
    let directory = temp_directory();
    let server = HttpServer::start(directory.path(), &["--io-dir", "files"]);
    let mut client = server.session("2025-11-25", None).await;
    let running =
        client.send("tools/call", call("io.open('started', 'w'):close() while not pcall(io.open, 'go') do end return 'first'")).await;
    wait_for(|| directory.path().join("files/started").exists()).await;
    let mut again = HttpClient { last_id: client.last_id - 1, ..client.clone() };
    let rejected = json!({ "code": -32600, "message": "Invalid Request: a request with this id is in progress" });
    for _ in 0..2 {
        assert_eq!(again.ask("tools/call", call("return 'second'")).await.last()["error"], rejected);
        again.last_id -= 1;
    }
    server.client().result("io.open('go', 'w'):close()").await;
    assert_eq!(Answer::of(running).await.last()["result"]["structuredContent"]["result"], "first");
    assert_eq!(again.result("return 'third'").await, "third");
}

#[tokio::test]
async fn a_foreign_host_or_origin_is_rejected_on_every_path() {
    let directory = temp_directory();
    let server = HttpServer::start(directory.path(), &[]);
    for path in ["/mcp", "/healthz", "/metrics", "/.well-known/oauth-protected-resource", "/nowhere"] {
        for (name, value) in [("host", "evil.example"), ("origin", "http://evil.example"), ("origin", "null")] {
            let response = reqwest::Client::new().post(server.url(path)).header(name, value).send().await.expect("a response");
            assert_eq!(response.status(), StatusCode::FORBIDDEN, "{path} {name}");
        }
    }
    let response = reqwest::Client::new().get(server.url("/healthz")).header("origin", "http://localhost:3000").send().await;
    assert_eq!(response.expect("a response").text().await.expect("a text"), "ok\n");
}

#[tokio::test]
async fn a_body_that_is_not_a_message_is_answered_with_an_error() {
    let directory = temp_directory();
    let server = HttpServer::start(directory.path(), &[]);
    let client = server.client();
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let post = |body: String| client.request(Method::POST).header("content-type", "application/json").body(body).send();
    let (parse, batch) = ("Parse error: the body is not JSON", "Invalid Request: batches are not supported");
    let invalid = "Invalid Request: the body is not a JSON-RPC message, or is nested too deep";
    for (body, code, message) in [
        ("{".to_owned(), -32700, parse),
        ("\u{0}".to_owned(), -32700, parse),
        ("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]".to_owned(), -32600, batch),
        (deep.clone(), -32600, batch),
        (format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{deep}}}"), -32600, invalid),
        ("{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}".to_owned(), -32600, invalid),
        (format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}}", "9".repeat(400)), -32600, invalid),
    ] {
        let answer = Answer::of(post(body.clone()).await.expect("a response")).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{}", &body[..body.len().min(80)]);
        assert_eq!(answer.last(), &json!({ "jsonrpc": "2.0", "id": null, "error": { "code": code, "message": message } }));
    }
    let plain = client.request(Method::POST).header("content-type", "text/plain").body("{}").send().await.expect("a response");
    assert_eq!(plain.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
    let unknown = HttpClient { session: Some("unknown".into()), version: "2025-11-25".into(), ..client.clone() };
    assert_eq!(unknown.post(&json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" })).await.status(), StatusCode::NOT_FOUND);
    assert_eq!(server.client().result("return 'alive'").await, "alive");
}

#[tokio::test]
async fn a_body_over_the_limit_is_rejected_and_memory_is_bounded() {
    let directory = temp_directory();
    let server = HttpServer::start(directory.path(), &[]);
    let head = "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
    // The size is announced, or found while reading.
    for (length, chunks) in [("content-length: 2147483648", 0), ("transfer-encoding: chunked", 64)] {
        let mut stream = TcpStream::connect(&server.address).await.expect("a connection");
        stream.write_all(format!("{head}{length}\r\n\r\n").as_bytes()).await.expect("sent");
        let (mut input, mut output) = stream.split();
        let sending = async {
            let chunk = format!("100000\r\n{}\r\n", " ".repeat(1 << 20));
            // The server may close the connection before everything is sent.
            for _ in 0..chunks {
                if output.write_all(chunk.as_bytes()).await.is_err() {
                    break;
                }
            }
        };
        let mut answer = [0; 12];
        let (_, read) = tokio::join!(sending, input.read_exact(&mut answer));
        read.expect("a response");
        assert_eq!(&answer, b"HTTP/1.1 413", "{length}");
    }
    assert_eq!(server.client().result("return 'alive'").await, "alive");
    assert!(peak_memory(server.process()) < 200 << 20, "{} bytes", peak_memory(server.process()));
}

#[tokio::test]
async fn slow_headers_and_stalled_bodies_time_out_and_others_are_served() {
    let directory = temp_directory_with_config("[server]\nheader_timeout = 0.5\nbody_timeout = 0.5\n");
    let server = HttpServer::start(directory.path(), &[]);
    let mut slow_headers = TcpStream::connect(&server.address).await.expect("a connection");
    slow_headers.write_all(b"POST /mcp HTTP/1.1\r\nhost: loc").await.expect("sent");
    let mut slow_body = TcpStream::connect(&server.address).await.expect("a connection");
    slow_body.write_all(b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{").await.expect("sent");
    assert_eq!(server.client().result("return 'served'").await, "served");
    let mut rest = Vec::new();
    tokio::time::timeout(TIMEOUT, slow_headers.read_to_end(&mut rest)).await.expect("closed").expect("closed");
    let mut answer = [0; 12];
    tokio::time::timeout(TIMEOUT, slow_body.read_exact(&mut answer)).await.expect("a response").expect("a response");
    assert_eq!(&answer, b"HTTP/1.1 408");
}

#[tokio::test]
async fn connections_above_the_limit_are_closed_at_once() {
    let directory = temp_directory_with_config("[server]\nconnections = 4\n");
    let server = HttpServer::start(directory.path(), &[]);
    let mut open = Vec::new();
    for _ in 0..4 {
        let mut stream = TcpStream::connect(&server.address).await.expect("a connection");
        // A response shows that the connection was accepted.
        stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").await.expect("sent");
        stream.read_exact(&mut [0; 12]).await.expect("a response");
        open.push(stream);
    }
    let mut rejected = TcpStream::connect(&server.address).await.expect("a connection");
    let closed = tokio::time::timeout(TIMEOUT, rejected.read(&mut [0; 1])).await.expect("in time");
    assert!(matches!(closed, Ok(0) | Err(_)), "{closed:?}");
    open.pop();
    wait_for_async(async || reqwest::get(server.url("/healthz")).await.is_ok()).await;
}
