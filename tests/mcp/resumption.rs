//! Clients that lose their connection and resume: revision 2025-11-25 over HTTP.

use crate::support::{
    http_server::{Answer, Events, HttpClient, HttpServer, call},
    server_process::{temp_directory, temp_directory_with_config},
    wait_for,
};
use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};
use std::path::Path;

const VERSION: &str = "2025-11-25";

/// A script that reports its start, waits for a file and creates another one at its end.
const WAITING: &str = "io.open('started', 'w'):close() repeat until io.exists('go') io.open('finished', 'w'):close() return 42";

const NOTHING: &str = "there is nothing to resume: the response was received, or the request was cancelled or has ended long ago";

fn start(directory: &Path) -> HttpServer {
    HttpServer::start(directory, &["--io-dir", "files"])
}

/// Reads the events of a response until one has the id of a primed stream.
async fn first_event_id(response: &mut Response) -> String {
    let mut text = String::new();
    loop {
        if let Some(id) = text.lines().find_map(|line| line.strip_prefix("id: ").or_else(|| line.strip_prefix("id:")))
            && text.contains("\n\n")
        {
            return id.trim().to_owned();
        }
        let chunk = response.chunk().await.expect("no error").expect("an event");
        text.push_str(std::str::from_utf8(&chunk).expect("UTF-8"));
    }
}

async fn resume(client: &HttpClient, last_event_id: &str) -> Response {
    client.request(Method::GET).header("last-event-id", last_event_id).send().await.expect("a response")
}

/// Checks that the stream can't be resumed, with a status on which the SDKs stop.
async fn check_ended(client: &HttpClient, last_event_id: &str) {
    let response = resume(client, last_event_id).await;
    assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(response.headers()["allow"], "POST, DELETE");
    assert_eq!(response.text().await.expect("a text"), NOTHING);
}

fn result(message: &Value) -> &Value {
    &message["result"]["structuredContent"]["result"]
}

/// Returns the id of the last event of a response.
fn last_event_id(answer: &Answer) -> &str {
    let id = answer.text.lines().rev().find_map(|line| line.strip_prefix("id:"));
    id.unwrap_or_else(|| panic!("{}", answer.text)).trim()
}

#[tokio::test]
async fn a_connection_that_is_lost_during_a_run_gets_the_response_when_it_resumes_before_the_end() {
    let directory = temp_directory();
    let server = start(directory.path());
    let mut client = server.session(VERSION, None).await;
    let mut params = call("io.open('started', 'w'):close() repeat until io.exists('go') progress(1) return 42");
    params["_meta"] = json!({ "progressToken": "token" });
    let mut response = client.send("tools/call", params).await;
    let id = first_event_id(&mut response).await;
    wait_for(|| directory.path().join("files/started").exists()).await;
    drop(response);
    let mut events = Events::of(resume(&client, &id).await);
    // A second connection takes the stream over.
    let mut newer = Events::of(resume(&client, &id).await);
    assert_eq!(events.next().await, None);
    server.client().result("io.open('go', 'w'):close()").await;
    assert_eq!(newer.next().await.expect("a message")["method"], "notifications/progress");
    let response = newer.next().await.expect("a message");
    assert_eq!((&response["id"], result(&response)), (&json!(client.last_id), &json!(42)));
    assert_eq!(newer.next().await, None);
}

#[tokio::test]
async fn a_run_that_ends_while_its_client_is_away_keeps_its_response() {
    let directory = temp_directory();
    let server = start(directory.path());
    let mut client = server.session(VERSION, None).await;
    let mut response = client.send("tools/call", call(WAITING)).await;
    let id = first_event_id(&mut response).await;
    wait_for(|| directory.path().join("files/started").exists()).await;
    drop(response);
    server.client().result("io.open('go', 'w'):close()").await;
    wait_for(|| directory.path().join("files/finished").exists()).await;
    // A connection that is lost again changes nothing.
    drop(resume(&client, &id).await);
    let answer = Answer::of(resume(&client, &id).await).await;
    assert_eq!((answer.messages.len(), &answer.last()["id"], result(answer.last())), (1, &json!(client.last_id), &json!(42)));
    check_ended(&client, last_event_id(&answer)).await;
    // Other sessions do not get it.
    let other = server.session(VERSION, None).await;
    check_ended(&other, &id).await;
    // The session works as before.
    assert_eq!(client.result("return 1").await, 1);
}

