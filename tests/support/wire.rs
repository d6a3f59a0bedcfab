//! A JSON-RPC client for the real program over standard input and output. It sees every line that the program writes.

use super::{
    kill_on_drop::KillOnDrop,
    server_process::{CANARY, TIMEOUT, program},
};
use serde_json::{Value, json};
use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{ChildStdin, ExitStatus, Stdio},
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, channel},
    },
};

/// A server process and the connection to it.
pub struct Wire {
    child: KillOnDrop,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    read_gate: Arc<Mutex<()>>,
    last_id: u64,
    /// The messages that arrived before the response that was waited for.
    pub notifications: Vec<Value>,
}

impl Wire {
    /// Starts the server in a directory and initializes a session.
    pub fn start(directory: &Path, arguments: &[&str]) -> Self {
        let mut wire = Self::start_silently(directory, arguments);
        let client = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } });
        let answer = wire.ask("initialize", client);
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
        wire.notify("notifications/initialized", json!({}));
        wire
    }

    /// Starts the server and sends nothing.
    pub fn start_silently(directory: &Path, arguments: &[&str]) -> Self {
        let mut child = program()
            .arg("serve")
            .args(arguments)
            .current_dir(directory)
            .env("TOOLSCRIPT_LOG", "trace")
            .env("CANARY", CANARY)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let (sender, lines) = channel();
        let read_gate = Arc::new(Mutex::new(()));
        let gate = Arc::clone(&read_gate);
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
                drop(gate.lock());
            }
        });
        let input = child.stdin.take();
        Self { child: KillOnDrop(child), input, lines, read_gate, last_id: 0, notifications: Vec::new() }
    }

    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Returns a lock. While it is held, at most one more line is read from the pipe.
    pub fn gate(&self) -> Arc<Mutex<()>> {
        Arc::clone(&self.read_gate)
    }

    /// Sends raw bytes.
    pub fn raw(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("not closed yet");
        input.write_all(bytes).and_then(|()| input.flush()).expect("written");
    }

    pub fn send(&mut self, message: &Value) {
        self.raw(format!("{message}\n").as_bytes());
    }

    pub fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request without waiting for its response. Returns its id.
    pub fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.last_id += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params }));
        self.last_id
    }

    /// Sends a request and waits for its response.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.answer(id)
    }

    /// Waits for the response to a request. Keeps the messages that arrive before it.
    pub fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.next().expect("a response");
            if message["id"] == id {
                return message;
            }
            self.notifications.push(message);
        }
    }

    /// Returns the next message, or `None` at the end of the output. Panics if a line is not a JSON-RPC message.
    pub fn next(&mut self) -> Option<Value> {
        let line = match self.lines.recv_timeout(TIMEOUT) {
            Ok(line) => line,
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => return None,
            Err(error) => panic!("no message: {error}"),
        };
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        assert!(!line.contains(CANARY), "{line}");
        Some(message)
    }

    /// Runs a script and returns the result of the tool call.
    pub fn run(&mut self, script: &str) -> Value {
        let answer = self.ask("tools/call", call(script));
        answer.get("result").unwrap_or_else(|| panic!("{answer}")).clone()
    }

    /// Closes the input of the server.
    pub fn close(&mut self) {
        self.input = None;
    }

    /// Waits for the server to exit, without reading its output.
    pub fn wait(&mut self) -> ExitStatus {
        self.child.wait().expect("it exits")
    }

    /// Waits for the server to exit. Returns its status and the remaining messages.
    pub fn finish(mut self) -> (ExitStatus, Vec<Value>) {
        let mut rest = Vec::new();
        while let Some(message) = self.next() {
            rest.push(message);
        }
        (self.child.wait().expect("it exits"), rest)
    }
}

/// Returns the parameters of a call of `execute_script`.
pub fn call(script: &str) -> Value {
    json!({ "name": "execute_script", "arguments": { "script": script } })
}
