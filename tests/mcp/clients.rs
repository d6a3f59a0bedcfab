//! The server with the rmcp client, in each supported protocol revision.

use crate::support::{http_server::HttpServer, server_process::temp_directory};
use rmcp::{
    ClientHandler, ClientLifecycleMode, ClientServiceExt as _, RoleClient, ServiceExt as _,
    model::{
        CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, Implementation, ProgressNotificationParam,
        ProtocolVersion, ReadResourceRequestParams, SubscriptionFilter,
    },
    service::{NotificationContext, RunningService},
    transport::{ConfigureCommandExt as _, IntoTransport, StreamableHttpClientTransport, TokioChildProcess},
};
use serde_json::json;
use std::path::Path;
use tokio::{
    process::Command,
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
};

/// Forwards progress notifications. rmcp delivers them in separate tasks, which may run after the result arrives.
struct Client {
    version: ProtocolVersion,
    progress: UnboundedSender<f64>,
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(ClientCapabilities::default(), Implementation::new("test", "1")).with_protocol_version(self.version.clone())
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.progress.send(progress.progress).expect("a receiver");
    }
}

/// Starts the program as a stdio server.
fn start_stdio(directory: &Path) -> TokioChildProcess {
    let command = Command::new(env!("CARGO_BIN_EXE_toolscript")).configure(|command| {
        command.arg("serve").current_dir(directory);
    });
    TokioChildProcess::new(command).expect("the server starts")
}

async fn connect<T, E, A>(transport: T, version: ProtocolVersion) -> (RunningService<RoleClient, Client>, UnboundedReceiver<f64>)
where
    T: IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let (sender, progress) = unbounded_channel();
    let client = Client { version: version.clone(), progress: sender };
    let client = if version.has_initialize() {
        client.serve(transport).await.expect("a handshake")
    } else {
        let lifecycle = ClientLifecycleMode::Discover { preferred_versions: vec![version] };
        client.serve_with_lifecycle(transport, lifecycle).await.expect("a discovery")
    };
    (client, progress)
}

async fn execute(client: &RunningService<RoleClient, Client>, script: &str) -> CallToolResult {
    let arguments = rmcp::object!({ "script": script });
    client.call_tool(CallToolRequestParams::new("execute_script").with_arguments(arguments)).await.expect("a result")
}

const REVISIONS: [ProtocolVersion; 3] = [ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2025_11_25, ProtocolVersion::V_2026_07_28];

#[tokio::test]
async fn each_revision_runs_scripts_and_reads_files_over_stdio() {
    for version in REVISIONS {
        let directory = temp_directory();
        let (client, progress) = connect(start_stdio(directory.path()), version.clone()).await;
        check(client, progress, &version).await;
    }
}

#[tokio::test]
async fn each_revision_runs_scripts_and_reads_files_over_http() {
    for version in REVISIONS {
        let directory = temp_directory();
        let server = HttpServer::start(directory.path(), &["--io-dir", "files"]);
        let transport = StreamableHttpClientTransport::from_uri(server.url("/mcp"));
        let (client, progress) = connect(transport, version.clone()).await;
        check(client, progress, &version).await;
    }
}

async fn check(client: RunningService<RoleClient, Client>, mut progress: UnboundedReceiver<f64>, version: &ProtocolVersion) {
    assert_eq!(client.list_all_tools().await.expect("tools")[0].name, "execute_script", "{version}");

    let result = execute(&client, "progress(1) io.open('f.txt', 'w'):write('text'):close() return { 1, 2 }").await;
    assert_eq!(result.is_error, Some(false));
    let files = json!([{ "name": "f.txt", "op": "write", "bytes": 4 }]);
    assert_eq!(result.structured_content, Some(json!({ "result": [1, 2], "logs": [], "files_touched": files })), "{version}");
    assert_eq!(progress.recv().await, Some(1.0), "{version}");

    let failed = execute(&client, "error('x')").await;
    assert_eq!(failed.is_error, Some(true));
    assert_eq!(failed.content[0].as_text().expect("a text").text, "Script execution error: script:1: x");

    let resources = client.list_all_resources().await.expect("resources");
    assert_eq!(resources.iter().map(|resource| resource.uri.as_str()).collect::<Vec<_>>(), ["io:///f.txt"]);
    let contents = client.read_resource(ReadResourceRequestParams::new("io:///f.txt")).await.expect("contents");
    assert_eq!(serde_json::to_value(&contents.contents[0]).expect("JSON")["text"], "text");
    client.cancel().await.expect("the connection closes");
}

#[tokio::test]
async fn the_newest_revision_subscribes_to_changes() {
    let directory = temp_directory();
    let (client, _progress) = connect(start_stdio(directory.path()), ProtocolVersion::V_2026_07_28).await;
    let filter = SubscriptionFilter::builder().resources_list_changed().build();
    let mut changes = client.peer().listen(filter).await.expect("a subscription");
    execute(&client, "io.open('f', 'w'):close()").await;
    let change = changes.next().await.expect("no error");
    assert!(format!("{change:?}").contains("ResourceListChanged"), "{change:?}");
    client.cancel().await.expect("the connection closes");
}
