//! The memory of idle tenants and their sessions.

use crate::support::{
    http_server::{Answer, HttpClient, HttpServer, wait_for_async},
    key_server::KeyServer,
    server_process::{resident_memory, temp_directory_with_config},
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

/// The number of tenants. Each has one session.
const TENANTS: u64 = 2000;

/// The documented maximum for an idle tenant and its session, in bytes.
const MAX_IDLE_BYTES: u64 = 16 << 10;

/// Opens a session on the connections of another client.
async fn open_session(client: &HttpClient, token: String) -> HttpClient {
    let mut client = HttpClient { version: "2025-11-25".into(), token: Some(token), ..client.clone() };
    let params = json!({ "protocolVersion": client.version, "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } });
    let response = client.send("initialize", params).await;
    client.session = Some(response.headers()["mcp-session-id"].to_str().expect("a text").to_owned());
    Answer::of(response).await;
    let initialized: Value = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(client.post(&initialized).await.status(), StatusCode::ACCEPTED);
    client
}

/// Opens a session for each of many tenants, and runs a script in it.
async fn open_sessions(server: &HttpServer, keys: &KeyServer, subjects: std::ops::Range<u64>) -> Vec<HttpClient> {
    let client = server.client();
    let mut sessions = Vec::new();
    for subject in subjects {
        let mut session = open_session(&client, keys.token(&subject.to_string())).await;
        assert_eq!(session.result("return 1").await, 1);
        sessions.push(session);
    }
    sessions
}

async fn end_sessions(sessions: Vec<HttpClient>) {
    for session in sessions {
        assert_eq!(session.request(Method::DELETE).send().await.expect("a response").status(), StatusCode::NO_CONTENT);
    }
}

#[tokio::test]
async fn idle_tenants_with_sessions_need_little_memory_and_return_it() {
    let keys = KeyServer::start().await;
    let directory = temp_directory_with_config("[server]\ntenant_idle = 1\n");
    let flags = keys.flags();
    let mut flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    flags.extend(["--io-dir", "files"]);
    let server = HttpServer::start(directory.path(), &flags);
    end_sessions(open_sessions(&server, &keys, 0..200).await).await;
    let resident = || resident_memory(server.process());
    let before = resident();

    let mut sessions = open_sessions(&server, &keys, 1000..1000 + TENANTS).await;
    let growth = resident().saturating_sub(before);
    println!("{} bytes for each tenant", growth / TENANTS);
    assert!(growth < TENANTS * MAX_IDLE_BYTES, "{} bytes for each tenant", growth / TENANTS);
    // Less would mean that the sessions are gone.
    assert!(growth > TENANTS * 1000, "{} bytes for each tenant", growth / TENANTS);
    assert_eq!(sessions[0].result("return 2").await, 2);

    end_sessions(sessions).await;
    wait_for_async(async || resident() < before + growth / 2).await;
}
