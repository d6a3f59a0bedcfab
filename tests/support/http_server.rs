//! The real program as an HTTP server on a free port, and a client that sees every byte of the responses.

pub use super::wire::call;

use super::{
    kill_on_drop::KillOnDrop,
    server_process::{CANARY, TIMEOUT, program, send_signal},
};
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::{ChildStderr, ExitStatus, Stdio},
    time::{Duration, Instant},
};

/// The newest protocol revision, which has no sessions.
pub const NEWEST_VERSION: &str = "2026-07-28";

pub struct HttpServer {
    child: KillOnDrop,
    /// The IP address and the port.
    pub address: String,
    stderr: BufReader<ChildStderr>,
}

/// Waits until a condition is true.
pub async fn wait_for_async(mut condition: impl AsyncFnMut() -> bool) {
    let started = Instant::now();
    while !condition().await {
        assert!(started.elapsed() < TIMEOUT, "the condition stays false");
        tokio::task::yield_now().await;
    }
}

impl HttpServer {
    /// Starts the server in a directory and waits until it listens.
    pub fn start(directory: &Path, arguments: &[&str]) -> Self {
        let mut child = program()
            .args(["serve", "--transport", "http", "--listen", "127.0.0.1:0"])
            .args(arguments)
            .current_dir(directory)
            .env("CANARY", CANARY)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut stderr = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut line = String::new();
        while line.is_empty() || line.starts_with("note: ") {
            line.clear();
            stderr.read_line(&mut line).expect("a line");
        }
        let address = line.strip_prefix("serving MCP on http://").and_then(|rest| rest.split_once("/mcp")).expect(&line).0.to_owned();
        Self { child: KillOnDrop(child), address, stderr }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Waits for the next line of the log.
    pub fn next_log_line(&mut self) -> String {
        let mut line = String::new();
        self.stderr.read_line(&mut line).expect("a line");
        line.trim_end().to_owned()
    }

    pub fn process(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, name: &str) {
        send_signal(self.process(), name);
    }

    /// Waits until the server exits, without blocking the runtime.
    pub async fn wait_for_exit(&mut self) -> ExitStatus {
        let started = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                return status;
            }
            assert!(started.elapsed() < TIMEOUT, "the server does not exit");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Returns a client of the newest protocol revision, without a session.
    pub fn client(&self) -> HttpClient {
        HttpClient { http: Client::new(), url: self.url("/mcp"), version: NEWEST_VERSION.into(), session: None, token: None, last_id: 0 }
    }

    /// Returns a client of an older protocol revision, with a session.
    pub async fn session(&self, version: &str, token: Option<&str>) -> HttpClient {
        let mut client = HttpClient { version: version.into(), token: token.map(Into::into), ..self.client() };
        let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } });
        let response = client.send("initialize", params).await;
        client.session = Some(response.headers()["mcp-session-id"].to_str().expect("a text").to_owned());
        let answer = Answer::of(response).await;
        assert_eq!(answer.last()["result"]["protocolVersion"], version, "{answer:?}");
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(client.post(&initialized).await.status(), StatusCode::ACCEPTED);
        client
    }
}

#[derive(Clone)]
pub struct HttpClient {
    pub http: Client,
    pub url: String,
    pub version: String,
    pub session: Option<String>,
    pub token: Option<String>,
    /// The id of the last request.
    pub last_id: u64,
}

impl HttpClient {
    /// Sets the token.
    pub fn with_token(mut self, token: &str) -> Self {
        self.token = Some(token.into());
        self
    }

    /// Returns a request with the headers that all requests have.
    pub fn request(&self, method: reqwest::Method) -> RequestBuilder {
        let mut request = self.http.request(method, &self.url).header("accept", "application/json, text/event-stream");
        request = request.header("mcp-protocol-version", &self.version);
        if let Some(session) = &self.session {
            request = request.header("mcp-session-id", session);
        }
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        request
    }

    pub async fn post(&self, message: &Value) -> Response {
        let mut request = self.request(reqwest::Method::POST).header("content-type", "application/json");
        if self.version == NEWEST_VERSION {
            request = request.header("mcp-method", message["method"].as_str().unwrap_or_default());
            let params = &message["params"];
            if let Some(name) = params["name"].as_str().or(params["uri"].as_str()) {
                request = request.header("mcp-name", name);
            }
        }
        request.body(message.to_string()).send().await.expect("a response")
    }

    /// Sends a request and returns its response, whose body is not read yet.
    pub async fn send(&mut self, method: &str, mut params: Value) -> Response {
        self.last_id += 1;
        if self.version == NEWEST_VERSION {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(NEWEST_VERSION);
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        }
        self.post(&json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params })).await
    }

    /// Sends a request and reads its whole response.
    pub async fn ask(&mut self, method: &str, params: Value) -> Answer {
        let response = self.send(method, params).await;
        Answer::of(response).await
    }

    /// Runs a script and returns the result of the tool call.
    pub async fn run(&mut self, script: &str) -> Value {
        let answer = self.ask("tools/call", call(script)).await;
        answer.last().get("result").unwrap_or_else(|| panic!("{answer:?}")).clone()
    }

    /// Runs a script that must not fail and returns its result.
    pub async fn result(&mut self, script: &str) -> Value {
        let run = self.run(script).await;
        assert_eq!(run["isError"], false, "{run}");
        run["structuredContent"]["result"].clone()
    }
}

/// The whole response to a request.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub messages: Vec<Value>,
    pub text: String,
}

impl Answer {
    pub async fn of(response: Response) -> Self {
        let status = response.status();
        let text = tokio::time::timeout(TIMEOUT, response.text()).await.expect("in time").expect("a text");
        assert!(!text.contains(CANARY), "{text}");
        let messages = match serde_json::from_str(&text) {
            Ok(message) => vec![message],
            Err(_) => text.lines().filter_map(event).collect(),
        };
        Self { status, messages, text }
    }

    /// Returns the last message: the JSON-RPC response.
    pub fn last(&self) -> &Value {
        self.messages.last().unwrap_or_else(|| panic!("no message: {} {}", self.status, self.text))
    }
}

/// Returns the message in a line of an event stream.
fn event(line: &str) -> Option<Value> {
    line.strip_prefix("data: ").and_then(|data| serde_json::from_str(data).ok())
}

/// An open event stream.
pub struct Events {
    response: Response,
    text: String,
}

impl Events {
    pub fn of(response: Response) -> Self {
        assert_eq!(response.status(), StatusCode::OK);
        Self { response, text: String::new() }
    }

    /// Returns the next message, or `None` at the end of the stream.
    pub async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some((line, rest)) = self.text.split_once('\n') {
                let found = event(line);
                self.text = rest.to_owned();
                if found.is_some() {
                    return found;
                }
                continue;
            }
            let chunk = tokio::time::timeout(TIMEOUT, self.response.chunk()).await.expect("in time").ok().flatten()?;
            self.text.push_str(std::str::from_utf8(&chunk).expect("a text"));
        }
    }
}
