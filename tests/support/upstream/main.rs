//! An MCP server for the tests: over standard streams, or with `--http` over HTTP, where it says its address first.
//!
//! What it leaves behind is in the folder that the variable MARKS names.

#![expect(clippy::disallowed_methods, clippy::expect_used, reason = "a program of the tests")]

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
    has_grown: Arc<AtomicBool>,
}

/// A file that tells the test what happened here.
fn mark(name: &str) -> PathBuf {
    PathBuf::from(std::env::var_os("MARKS").expect("a folder for marks")).join(name)
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
            "$defs": { "Number": { "type": "number" } },
        }));
        let mut tools = vec![
            Tool::new("add", "Adds two numbers", numbers).with_raw_output_schema(Arc::new(sum)),
            tool("sayIt", "Says a text again", json!({ "text": { "type": "string" } })),
            tool("say-it", "Has nearly the name of another", json!({})),
            tool("snapshot", "Shows a snapshot", json!({})),
            tool("several", "Gives several contents", json!({})),
            tool("fail", "Fails", json!({})),
            tool("refuse", "Is refused by the protocol", json!({})),
            tool("wait", "Never answers", json!({})),
            tool("crash", "Ends the server", json!({})),
            tool("crash_once", "Ends the server the first time", json!({})).with_annotations(ToolAnnotations::new().read_only(true)),
            tool("grow", "Makes another tool", json!({})),
            tool("environment", "Tells the names of all variables", json!({})),
            tool("authorization", "Tells what it was shown", json!({})),
        ];
        if self.has_grown.load(Ordering::SeqCst) {
            tools.push(tool("grown", "Was not there before", json!({})));
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
            "snapshot" => CallToolResult::success(vec![ContentBlock::image("AAEC", "image/png")]),
            "several" => {
                let link = ContentBlock::resource_link(Resource::new("https://example.com/a", "a"));
                CallToolResult::success(vec![ContentBlock::text("one"), link])
            }
            "fail" => CallToolResult::error(vec![ContentBlock::text("it does not work"), ContentBlock::text("at all")]),
            "refuse" => return Err(ErrorData::invalid_params("not like this", None)),
            "wait" => {
                fs::write(mark("waiting"), "").expect("a mark");
                context.ct.cancelled().await;
                fs::write(mark("cancelled"), "").expect("a mark");
                text("too late")
            }
            "crash" => std::process::abort(),
            "crash_once" => {
                if !mark("crashed").exists() {
                    fs::write(mark("crashed"), "").expect("a mark");
                    std::process::abort();
                }
                text("this time it is fine")
            }
            "grow" => {
                self.has_grown.store(true, Ordering::SeqCst);
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
                let shown = parts.and_then(|parts| parts.headers.get("authorization")).and_then(|value| value.to_str().ok());
                fs::write(mark("authorization"), shown.unwrap_or_default()).expect("a mark");
                CallToolResult::structured(json!({ "shown": shown }))
            }
            _ => return Err(ErrorData::invalid_params("there is no such tool", None)),
        }
        .into())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    if std::env::args().nth(1).as_deref() != Some("--http") {
        let running = Server::default().serve(stdio()).await.expect("a client");
        running.waiting().await.expect("an end");
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    writeln!(std::io::stdout(), "{}", listener.local_addr().expect("an address")).expect("somebody reads");
    let server = Server::default();
    let service = StreamableHttpService::new(move || Ok(server.clone()), Arc::<LocalSessionManager>::default(), Default::default());
    let router = Router::new().fallback_service(service);
    while let Ok((stream, _)) = listener.accept().await {
        let service = TowerToHyperService::new(router.clone());
        tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}
