//! A client that speaks JSON-RPC over the pipes of the real program, line by line, and sees everything that comes back.

use serde_json::{Value, json};
use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, channel},
    },
    time::Duration,
};

/// Long enough for a machine that is busy with other tests.
const PATIENCE: Duration = Duration::from_secs(60);

/// The program, serving over its standard streams.
pub struct Wire {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    reading: Arc<Mutex<()>>,
    last_id: u64,
    /// What came before the answer that was asked for.
    pub notifications: Vec<Value>,
}

impl Wire {
    /// Starts it in a folder, and shakes hands by an older revision.
    pub fn start(folder: &Path, arguments: &[&str]) -> Self {
        let mut wire = Self::start_silently(folder, arguments);
        let client = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } });
        let answer = wire.ask("initialize", client);
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
        wire.notify("notifications/initialized", json!({}));
        wire
    }

    /// Starts it and says nothing.
    pub fn start_silently(folder: &Path, arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_toolscript"))
            .arg("serve")
            .args(arguments)
            .current_dir(folder)
            .env("TOOLSCRIPT_LOG", "trace")
            .env("CANARY", "sings-in-the-mine")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let (sender, lines) = channel();
        let reading = Arc::new(Mutex::new(()));
        let gate = Arc::clone(&reading);
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
                drop(gate.lock());
            }
        });
        let input = child.stdin.take();
        Self { child, input, lines, reading, last_id: 0, notifications: Vec::new() }
    }

    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// While it is held, at most one more line is read from the pipe.
    pub fn gate(&self) -> Arc<Mutex<()>> {
        Arc::clone(&self.reading)
    }

    /// Sends bytes as they are.
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

    /// Sends a request and does not wait; its id.
    pub fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.last_id += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params }));
        self.last_id
    }

    /// Sends a request and waits for its answer.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.answer(id)
    }

    /// Waits for the answer to a request; what comes before it is kept.
    pub fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.next().expect("an answer");
            if message["id"] == id {
                return message;
            }
            self.notifications.push(message);
        }
    }

    /// The next message, or nothing if the output has ended. Every line is a JSON-RPC message, or the test fails.
    pub fn next(&mut self) -> Option<Value> {
        let line = match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => line,
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => return None,
            Err(error) => panic!("no message: {error}"),
        };
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        assert!(!line.contains("sings-in-the-mine"), "{line}");
        Some(message)
    }

    /// Runs a script; the result of the tool call.
    pub fn run(&mut self, script: &str) -> Value {
        let answer = self.ask("tools/call", call(script));
        answer.get("result").unwrap_or_else(|| panic!("{answer}")).clone()
    }

    /// Ends the input.
    pub fn close(&mut self) {
        self.input = None;
    }

    /// Waits for the end without reading what is said.
    pub fn wait(&mut self) -> ExitStatus {
        self.child.wait().expect("it ends")
    }

    /// Waits for the end; how it ended, and what was still said.
    pub fn finish(mut self) -> (ExitStatus, Vec<Value>) {
        let mut rest = Vec::new();
        while let Some(message) = self.next() {
            rest.push(message);
        }
        (self.child.wait().expect("it ends"), rest)
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        // A test that failed must not leave it running.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The parameters of a call of the tool.
pub fn call(script: &str) -> Value {
    json!({ "name": "execute_script", "arguments": { "script": script } })
}
