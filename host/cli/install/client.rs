//! The MCP clients: the location and the form of their configuration.

use anyhow::{Context as _, Result};
use clap::ValueEnum;
use serde::Serialize;
use std::path::PathBuf;

/// A program that starts MCP servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Client {
    /// Claude Desktop; with --project, Claude Code
    Claude,
    /// Cursor
    Cursor,
    /// Visual Studio Code, in the working directory
    Vscode,
}

/// An entry of a configuration.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub transport: Option<&'static str>,
    pub command: String,
    pub args: Vec<String>,
}

impl Client {
    /// Returns the key of the object that has an entry for each server.
    pub fn section(self) -> &'static str {
        match self {
            Self::Claude | Self::Cursor => "mcpServers",
            Self::Vscode => "servers",
        }
    }

    /// Returns the entry for a command.
    pub fn entry(self, command: String, args: Vec<String>) -> Entry {
        Entry { transport: (self == Self::Vscode).then_some("stdio"), command, args }
    }

    /// Returns the file of the user, or that of the project in the working directory.
    pub fn file(self, project: bool) -> Result<PathBuf> {
        match (self, project) {
            (Self::Claude, true) => Ok(".mcp.json".into()),
            (Self::Claude, false) => Ok(application_data()?.join("Claude").join("claude_desktop_config.json")),
            (Self::Cursor, true) => Ok(PathBuf::from(".cursor").join("mcp.json")),
            (Self::Cursor, false) => Ok(home()?.join(".cursor").join("mcp.json")),
            (Self::Vscode, _) => Ok(PathBuf::from(".vscode").join("mcp.json")),
        }
    }
}

fn home() -> Result<PathBuf> {
    let home = std::env::home_dir().filter(|home| home.is_absolute());
    home.context("there is no home directory; name the file with --path")
}

/// Returns the directory in which applications keep their data.
#[cfg(target_os = "macos")]
fn application_data() -> Result<PathBuf> {
    Ok(home()?.join("Library").join("Application Support"))
}

/// Returns the directory in which applications keep their data.
#[cfg(windows)]
fn application_data() -> Result<PathBuf> {
    let directory = std::env::var_os("APPDATA").map(PathBuf::from).filter(|directory| directory.is_absolute());
    directory.context("the variable APPDATA is not set; name the file with --path")
}

/// Returns the directory in which applications keep their data.
#[cfg(not(any(target_os = "macos", windows)))]
fn application_data() -> Result<PathBuf> {
    let directory = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|directory| directory.is_absolute());
    directory.map_or_else(|| Ok(home()?.join(".config")), Ok)
}
