//! How a server over HTTP ends: what it waits for, and for how long.

use crate::{
    support::http_server::{Events, HttpServer, call, folder, wait_for_async, with_config},
    support::wait_for,
};
use reqwest::Method;
use serde_json::json;
use tokio::{io::AsyncWriteExt as _, net::TcpStream};

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
