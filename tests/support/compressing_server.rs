//! An MCP server over HTTP that compresses its responses: correctly, wrongly, or far beyond every limit.

use axum::{
    Router,
    body::{Body, Bytes, to_bytes},
    extract::Request,
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
};
use futures_util::stream;
use serde_json::{Value, json};
use std::{convert::Infallible, io::Write as _, sync::mpsc};
use tempfile::TempDir;
use tokio::{net::TcpListener, sync::oneshot};

use super::api_server::directory_with;

/// A server that runs on its own thread until it is dropped. At `/json` it responds with JSON, at `/sse` with an event stream. At `/zstd`
/// even the handshake has an encoding that is not supported.
pub struct CompressingServer {
    url: String,
    _stop: oneshot::Sender<()>,
}

impl CompressingServer {
    pub fn start() -> Self {
        let (stop, stopped) = oneshot::channel();
        let (sender, address) = mpsc::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
                sender.send(listener.local_addr().expect("an address")).expect("the receiver waits");
                tokio::select! {
                    served = async { axum::serve(listener, Router::new().fallback(respond)).await } => served.expect("it serves"),
                    _ = stopped => {}
                }
            });
        });
        Self { url: format!("http://{}", address.recv().expect("the server listens")), _stop: stop }
    }

    /// Creates a directory with a configuration of the server at a path as `up`.
    pub fn directory(&self, path: &str) -> TempDir {
        directory_with(&format!("[mcp_servers.up]\nurl = \"{}/{path}\"\nallow_private = true\n", self.url))
    }
}

async fn respond(request: Request) -> Response {
    if request.method() != "POST" {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    let path = request.uri().path().to_owned();
    let is_stream = path == "/sse";
    let body = to_bytes(request.into_body(), 1 << 20).await.expect("a body");
    let message: Value = serde_json::from_slice(&body).expect("JSON");
    let params = &message["params"];
    let result = match message["method"].as_str() {
        Some("initialize") => json!({
            "protocolVersion": params["protocolVersion"],
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "compressing", "version": "1" },
        }),
        Some("tools/list") => json!({ "tools": [{ "name": "get", "inputSchema": { "type": "object" } }] }),
        Some("tools/call") => json!({ "content": [{ "type": "text", "text": "hello" }] }),
        _ => return StatusCode::ACCEPTED.into_response(),
    };
    let start = format!("{}{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":", if is_stream { "data: " } else { "" }, message["id"]);
    let end = if is_stream { "}\n\n" } else { "}" };
    let content_type = if is_stream { "text/event-stream" } else { "application/json" };
    let encoded =
        |encoding: &str, body: Body| ([(header::CONTENT_TYPE, content_type), (header::CONTENT_ENCODING, encoding)], body).into_response();
    let zstd = || encoded("zstd", Body::from(b"\x28\xb5\x2f\xfd\x20".as_slice()));
    match params["arguments"]["how"].as_str() {
        _ if path == "/zstd" => zstd(),
        None | Some("gzip") => encoded("gzip", compressed(&[start.as_bytes(), result.to_string().as_bytes(), end.as_bytes()]).into()),
        Some("zstd") => zstd(),
        Some("broken") => encoded("gzip", Body::from(format!("{start}{result}{end}"))),
        // A few hundred kilobytes that become 200 MiB.
        Some("bomb") => encoded("gzip", compressed(&[start.as_bytes(), &vec![b' '; 200 << 20], end.as_bytes()]).into()),
        Some("endless") => {
            let spaces = stream::repeat_with(|| Ok::<_, Infallible>(Bytes::from_static(&[b' '; 65536])));
            let body = Body::from_stream(stream::StreamExt::chain(stream::iter([Ok(Bytes::from(start))]), spaces));
            ([(header::CONTENT_TYPE, content_type)], body).into_response()
        }
        Some(other) => panic!("unknown response {other}"),
    }
}

fn compressed(parts: &[&[u8]]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    for part in parts {
        encoder.write_all(part).expect("compressed");
    }
    encoder.finish().expect("compressed")
}
