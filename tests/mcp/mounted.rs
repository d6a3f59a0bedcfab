//! The MCP server in a Rust program: mounted in an axum router, and on a listener of the program.

use crate::support::{engine, http_server::NEWEST_VERSION, wire::call};
use axum::{Router, routing::get};
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::net::TcpListener;
use toolscript::mcp::{AuthOptions, AuthOptionsError, HttpOptions, HttpOptionsError, McpServer, ServeError};

/// Runs a script and returns the result of the tool call.
async fn execute(address: &str, script: &str) -> Value {
    let mut params = call(script);
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": NEWEST_VERSION, "io.modelcontextprotocol/clientCapabilities": {},
    });
    let request = Client::new()
        .post(format!("http://{address}/mcp"))
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", NEWEST_VERSION)
        .header("mcp-method", "tools/call")
        .header("mcp-name", "execute_script")
        .body(json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string());
    let text = request.send().await.expect("a response").text().await.expect("a text");
    serde_json::from_str::<Value>(&text).expect("JSON")["result"].clone()
}

#[tokio::test]
async fn the_server_is_mounted_next_to_other_routes() {
    let server = McpServer::builder(engine().clone()).build();
    let router =
        Router::new().route("/own", get(|| async { "own route" })).merge(server.router(&HttpOptions::default()).expect("a router"));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    tokio::spawn(async move { axum::serve(listener, router).await });

    assert_eq!(execute(&address, "return 6 * 7").await["structuredContent"]["result"], 42);
    let own = Client::new().get(format!("http://{address}/own")).header("host", "other.example").send().await.expect("a response");
    assert_eq!(own.text().await.expect("a text"), "own route");
    // The check of `Host` applies to the mounted paths.
    let foreign = Client::new().post(format!("http://{address}/mcp")).header("host", "evil.example").send().await;
    assert_eq!(foreign.expect("a response").status(), StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn a_listener_is_served_until_the_shutdown() {
    for is_drain in [true, false] {
        let server = McpServer::builder(engine().clone()).build();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let serving = tokio::spawn({
            let server = server.clone();
            async move { server.serve_http(listener, &HttpOptions::default()).await }
        });
        assert_eq!(execute(&address, "return 1").await["structuredContent"]["result"], 1);
        if is_drain { server.drain_token() } else { server.shutdown_token() }.cancel();
        let served = tokio::time::timeout(Duration::from_secs(60), serving).await.expect("in time");
        served.expect("no panic").expect("no error");
    }
}

#[tokio::test]
async fn unusable_options_are_rejected() {
    let server = McpServer::builder(engine().clone()).build();
    let listener = TcpListener::bind("0.0.0.0:0").await.expect("a port");
    let error = server.serve_http(listener, &HttpOptions::default()).await.expect_err("no authentication");
    assert!(matches!(error, ServeError::Options(HttpOptionsError::Unauthenticated(_))), "{error}");

    let auth = AuthOptions::new("https://issuer.example").expect("options");
    let error = server.router(&HttpOptions::default().with_auth(auth)).expect_err("no public URL");
    assert_eq!(error.to_string(), "authentication requires a public URL");
    let options = HttpOptions::default().with_public_url("https://a.example/path".parse().expect("a URL"));
    let error = server.router(&options).expect_err("a path");
    assert_eq!(error.to_string(), "the public URL https://a.example/path must have the form https://tools.example.com");

    let error = AuthOptions::new("http://issuer.example").expect_err("not https");
    assert!(matches!(error, AuthOptionsError::NotHttps(_)), "{error}");
    let error = AuthOptions::new("http://user:password@issuer.example").expect_err("credentials");
    assert_eq!(error.to_string(), "the URL of issuer.example must not contain a user name, a password or a fragment");
    let error = AuthOptions::new("issuer").expect_err("not a URL");
    assert_eq!(error.to_string(), "issuer is not a URL");
    assert!(std::error::Error::source(&error).is_some());
    for scope in ["", "two words", "a\"quote"] {
        let auth = AuthOptions::new("https://issuer.example").expect("options");
        let error = auth.with_scopes([scope]).expect_err("not a scope");
        assert!(matches!(error, AuthOptionsError::InvalidScope), "{scope}: {error}");
    }
}
