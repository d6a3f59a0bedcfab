//! An MCP server for tests, over stdio or with `--http` over HTTP. It prints its HTTP address first. With `--raw` it is another server, in
//! `raw.rs`.
//!
//! It writes marker files into the directory in the environment variable `MARKERS`.

#![expect(clippy::disallowed_methods, clippy::expect_used, reason = "a test program")]

mod raw;

use axum::Router;
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt as _,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListToolsResult, PaginatedRequestParams,
        Resource, ServerCapabilities, ServerConfig, Tool, ToolAnnotations, object,
    },
    service::RequestContext,
    transport::{StreamableHttpService, stdio, streamable_http_server::session::local::LocalSessionManager},
};
use serde_json::{Value, json};
use std::{
    fs,
    io::Write as _,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};
use tokio::net::TcpListener;

#[derive(Clone, Default)]
struct Server {
    has_new_tool: Arc<AtomicBool>,
}

/// Returns the path of a marker file, which a test reads.
fn marker(name: &str) -> PathBuf {
    PathBuf::from(std::env::var_os("MARKERS").expect("MARKERS is set")).join(name)
}

fn tool(name: &'static str, description: &'static str, properties: Value) -> Tool {
    Tool::new(name, description, object(json!({ "type": "object", "properties": properties })))
}

impl Server {
    fn tools(&self) -> Vec<Tool> {
        let sum = object(json!({ "type": "object", "properties": { "sum": { "type": "number" } }, "required": ["sum"] }));
        let numbers = object(json!({
            "type": "object",
            "properties": { "a": { "$ref": "#/$defs/Number" }, "b": { "$ref": "#/$defs/Number" } },
            "required": ["a", "b"],
            "additionalProperties": false,
            "$defs": { "Number": { "type": "number", "maximum": 1000 } },
        }));
        let mut tools = vec![
            Tool::new("add", "Adds two numbers", numbers).with_raw_output_schema(Arc::new(sum)),
            tool("sayIt", "Echoes a text", json!({ "text": { "type": "string", "description": "The text", "maxLength": 1000 } })),
            tool("say-it", "Has the same name in snake case as another tool", json!({})),
            tool("picture", "Returns an image", json!({})),
            tool("several", "Returns several content blocks", json!({})),
            tool("fail", "Fails", json!({})),
            tool("reject", "Returns a protocol error", json!({})),
            tool("wait", "Never responds", json!({})),
            tool("crash", "Crashes the server", json!({})),
            tool("crash_once", "Crashes the server the first time", json!({})).with_annotations(ToolAnnotations::new().read_only(true)),
            tool("grow", "Adds a tool", json!({})),
            tool("environment", "Returns the names of all environment variables", json!({})),
            tool("authorization", "Returns the authorization header", json!({})),
        ];
        if self.has_new_tool.load(Ordering::SeqCst) {
            tools.push(tool("grown", "Is added by grow", json!({})));
        }
        tools
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build())
            .with_server_info(Implementation::new("upstream", "1").with_title("A server upstream"))
    }

    async fn list_tools(&self, _: Option<PaginatedRequestParams>, _: RequestContext<RoleServer>) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools()))
    }

    async fn call_tool(&self, request: CallToolRequestParams, context: RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let number = |name: &str| arguments[name].as_f64().unwrap_or_default();
        let text = |text: &str| CallToolResult::success(vec![ContentBlock::text(text)]);
        Ok(match &*request.name {
            "add" => CallToolResult::structured(json!({ "sum": number("a") + number("b") })),
            "sayIt" => text(arguments["text"].as_str().unwrap_or("nothing")),
            "say-it" => text("the other one"),
            "picture" => CallToolResult::success(vec![ContentBlock::image("AAEC", "image/png")]),
            "several" => {
                let link = ContentBlock::resource_link(Resource::new("https://example.com/a", "a"));
                CallToolResult::success(vec![ContentBlock::text("one"), link])
            }
            "fail" => CallToolResult::error(vec![ContentBlock::text("it does not work"), ContentBlock::text("at all")]),
            "reject" => return Err(ErrorData::invalid_params("not like this", None)),
            "wait" => {
                fs::write(marker("waiting"), "").expect("the marker file is written");
                context.ct.cancelled().await;
                fs::write(marker("cancelled"), "").expect("the marker file is written");
                text("too late")
            }
            "crash" => std::process::abort(),
            "crash_once" => {
                if !marker("crashed").exists() {
                    fs::write(marker("crashed"), "").expect("the marker file is written");
                    std::process::abort();
                }
                text("this time it is fine")
            }
            "grow" => {
                self.has_new_tool.store(true, Ordering::SeqCst);
                let _ = context.peer.notify_tool_list_changed().await;
                text("there is more now")
            }
            "grown" => text("here it is"),
            "environment" => {
                let mut names: Vec<String> = std::env::vars().map(|(name, _)| name).collect();
                names.sort();
                CallToolResult::structured(json!({ "names": names, "given": std::env::var("GIVEN").ok() }))
            }
            "authorization" => {
                let parts = context.extensions.get::<http::request::Parts>();
                let received = parts.and_then(|parts| parts.headers.get("authorization")).and_then(|value| value.to_str().ok());
                fs::write(marker("authorization"), received.unwrap_or_default()).expect("the marker file is written");
                CallToolResult::structured(json!({ "received": received }))
            }
            _ => return Err(ErrorData::invalid_params("there is no such tool", None)),
        }
        .into())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    if std::env::args().nth(1).as_deref() == Some("--raw") {
        return raw::serve();
    }
    if std::env::args().nth(1).as_deref() != Some("--http") {
        let running = Server::default().serve(stdio()).await.expect("a client");
        running.waiting().await.expect("the server ends");
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    writeln!(std::io::stdout(), "{}", listener.local_addr().expect("an address")).expect("standard output is open");
    let server = Server::default();
    let service = StreamableHttpService::new(move || Ok(server.clone()), Arc::<LocalSessionManager>::default(), Default::default());
    let router = Router::new().fallback_service(service);
    while let Ok((stream, _)) = listener.accept().await {
        let service = TowerToHyperService::new(router.clone());
        tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}
