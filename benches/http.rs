//! The MCP server over HTTP, and clients that put load on it.

use crate::kill_on_drop::KillOnDrop;
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

/// The program, serving MCP over HTTP on a free port.
pub struct HttpServer {
    child: KillOnDrop,
    url: String,
}

impl HttpServer {
    /// Starts the program in a directory, and waits until it listens.
    pub fn start(program: &Path, directory: &Path, arguments: &[String]) -> Result<Self> {
        let mut child = Command::new(program)
            .args(["serve", "--transport", "http", "--listen", "127.0.0.1:0"])
            .args(arguments)
            .current_dir(directory)
            .stderr(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(child.stderr.take().context("no output")?).read_line(&mut line)?;
        let url = line.split_whitespace().find(|word| word.starts_with("http://")).with_context(|| line.clone())?;
        Ok(Self { url: url.trim_end_matches(',').into(), child: KillOnDrop(child) })
    }

    /// Returns a client with its own connection.
    pub fn client(&self, token: Option<&str>) -> HttpClient {
        HttpClient { http: reqwest::Client::new(), url: self.url.clone(), token: token.map(Into::into) }
    }

    /// Returns the URL of the MCP endpoint.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the resident memory of the server in KiB.
    pub fn resident_kib(&self) -> Result<f64> {
        resident_kib(&self.child.id().to_string())
    }
}

/// A client that uses the newest protocol version.
#[derive(Clone)]
pub struct HttpClient {
    http: reqwest::Client,
    url: String,
    token: Option<String>,
}

impl HttpClient {
    /// Creates a client for a server that another process started.
    pub fn new(url: &str, token: &str) -> Self {
        Self { http: reqwest::Client::new(), url: url.into(), token: Some(token.into()) }
    }

    /// Runs a script, and returns how long the call took.
    pub async fn call(&self, script: &str) -> Result<Duration> {
        let started = Instant::now();
        let (status, bytes) = self.send("tools/call", json!({ "name": "execute_script", "arguments": { "script": script } })).await?;
        let elapsed = started.elapsed();
        let body: Value = serde_json::from_slice(&bytes).with_context(|| format!("{status}: {}", String::from_utf8_lossy(&bytes)))?;
        ensure!(body["result"]["isError"] == false, "unexpected response: {body}");
        Ok(elapsed)
    }

    /// Sends a request, and returns the status and the body of its response.
    pub async fn send(&self, method: &str, params: Value) -> Result<(reqwest::StatusCode, Vec<u8>)> {
        let response = self.post(method, params).await?;
        let status = response.status();
        Ok((status, response.bytes().await?.into()))
    }

    /// Sends a request, and returns the size of the body of its response, which is not kept.
    pub async fn send_and_discard(&self, method: &str, params: Value) -> Result<usize> {
        let mut response = self.post(method, params).await?;
        let mut size = 0;
        while let Some(chunk) = response.chunk().await? {
            size += chunk.len();
        }
        Ok(size)
    }

    async fn post(&self, method: &str, mut params: Value) -> Result<reqwest::Response> {
        let version = "2026-07-28";
        params["_meta"] = json!({ "io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientCapabilities": {} });
        let name = params["name"].as_str().unwrap_or_default().to_owned();
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let mut request = self.http.post(&self.url).header("content-type", "application/json").body(body);
        for (name, value) in [
            ("accept", "application/json, text/event-stream"),
            ("mcp-protocol-version", version),
            ("mcp-method", method),
            ("mcp-name", &name),
        ]
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        {
            request = request.header(name, value);
        }
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        Ok(request.send().await?)
    }
}

/// Returns the resident memory in KiB of a process, which is a process id or `self`.
pub fn resident_kib(process: &str) -> Result<f64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).context("this part of the benchmark needs Linux")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}

/// Lets each client call in a loop, with a pause after each call. Returns the sorted times of all calls.
pub async fn load(clients: Vec<HttpClient>, pause: Duration, duration: Duration) -> Result<Vec<Duration>> {
    let end = Instant::now() + duration;
    let tasks = clients.into_iter().map(|client| {
        tokio::spawn(async move {
            let mut times = Vec::new();
            while Instant::now() < end {
                times.push(client.call("return 1").await?);
                if !pause.is_zero() {
                    tokio::time::sleep(pause).await;
                }
            }
            anyhow::Ok(times)
        })
    });
    let mut times = Vec::new();
    for task in tasks.collect::<Vec<_>>() {
        times.extend(task.await??);
    }
    times.sort();
    Ok(times)
}
