//! Responses of an upstream MCP server over HTTP: event streams and JSON, through the whole client.

use crate::{input::Input, runtime::block_on};
use std::{collections::VecDeque, sync::Mutex, time::Duration};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
    time::timeout,
};
use toolscript::{
    RawValue,
    functions::FunctionProvider as _,
    fuzzing,
    sdk::{McpServerOptions, Sdk, Secret},
};

/// The credential of the server.
const SECRET: &str = "a-secret-credential";

/// Separates the bodies of the responses.
const SEPARATOR: &[u8] = b"\n---response\n";

/// The time for one input. A client that waits for more of a stream is dropped.
const TIMEOUT: Duration = Duration::from_millis(100);

pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let content_type = input.choose(&["text/event-stream", "text/event-stream", "text/event-stream; charset=utf-8", "application/json"]);
    let responses = Mutex::new(split(input.rest()));
    block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
        let serving = async {
            while let Ok((stream, _)) = listener.accept().await {
                let body = responses.lock().expect("a lock").pop_front();
                let _ = timeout(TIMEOUT, respond(stream, content_type, body)).await;
            }
        };
        let calling = timeout(TIMEOUT, call(&url));
        tokio::select! {
            () = serving => {}
            _ = calling => {}
        }
    });
}

fn split(mut data: &[u8]) -> VecDeque<Vec<u8>> {
    let mut parts = VecDeque::new();
    while let Some(at) = data.windows(SEPARATOR.len()).position(|window| window == SEPARATOR) {
        parts.push_back(data[..at].to_vec());
        data = &data[at + SEPARATOR.len()..];
    }
    parts.push_back(data.to_vec());
    parts
}

/// Reads a request and sends the next response. There is no response to the request for a stream of notifications.
async fn respond(stream: TcpStream, content_type: &str, body: Option<Vec<u8>>) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    while stream.read_line(&mut head).await? > 2 {
        let line = head.lines().next_back().unwrap_or_default().to_ascii_lowercase();
        length = line.strip_prefix("content-length: ").and_then(|length| length.parse().ok()).unwrap_or(length);
    }
    let mut request = vec![0; length];
    stream.read_exact(&mut request).await?;
    let (status, body) = match body {
        Some(body) if head.starts_with("POST") && request.windows(4).any(|window| window == b"\"id\"") => ("200 OK", body),
        _ if head.starts_with("POST") => ("202 Accepted", Vec::new()),
        _ => ("405 Method Not Allowed", Vec::new()),
    };
    let head = format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-type: {content_type}\r\nmcp-session-id: s\r\n\r\n");
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(&body).await?;
    stream.shutdown().await
}

async fn call(url: &str) {
    let options = McpServerOptions::url(url.parse().expect("a URL")).with_auth(Secret::new(SECRET)).with_allow_private(true);
    let Ok(sdk) = Sdk::builder().mcp_server("server", options).build().await else { return };
    for note in sdk.notes() {
        assert!(!note.to_string().contains(SECRET), "{note}");
    }
    for name in sdk.names().into_iter().filter(|name| !name.ends_with("._starting")).take(2) {
        let argument = RawValue::from_string(r#"{"text":"x"}"#.into()).expect("JSON");
        let text = match fuzzing::call(&sdk, &name, vec![argument.into()]).await {
            Ok(response) => format!("{response:?}"),
            Err(error) => error.message,
        };
        assert!(!text.contains(SECRET), "{text}");
    }
}