#[tokio::test]
async fn a_connection_that_is_lost_before_a_run_starts_gets_its_response() {
    let directory = temp_directory_with_config("[limits]\nconcurrency = 1\n");
    let server = start(directory.path());
    let mut client = server.session(VERSION, None).await;
    let mut other = server.session(VERSION, None).await;
    let first = other.send("tools/call", call(WAITING)).await;
    wait_for(|| directory.path().join("files/started").exists()).await;
    // The queue has this run, because one run at a time is allowed.
    let mut response = client.send("tools/call", call("return 7")).await;
    let id = first_event_id(&mut response).await;
    drop(response);
    std::fs::write(directory.path().join("files/go"), "").expect("a file");
    assert_eq!(result(Answer::of(first).await.last()), &json!(42));
    assert_eq!(result(Answer::of(resume(&client, &id).await).await.last()), &json!(7));
}

#[tokio::test]
async fn a_response_that_was_sent_but_not_received_is_sent_again() {
    let directory = temp_directory();
    let server = start(directory.path());
    let mut client = server.session(VERSION, None).await;
    let answer = client.ask("tools/call", call("return 5")).await;
    let response_event = last_event_id(&answer);
    let priming = response_event.replace(".1", ".0");
    assert!(answer.text.contains(&priming), "{}", answer.text);
    check_ended(&client, response_event).await;
    assert_eq!(result(Answer::of(resume(&client, &priming).await).await.last()), &json!(5));
}

/// The TypeScript SDK resumes after each error, because it expects a result.
#[tokio::test]
async fn a_stream_that_ended_with_an_error_is_not_resumed_for_ever() {
    let directory = temp_directory();
    let server = start(directory.path());
    let mut client = server.session(VERSION, None).await;
    let answer = client.ask("tools/call", json!({ "name": "none" })).await;
    assert_eq!(answer.last()["error"]["code"], -32602);
    check_ended(&client, last_event_id(&answer)).await;
}

#[tokio::test]
async fn a_cancelled_request_can_not_be_resumed() {
    let directory = temp_directory();
    let server = start(directory.path());
    let mut client = server.session(VERSION, None).await;
    let mut response = client.send("tools/call", call(WAITING)).await;
    let id = first_event_id(&mut response).await;
    wait_for(|| directory.path().join("files/started").exists()).await;
    let params = json!({ "requestId": client.last_id });
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
    assert_eq!(client.post(&cancel).await.status(), StatusCode::ACCEPTED);
    // The stream ends without a response, as the protocol says.
    let rest = Answer::of(response).await;
    assert_eq!(rest.messages, Vec::<Value>::new());
    check_ended(&client, &id).await;
    assert_eq!(client.result("return io.exists('finished')").await, false);
}

#[tokio::test]
async fn an_unknown_event_can_not_be_resumed() {
    let directory = temp_directory();
    let server = start(directory.path());
    let client = server.session(VERSION, None).await;
    for id in ["r0.0", "r99.0", "0/0", "x", "-1"] {
        check_ended(&client, id).await;
    }
    let mut unknown = client.clone();
    unknown.session = Some("unknown".into());
    assert_eq!(resume(&unknown, "r0.0").await.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn the_kept_responses_of_a_session_are_bounded_and_a_dropped_one_is_reported() {
    let directory = temp_directory_with_config("[limits]\ninline = 0\nresult = 2097152\n");
    let server = start(directory.path());
    let mut client = server.session(VERSION, None).await;
    // Each has 2 MiB, as structured content and as text.
    for _ in 0..5 {
        let answer = client.ask("tools/call", call("return string.rep('x', 2^20)")).await;
        assert_eq!(result(answer.last()).as_str().expect("a text").len(), 1 << 20);
    }
    let dropped = Answer::of(resume(&client, "r0.0").await).await;
    let message = "the request was executed, but its response was dropped: the connection was lost, and later responses needed the memory";
    let expected = json!({ "jsonrpc": "2.0", "id": 2, "error": { "code": -32000, "message": message } });
    assert_eq!(dropped.messages, [expected]);
    check_ended(&client, last_event_id(&dropped)).await;
    for kept in ["r2.0", "r4.0"] {
        let answer = Answer::of(resume(&client, kept).await).await;
        assert_eq!(result(answer.last()).as_str().expect("a text").len(), 1 << 20, "{kept}");
    }
    // Their number is bounded too.
    for _ in 0..16 {
        client.result("return 1").await;
    }
    assert_eq!(Answer::of(resume(&client, "r4.0").await).await.last()["error"]["code"], -32000);
    assert_eq!(result(Answer::of(resume(&client, "r5.0").await).await.last()), &json!(1));
    for _ in 0..64 {
        client.result("return 1").await;
    }
    check_ended(&client, "r0.0").await;
}
