//! The load over HTTP: several tenants with and without sessions, and clients that disconnect.

use crate::{
    cases::{CASES, Report, endless},
    key_server::KeyServer,
    kill_on_drop::KillOnDrop,
};
use anyhow::{Context as _, Result, ensure};
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::TcpStream,
    process::{Command, Stdio},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};
use tokio::task::JoinHandle;

const NEWEST: &str = "2026-07-28";
const WITH_SESSIONS: &str = "2025-11-25";

/// The server, and the authorization server of its tenants.
pub struct HttpServer {
    child: Mutex<KillOnDrop>,
    process: u32,
    address: String,
    keys: KeyServer,
    client: Client,
}

impl HttpServer {
    /// Starts the server, and waits until it listens.
    pub fn start(command: &mut Command, keys: KeyServer) -> Result<Self> {
        command.args(["serve", "--transport", "http", "--listen", "127.0.0.1:0", "--io-dir", "files"]).args(keys.flags());
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        let mut log = BufReader::new(child.stderr.take().context("no log")?);
        let mut line = String::new();
        while !line.starts_with("serving") {
            line.clear();
            ensure!(log.read_line(&mut line)? > 0, "the server does not start");
        }
        // Reads the rest of the log, so that the server never waits.
        thread::spawn(move || log.lines().map_while(Result::ok).for_each(drop));
        let address = line.split_once("http://").and_then(|(_, rest)| rest.split_once('/')).context("no address")?.0.to_owned();
        let process = child.id();
        Ok(Self { child: Mutex::new(KillOnDrop(child)), process, address, keys, client: Client::new() })
    }

    pub fn process(&self) -> u32 {
        self.process
    }

    /// Returns the time of a short call.
    pub async fn probe(&self) -> Result<Duration> {
        let started = Instant::now();
        let call = json!({ "name": "execute_script", "arguments": { "script": "return 1" } });
        let response = self.call("probe", call).await?;
        ensure!(response["result"]["isError"] == false, "unexpected response: {response}");
        Ok(started.elapsed())
    }

    /// Ends the server, and waits until it exits.
    pub fn stop(&self) -> Result<()> {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        Command::new("kill").arg(child.id().to_string()).status()?;
        let status = child.wait()?;
        ensure!(status.success(), "the server over HTTP ended with {status}");
        Ok(())
    }

    /// Returns a request of a tenant. Tokens expire, so each request has a new one.
    fn request(&self, method: Method, subject: &str, version: &str) -> RequestBuilder {
        let request = self.client.request(method, format!("http://{}/mcp", self.address)).bearer_auth(self.keys.token(subject));
        request.header("accept", "application/json, text/event-stream").header("mcp-protocol-version", version)
    }

    /// Sends a request of the newest protocol revision.
    async fn send(&self, subject: &str, method: &str, mut params: Value) -> Result<Response> {
        params["_meta"] = json!({ "io.modelcontextprotocol/protocolVersion": NEWEST, "io.modelcontextprotocol/clientCapabilities": {} });
        let mut request = self.request(Method::POST, subject, NEWEST).header("mcp-method", method);
        if let Some(name) = params["name"].as_str() {
            request = request.header("mcp-name", name);
        }
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        Ok(request.header("content-type", "application/json").body(message.to_string()).send().await?)
    }

    async fn call(&self, subject: &str, params: Value) -> Result<Value> {
        read(self.send(subject, "tools/call", params).await?).await
    }
}

/// Reads a response, and returns its last message.
async fn read(response: Response) -> Result<Value> {
    let status = response.status();
    let text = response.text().await?;
    let last_event = || text.lines().rev().filter_map(|line| line.strip_prefix("data:")).find_map(|data| serde_json::from_str(data).ok());
    serde_json::from_str(&text).ok().or_else(last_event).with_context(|| format!("{status}: {text}"))
}

/// A session of a client with an older protocol revision.
struct Session<'a> {
    server: &'a HttpServer,
    subject: String,
    id: String,
}

