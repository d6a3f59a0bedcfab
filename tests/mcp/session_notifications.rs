//! Notifications of an HTTP session that belong to no request: kept for a client without a stream, and sent once.

use crate::support::{
    http_server::{Events, HttpClient, HttpServer},
    server_process::temp_directory,
};
use reqwest::Method;
use serde_json::{Value, json};

const LIST_CHANGED: &str = "notifications/resources/list_changed";

async fn open_stream(client: &HttpClient, last_event_id: Option<&str>) -> Events {
    let mut request = client.request(Method::GET);
    if let Some(id) = last_event_id {
        request = request.header("last-event-id", id);
    }
    let response = request.send().await.expect("a stream");
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    Events::of(response)
}

/// Reads a notification, and returns its method or the URI that it is about.
async fn next(events: &mut Events) -> String {
    let message: Value = events.next().await.expect("a message");
    message["params"]["uri"].as_str().or(message["method"].as_str()).expect("a text").to_owned()
}

#[tokio::test]
async fn a_client_without_a_stream_receives_its_notifications_later_and_once() {
    let directory = temp_directory();
    let server = HttpServer::start(directory.path(), &["--io-dir", "files"]);
    let mut client = server.session("2025-11-25", None).await;
    client.ask("resources/subscribe", json!({ "uri": "io:///a" })).await;
    server.client().result("io.open('a', 'w'):close()").await;
    let mut events = open_stream(&client, None).await;
    assert_eq!([next(&mut events).await, next(&mut events).await], [LIST_CHANGED, "io:///a"]);
    drop(events);
    // Its own changes are reported too.
    client.result("io.open('b', 'w'):close()").await;
    client.result("io.open('a', 'w'):close()").await;
    let mut events = open_stream(&client, None).await;
    assert_eq!([next(&mut events).await, next(&mut events).await, next(&mut events).await], [LIST_CHANGED, LIST_CHANGED, "io:///a"]);
    drop(events);
    // The ids of the events count from 0. The first two were sent before the connection was lost.
    let mut resumed = open_stream(&client, Some("1")).await;
    assert_eq!([next(&mut resumed).await, next(&mut resumed).await, next(&mut resumed).await], [LIST_CHANGED, LIST_CHANGED, "io:///a"]);
}

#[tokio::test]
async fn a_second_stream_of_a_session_takes_over_when_the_first_one_ends() {
    let directory = temp_directory();
    let server = HttpServer::start(directory.path(), &["--io-dir", "files"]);
    let mut client = server.session("2025-11-25", None).await;
    client.ask("resources/subscribe", json!({ "uri": "io:///second" })).await;
    let mut first = open_stream(&client, None).await;
    let mut second = open_stream(&client, None).await;
    client.result("io.open('first', 'w'):close()").await;
    assert_eq!(next(&mut first).await, LIST_CHANGED);
    drop(first);
    client.result("io.open('second', 'w'):close()").await;
    assert_eq!([next(&mut second).await, next(&mut second).await], [LIST_CHANGED, "io:///second"]);
    // The stream ends with its session.
    client.request(Method::DELETE).send().await.expect("a response");
    assert_eq!(second.next().await, None);
}

#[tokio::test]
async fn a_client_that_missed_too_many_notifications_is_told_that_the_list_changed() {
    let directory = temp_directory();
    let server = HttpServer::start(directory.path(), &["--io-dir", "files"]);
    let mut client = server.session("2025-11-25", None).await;
    client.ask("resources/subscribe", json!({ "uri": "io:///f0" })).await;
    client.ask("resources/subscribe", json!({ "uri": "io:///last" })).await;
    for number in 0..130 {
        server.client().result(&format!("io.open('f{number}', 'w'):close()")).await;
    }
    server.client().result("io.open('last', 'w'):close()").await;
    let mut events = open_stream(&client, None).await;
    let mut received = vec![next(&mut events).await];
    while received.last().is_some_and(|last| last == LIST_CHANGED) {
        received.push(next(&mut events).await);
    }
    // One replaces those that were removed, and 127 are left before the last one.
    assert_eq!((received.len(), received.last().map(String::as_str)), (129, Some("io:///last")));
}
