//! Messages of an MCP client, over streams. The server answers valid messages in JSON and survives all others.

use crate::{input::Input, runtime::block_on};
use serde_json::{Value, json};
use std::{sync::LazyLock, time::Duration};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    time::timeout,
};
use toolscript::{
    Engine, Files, Limits,
    engine::{FileIo, IoOptions},
    mcp::McpServer,
    sdk::Sdk,
};

struct Host {
    engine: Engine,
    directory: TempDir,
}

static HOST: LazyLock<Host> = LazyLock::new(|| Host {
    engine: Engine::builder().concurrency(2).file_io(FileIo::Inline).build().expect("an engine"),
    directory: TempDir::new().expect("a directory"),
});

/// The id of the last request, which the server must answer.
const LAST: &str = "the last request";

pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let mode = input.u8();
    let messages = input.rest();
    let io_directory = HOST.directory.path().join("io");
    block_on(serve(mode, messages, &io_directory));
    if io_directory.exists() {
        std::fs::remove_dir_all(&io_directory).expect("the io directory");
    }
}

async fn serve(mode: u8, messages: &[u8], io_directory: &std::path::Path) {
    let limits = Limits::default().with_timeout(Duration::from_millis(50)).with_fuel(10_000_000).with_memory(16 << 20);
    let io = IoOptions::new(Files::new(io_directory).expect("an io directory")).with_max_bytes(1 << 16);
    let mut builder = McpServer::builder(HOST.engine.clone()).limits(limits).io(io).inline_limit(1 << 12);
    if mode & 1 != 0 {
        builder = builder.sdk(Sdk::builder().build().await.expect("an SDK"));
    }
    let server = builder.build();
    let (client_input, server_output) = tokio::io::duplex(1 << 20);
    let (server_input, mut client_output) = tokio::io::duplex(1 << 20);
    let is_initialized = mode & 2 == 0;
    let serving = toolscript::fuzzing::serve(&server, server_input, server_output);
    let talking = async move {
        if is_initialized {
            let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "fuzz", "version": "1" } });
            send(&mut client_output, &json!({ "jsonrpc": "2.0", "id": "first", "method": "initialize", "params": params })).await;
            send(&mut client_output, &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        }
        let _ = client_output.write_all(messages).await;
        let _ = client_output.write_all(b"\n").await;
        send(&mut client_output, &json!({ "jsonrpc": "2.0", "id": LAST, "method": "ping" })).await;
        let mut lines = BufReader::new(client_input).lines();
        let mut is_answered = false;
        while let Ok(Some(line)) = lines.next_line().await {
            let message: Value = serde_json::from_str(&line).expect("a line of JSON");
            assert_eq!(message["jsonrpc"], "2.0", "{line}");
            assert!(message.get("method").is_some() || message.get("result").is_some() || message.get("error").is_some(), "{line}");
            assert!(!line.contains(&*io_directory.to_string_lossy()), "{line}");
            // -32603 is an internal error.
            assert_ne!(message["error"]["code"], -32603, "{line}");
            if message["id"] == LAST && message.get("method").is_none() {
                is_answered = true;
                break;
            }
        }
        // The end of the input stops the server.
        drop(client_output);
        while let Ok(Some(_)) = lines.next_line().await {}
        is_answered
    };
    let (served, is_answered) =
        timeout(Duration::from_secs(20), async { tokio::join!(serving, talking) }).await.expect("the server stops at the end of its input");
    assert!(!is_initialized || (is_answered && served.is_ok()), "the server ended: {served:?}");
}

async fn send(output: &mut (impl tokio::io::AsyncWrite + Unpin), message: &Value) {
    let _ = output.write_all(format!("{message}\n").as_bytes()).await;
}
