//! The graceful stop of an HTTP server.

use crate::support::{
    http_server::{Events, HttpServer, call, wait_for_async},
    server_process::{temp_directory, temp_directory_with_config},
    wait_for,
};
use reqwest::Method;
use serde_json::json;
use tokio::{io::AsyncWriteExt as _, net::TcpStream};

#[tokio::test]
async fn a_signal_lets_runs_finish_and_ends_subscriptions() {
    let directory = temp_directory();
    let mut server = HttpServer::start(directory.path(), &["--io-dir", "files"]);
    let listening = server.session("2025-11-25", None).await;
    let mut events = Events::of(listening.request(Method::GET).send().await.expect("a stream"));
    let filter = json!({ "notifications": { "resourcesListChanged": true } });
    let mut changes = Events::of(server.client().send("subscriptions/listen", filter).await);
    changes.next().await.expect("an acknowledgement");
    let mut client = server.client();
    let script = "io.open('started', 'w'):close() local t = os.clock() while os.clock() < t + 0.5 do end return 'finished'";
    let running = tokio::spawn(async move { client.result(script).await });
    wait_for(|| directory.path().join("files/started").exists()).await;
    server.signal("TERM");
    assert_eq!(running.await.expect("a result"), "finished");
    assert_eq!(events.next().await, None);
    while changes.next().await.is_some() {}
    assert_eq!(server.wait_for_exit().await.code(), Some(0));
    assert!(TcpStream::connect(&server.address).await.is_err());
}

#[tokio::test]
async fn a_run_whose_client_disconnected_can_finish_too() {
    let directory = temp_directory_with_config("[server]\ndrain = 600\n");
    let mut server = HttpServer::start(directory.path(), &["--io-dir", "files"]);
    let mut client = server.session("2025-11-25", None).await;
    let script = "io.open('started', 'w'):close() local t = os.clock() while os.clock() < t + 0.5 do end io.open('finished', 'w'):close()";
    let answer = client.send("tools/call", call(script)).await;
    wait_for(|| directory.path().join("files/started").exists()).await;
    drop((answer, client));
    server.signal("TERM");
    assert_eq!(server.wait_for_exit().await.code(), Some(0));
    assert!(directory.path().join("files/finished").exists());
}

#[tokio::test]
async fn slow_clients_do_not_delay_the_exit() {
    for request in ["POST /mcp HTTP/1.1\r\nhost: loc", ""] {
        let directory = temp_directory_with_config("[server]\ndrain = 600\n");
        let mut server = HttpServer::start(directory.path(), &[]);
        let mut slow = TcpStream::connect(&server.address).await.expect("a connection");
        slow.write_all(request.as_bytes()).await.expect("sent");
        assert_eq!(server.client().result("return 1").await, 1);
        server.signal("TERM");
        assert_eq!(server.wait_for_exit().await.code(), Some(0), "{request:?}");
    }
    // The server waits for a client whose request has started, until a second signal.
    let directory = temp_directory_with_config("[server]\ndrain = 600\n");
    let mut server = HttpServer::start(directory.path(), &[]);
    let mut slow = TcpStream::connect(&server.address).await.expect("a connection");
    slow.write_all(b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{").await.expect("sent");
    assert_eq!(server.client().result("return 1").await, 1);
    server.signal("TERM");
    wait_for_async(async || TcpStream::connect(&server.address).await.is_err()).await;
    server.signal("TERM");
    assert_eq!(server.wait_for_exit().await.code(), Some(0));
}

#[tokio::test]
async fn endless_runs_are_stopped_after_the_drain_timeout_or_a_second_signal() {
    for second_signal in [false, true] {
        let directory = temp_directory_with_config(if second_signal { "" } else { "[server]\ndrain = 0.2\n" });
        let mut server = HttpServer::start(directory.path(), &["--io-dir", "files", "--timeout", "600"]);
        let mut client = server.client();
        let running =
            tokio::spawn(async move { client.ask("tools/call", call("io.open('started', 'w'):close() while true do end")).await });
        wait_for(|| directory.path().join("files/started").exists()).await;
        server.signal("TERM");
        if second_signal {
            // The server stops listening after the first signal.
            wait_for_async(async || TcpStream::connect(&server.address).await.is_err()).await;
            server.signal("TERM");
        }
        let answer = running.await.expect("a response");
        let outcome = &answer.last()["result"]["structuredContent"];
        assert_eq!(outcome["error"]["kind"], "cancelled", "{answer:?}");
        assert_eq!(outcome["files_touched"][0]["name"], "started");
        assert_eq!(server.wait_for_exit().await.code(), Some(0), "second signal: {second_signal}");
    }
}
