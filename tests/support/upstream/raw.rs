//! A server without an MCP library, for responses that no library sends: an invalid tool, a tool list without an end, and messages of any size.

use serde_json::{Value, json};
use std::io::{BufRead as _, Write as _};

/// Answers messages on standard input until it ends.
pub fn serve() {
    for line in std::io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
        let Some(id) = message.get("id") else { continue };
        let response = match message["method"].as_str() {
            Some("initialize") => result(id, &initialized(&message)),
            Some("tools/list") if message["params"]["cursor"].is_string() => result(id, &json!({ "tools": [], "nextCursor": "more" })),
            Some("tools/list") => result(id, &tools()),
            Some("tools/call") => {
                let text = "x".repeat(message["params"]["arguments"]["bytes"].as_u64().unwrap_or(1) as usize);
                let content = json!({ "content": [{ "type": "text", "text": text, "_meta": { "id": 1 } }] });
                match message["params"]["name"].as_str() {
                    Some("late_id") => format!("{{\"result\":{content},\"jsonrpc\":\"2.0\",\"id\":{id}}}"),
                    _ => result(id, &content),
                }
            }
            _ => format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":-32601,\"message\":\"no such method\"}}}}"),
        };
        let mut output = std::io::stdout().lock();
        writeln!(output, "{response}").and_then(|()| output.flush()).expect("standard output is open");
    }
}

/// Returns a response whose id comes before its result.
fn result(id: &Value, result: &Value) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}")
}

fn initialized(message: &Value) -> Value {
    let version = &message["params"]["protocolVersion"];
    json!({ "protocolVersion": version, "capabilities": { "tools": {} }, "serverInfo": { "name": "raw", "version": "1" } })
}

fn tools() -> Value {
    let schema = json!({ "type": "object", "properties": { "bytes": { "type": "integer" } } });
    json!({ "nextCursor": "more", "tools": [
        { "name": "early_id", "description": "Returns a text", "inputSchema": schema },
        { "name": "no_schema", "description": "Has no schema" },
        { "description": "Has no name", "inputSchema": schema },
        { "name": "late_id", "description": "Returns a text", "inputSchema": schema },
    ] })
}
