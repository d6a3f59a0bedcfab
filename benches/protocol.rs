//! The MCP server over stdio.

use crate::kill_on_drop::KillOnDrop;
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{ChildStdin, ChildStdout, Command, Stdio},
};

/// The program, serving MCP over stdio.
pub struct StdioServer {
    _child: KillOnDrop,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last_id: u64,
}

impl StdioServer {
    /// Starts the program and initializes the MCP session.
    pub fn start(program: &Path, arguments: &[String]) -> Result<Self> {
        let mut command = Command::new(program);
        command.args(["serve", "--no-io"]).args(arguments);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = child.stdin.take().context("no input")?;
        let output = BufReader::new(child.stdout.take().context("no output")?);
        let mut server = Self { _child: KillOnDrop(child), input, output, last_id: 0 };
        let client = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "bench", "version": "1" } });
        server.request("initialize", client)?;
        Ok(server)
    }

    /// Runs a script, and returns the result of the tool call.
    pub fn run(&mut self, script: &str) -> Result<Value> {
        self.request("tools/call", json!({ "name": "execute_script", "arguments": { "script": script } }))
    }

    fn request(&mut self, method: &str, params: Value) -> Result<Value> {
        self.last_id += 1;
        writeln!(self.input, "{}", json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params }))?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        let mut response: Value = serde_json::from_str(&line)?;
        ensure!(response["id"] == self.last_id, "unexpected response: {line}");
        Ok(response["result"].take())
    }
}
