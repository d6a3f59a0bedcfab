//! The servers under load, and the servers that they call.

use crate::{http_load::HttpServer, key_server::KeyServer, stdio_load::StdioServer};
use anyhow::{Result, ensure};
use axum::{Json, Router, extract::Path as PathPart, http::StatusCode, routing::get};
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use serde_json::json;
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};
use tempfile::TempDir;
use tokio::net::TcpListener;

/// Both servers, each in a directory of its own that is removed at the end.
pub struct Servers {
    pub http: Arc<HttpServer>,
    pub stdio: Arc<StdioServer>,
    _directories: [TempDir; 2],
}

/// Short times, so that sessions and tenants end all the time.
const CONFIG: &str = "\
[limits]
fuel = 4_000_000_000
timeout = 5
tenant_per_minute = 1_000_000
[server]
session_idle = 1
tenant_idle = 1
[apis.api]
spec = 'api.json'
allow_private = true
";

impl Servers {
    pub async fn start() -> Result<Self> {
        let (program, upstream) = build()?;
        let api = serve_api().await?;
        let directories = [directory(&api, &upstream)?, directory(&api, &upstream)?];
        let command = |directory: &TempDir| {
            let mut command = Command::new(&program);
            command.current_dir(directory.path());
            command
        };
        let http = HttpServer::start(&mut command(&directories[0]), KeyServer::start().await)?;
        let stdio = StdioServer::start(&mut command(&directories[1])).await?;
        Ok(Self { http: Arc::new(http), stdio, _directories: directories })
    }

    /// Ends both servers, and checks that they exit without an error.
    pub async fn stop(&self) -> Result<()> {
        let (http, stdio) = (Arc::clone(&self.http), Arc::clone(&self.stdio));
        tokio::task::spawn_blocking(move || [http.stop(), stdio.stop()].into_iter().collect()).await?
    }
}

/// Builds the program and the upstream MCP server in the profile of this program, and returns their paths.
fn build() -> Result<(PathBuf, PathBuf)> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "--quiet", "--bin", "toolscript", "--example", "upstream-server"]);
    if !cfg!(debug_assertions) {
        command.arg("--release");
    }
    ensure!(command.current_dir(env!("CARGO_MANIFEST_DIR")).status()?.success(), "building toolscript failed");
    let this = env::current_exe()?;
    let examples = this.parent().unwrap_or(Path::new(""));
    Ok((examples.with_file_name("toolscript"), examples.join("upstream-server")))
}

/// Creates the directory of a server with its configuration.
fn directory(api: &str, upstream: &Path) -> Result<TempDir> {
    let directory = TempDir::new()?;
    let operation = json!({
        "operationId": "getItem",
        "parameters": [{ "name": "id", "in": "path", "required": true, "schema": { "type": "integer" } }],
        "responses": { "200": { "description": "An item", "content": { "application/json": { "schema": { "type": "object" } } } } },
    });
    let specification = json!({
        "openapi": "3.0.3",
        "info": { "title": "Items", "version": "1" },
        "servers": [{ "url": api }],
        "paths": { "/items/{id}": { "get": operation } },
    });
    fs::write(directory.path().join("api.json"), specification.to_string())?;
    let upstream = format!("[mcp_servers.up]\ncommand = {upstream:?}\nenv = {{ MARKERS = {:?} }}\n", directory.path());
    fs::write(directory.path().join("toolscript.toml"), format!("{CONFIG}{upstream}"))?;
    Ok(directory)
}

/// Serves an API, and returns its URL.
async fn serve_api() -> Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    let item = |PathPart(id): PathPart<u64>| async move {
        let status = if id == 404 { StatusCode::NOT_FOUND } else { StatusCode::OK };
        (status, Json(json!({ "id": id, "name": "a lamp", "labels": ["light", "indoor"] })))
    };
    let router = Router::new().route("/items/{id}", get(item));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let service = TowerToHyperService::new(router.clone());
            tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    });
    Ok(url)
}
