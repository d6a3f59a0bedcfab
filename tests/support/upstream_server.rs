//! The MCP server of `upstream/server.rs`, started by the tests.

use crate::support::api_server::folder_with;
use std::{
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};
use tempfile::TempDir;

/// The program, which cargo builds with the tests.
pub fn program() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_toolscript")).with_file_name("examples").join("upstream-server")
}

/// A folder with a configuration that has the server under the name `up`, as a program, and what else is said of it. Its marks are in there.
pub fn folder(more: &str) -> TempDir {
    let folder = folder_with("");
    let config = format!("[mcp_servers.up]\ncommand = {:?}\nenv = {{ MARKS = {:?}, GIVEN = \"given\" }}\n{more}", program(), folder.path());
    std::fs::write(folder.path().join("toolscript.toml"), config).expect("a file");
    folder
}

/// The server over HTTP.
pub struct HttpUpstream {
    child: Child,
    pub url: String,
}

impl HttpUpstream {
    /// Starts it, with its marks in a folder.
    pub fn start(marks: &Path) -> Self {
        let mut child = Command::new(program()).arg("--http").env("MARKS", marks).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut address = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut address).expect("an address");
        Self { child, url: format!("http://{}/", address.trim()) }
    }

    /// A folder with a configuration that has it under the name `up`.
    pub fn folder(&self, more: &str) -> TempDir {
        folder_with(&format!("[mcp_servers.up]\nurl = {:?}\nallow_private = true\n{more}", self.url))
    }
}

impl Drop for HttpUpstream {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
