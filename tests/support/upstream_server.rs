//! Starts the MCP server in `upstream/main.rs`.

use crate::support::{api_server::directory_with, kill_on_drop::KillOnDrop};
use std::{
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};
use tempfile::TempDir;

/// Returns the path of the program. Cargo builds it with the tests.
pub fn program() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_toolscript")).with_file_name("examples").join("upstream-server")
}

/// Creates a directory with a configuration of the server as the program `up`, and further options. The marker files are in it.
pub fn directory(options: &str) -> TempDir {
    let directory = directory_with("");
    let config =
        format!("[mcp_servers.up]\ncommand = {:?}\nenv = {{ MARKERS = {:?}, GIVEN = \"given\" }}\n{options}", program(), directory.path());
    std::fs::write(directory.path().join("toolscript.toml"), config).expect("the configuration is written");
    directory
}

/// Counts the processes with a path in their environment, such as that of the directory for marker files.
pub fn running_processes(path: &Path) -> usize {
    let path = path.to_string_lossy().into_owned();
    let processes = std::fs::read_dir("/proc").expect("processes").flatten();
    let has_path = |environ: Vec<u8>| String::from_utf8_lossy(&environ).contains(&path);
    processes.filter(|process| std::fs::read(process.path().join("environ")).is_ok_and(has_path)).count()
}

/// The server with the HTTP transport.
pub struct HttpUpstream {
    _child: KillOnDrop,
    pub url: String,
}

impl HttpUpstream {
    /// Starts the server, with its marker files in a directory.
    pub fn start(markers: &Path) -> Self {
        let mut child =
            Command::new(program()).arg("--http").env("MARKERS", markers).stdout(Stdio::piped()).spawn().expect("the server starts");
        let mut address = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut address).expect("an address");
        Self { _child: KillOnDrop(child), url: format!("http://{}/", address.trim()) }
    }

    /// Creates a directory with a configuration of the server at its URL as `up`, and further options.
    pub fn directory(&self, options: &str) -> TempDir {
        directory_with(&format!("[mcp_servers.up]\nurl = {:?}\nallow_private = true\n{options}", self.url))
    }
}