impl<'a> Session<'a> {
    async fn open(server: &'a HttpServer, subject: String) -> Result<Self> {
        let client = json!({ "protocolVersion": WITH_SESSIONS, "capabilities": {}, "clientInfo": { "name": "soak", "version": "1" } });
        let mut session = Self { server, subject, id: String::new() };
        let response = session.post(json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": client })).await?;
        session.id = response.headers().get("mcp-session-id").context("no session")?.to_str()?.to_owned();
        read(response).await?;
        session.post(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await?;
        Ok(session)
    }

    fn request(&self, method: Method) -> RequestBuilder {
        let request = self.server.request(method, &self.subject, WITH_SESSIONS);
        if self.id.is_empty() { request } else { request.header("mcp-session-id", &self.id) }
    }

    async fn post(&self, message: Value) -> Result<Response> {
        let request = self.request(Method::POST).header("content-type", "application/json");
        Ok(request.body(message.to_string()).send().await?.error_for_status()?)
    }

    async fn begin(&self, id: u64, method: &str, params: Value) -> Result<Response> {
        self.post(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await
    }

    /// Calls, cancels, listens to notifications, and loses connections.
    async fn use_it(&self) -> Result<()> {
        read(self.begin(1, "resources/subscribe", json!({ "uri": "io:///changed.txt" })).await?).await?;
        let mut notifications = self.request(Method::GET).send().await?;
        let write = json!({ "name": "write_file", "arguments": { "path": "changed.txt", "content": "x", "mode": "overwrite" } });
        read(self.begin(2, "tools/call", write).await?).await?;
        ensure!(notifications.chunk().await?.is_some(), "no notification");
        drop(notifications);
        let endless = self.begin(3, "tools/call", endless()).await?;
        self.post(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 3 } })).await?;
        drop(endless);
        // The response is kept for a client that resumes.
        let call = json!({ "name": "execute_script", "arguments": { "script": "return ('x'):rep(10000)" } });
        drop(self.begin(4, "tools/call", call).await?);
        Ok(())
    }

    async fn end(self) -> Result<()> {
        ensure!(self.request(Method::DELETE).send().await?.status() == StatusCode::NO_CONTENT, "the session does not end");
        Ok(())
    }
}

/// Starts the load.
pub fn start(server: &Arc<HttpServer>, report: &Arc<Report>) -> Vec<JoinHandle<()>> {
    let shared = || (Arc::clone(server), Arc::clone(report));
    let mut tasks: Vec<_> = (0..2).map(|number| tokio::spawn(call(shared(), format!("tenant {number}")))).collect();
    tasks.push(tokio::spawn(repeat(shared(), "session", async |server, number| {
        let session = Session::open(server, format!("session tenant {}", number % 20)).await?;
        session.use_it().await?;
        // Each third session is left to the idle timeout.
        if number % 3 == 0 { Ok(()) } else { session.end().await }
    })));
    tasks.push(tokio::spawn(repeat(shared(), "new tenant", async |server, number| {
        let response = read(server.send(&format!("new tenant {number}"), "tools/list", json!({})).await?).await?;
        ensure!(response["result"]["tools"].is_array(), "no tools: {response}");
        Ok(())
    })));
    tasks.push(tokio::spawn(repeat(shared(), "lost connection", async |server, _| {
        let request = server.call("hasty tenant", endless());
        ensure!(tokio::time::timeout(Duration::from_millis(30), request).await.is_err(), "the script ended");
        let mut connection = TcpStream::connect(&server.address)?;
        connection.write_all(b"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 100\r\n\r\n{")?;
        Ok(())
    })));
    tasks.push(tokio::spawn(repeat(shared(), "listen request", async |server, _| {
        let filter = json!({ "notifications": { "resourcesListChanged": true, "resourceSubscriptions": ["io:///a"] } });
        let mut stream = server.send("listening tenant", "subscriptions/listen", filter).await?;
        ensure!(stream.chunk().await?.is_some(), "no acknowledgement");
        Ok(())
    })));
    tasks
}

async fn call((server, report): (Arc<HttpServer>, Arc<Report>), subject: String) {
    loop {
        for case in CASES {
            report.add(case, server.call(&subject, case.params()).await);
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// Repeats an action with a number, and counts it.
async fn repeat(
    (server, report): (Arc<HttpServer>, Arc<Report>),
    name: &'static str,
    action: impl AsyncFn(&HttpServer, u64) -> Result<()>,
) {
    for number in 0.. {
        report.count(name);
        if let Err(error) = action(&server, number).await {
            report.fail(name, format!("{error:#}"));
        }
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
}
