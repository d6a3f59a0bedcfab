//! The load over stdio: one client with many requests at the same time.

use crate::{
    cases::{CASES, Report, endless},
    kill_on_drop::KillOnDrop,
};
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use std::{
    collections::HashMap,
    io::{BufRead as _, BufReader, Write as _},
    process::{ChildStdin, ChildStdout, Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};
use tokio::{sync::oneshot, task::JoinHandle};

type Pending = Arc<Mutex<HashMap<u64, oneshot::Sender<Value>>>>;

/// The server, and its only client.
pub struct StdioServer {
    child: Mutex<KillOnDrop>,
    process: u32,
    input: Mutex<Option<ChildStdin>>,
    pending: Pending,
    last_id: AtomicU64,
}

impl StdioServer {
    /// Starts the server and initializes the session.
    pub async fn start(command: &mut Command) -> Result<Arc<Self>> {
        let mut child = command.args(["serve"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (input, output) = (child.stdin.take(), child.stdout.take().context("no output")?);
        let pending = Pending::default();
        thread::spawn({
            let pending = Arc::clone(&pending);
            move || read(output, &pending)
        });
        let process = child.id();
        let server = Self { child: Mutex::new(KillOnDrop(child)), process, input: Mutex::new(input), pending, last_id: AtomicU64::new(0) };
        let client = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "soak", "version": "1" } });
        server.request("initialize", client).await?;
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        server.request("logging/setLevel", json!({ "level": "info" })).await?;
        Ok(Arc::new(server))
    }

    pub fn process(&self) -> u32 {
        self.process
    }

    /// Returns the time of a short call.
    pub async fn probe(&self) -> Result<Duration> {
        let started = Instant::now();
        let response = self.request("tools/call", json!({ "name": "execute_script", "arguments": { "script": "return 1" } })).await?;
        ensure!(response["result"]["isError"] == false, "unexpected response: {response}");
        Ok(started.elapsed())
    }

    /// Ends the server, and waits until it exits.
    pub fn stop(&self) -> Result<()> {
        drop(self.input.lock().unwrap_or_else(PoisonError::into_inner).take());
        let status = self.child.lock().unwrap_or_else(PoisonError::into_inner).wait()?;
        ensure!(status.success(), "the server over stdio ended with {status}");
        Ok(())
    }

    fn send(&self, message: &Value) -> Result<()> {
        let mut input = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(writeln!(input.as_mut().context("the server has ended")?, "{message}")?)
    }

    /// Sends a request, and returns its id and the receiver of its response.
    fn begin(&self, method: &str, params: Value) -> Result<(u64, oneshot::Receiver<Value>)> {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let (sender, response) = oneshot::channel();
        self.pending.lock().unwrap_or_else(PoisonError::into_inner).insert(id, sender);
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        Ok((id, response))
    }

    async fn request(&self, method: &str, params: Value) -> Result<Value> {
        let (_, response) = self.begin(method, params)?;
        response.await.context("the server has ended")
    }

    /// Cancels a request, which then has no response.
    fn cancel(&self, id: u64) -> Result<()> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }))
    }
}

/// Passes responses on to their requests, and reads everything else.
fn read(output: ChildStdout, pending: &Pending) {
    for line in BufReader::new(output).lines().map_while(Result::ok) {
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        let id = message["id"].as_u64().unwrap_or_default();
        if let Some(sender) = pending.lock().unwrap_or_else(PoisonError::into_inner).remove(&id) {
            let _ = sender.send(message);
        }
    }
    pending.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

/// Starts the load.
pub fn start(server: &Arc<StdioServer>, report: &Arc<Report>) -> Vec<JoinHandle<()>> {
    let calls = tokio::spawn(call(Arc::clone(server), Arc::clone(report)));
    let cancellations = tokio::spawn(cancel_and_subscribe(Arc::clone(server), Arc::clone(report)));
    vec![calls, cancellations]
}

async fn call(server: Arc<StdioServer>, report: Arc<Report>) {
    loop {
        for case in CASES {
            let mut params = case.params();
            params["_meta"] = json!({ "progressToken": case.name });
            report.add(case, server.request("tools/call", params).await);
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

async fn cancel_and_subscribe(server: Arc<StdioServer>, report: Arc<Report>) {
    for number in 0_u64.. {
        if let Err(error) = cancel_one(&server, number).await {
            report.fail("stdio", format!("{error:#}"));
        }
        report.count("cancelled call");
        report.count("subscription");
    }
}

async fn cancel_one(server: &StdioServer, number: u64) -> Result<()> {
    let (id, response) = server.begin("tools/call", endless())?;
    let uri = json!({ "uri": format!("io:///{number}") });
    for method in ["resources/subscribe", "resources/list", "resources/unsubscribe"] {
        let params = if method == "resources/list" { json!({}) } else { uri.clone() };
        let answer = server.request(method, params).await?;
        ensure!(answer["result"].is_object(), "{method}: {answer}");
    }
    tokio::time::sleep(Duration::from_millis(20)).await;
    server.cancel(id)?;
    drop(response);
    tokio::time::sleep(Duration::from_millis(50)).await;
    Ok(())
}
