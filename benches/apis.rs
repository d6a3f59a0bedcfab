//! Functions of an OpenAPI specification: the overhead per call, and the cost of loading a large specification.

use crate::{
    protocol::StdioServer,
    specification::{specification, yaml},
    table::{Row, median},
};
use anyhow::{Context as _, Result, ensure};
use axum::{Json, Router, extract::Path as PathPart, routing::get};
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use serde_json::{Value, json};
use std::{
    fs,
    net::{SocketAddr, TcpListener},
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::{Duration, Instant},
};

/// The names of the rows. They are measured together.
pub const API_ROWS: [&str; 5] = [
    "1,000 API calls from a script vs. reqwest",
    "load an API of 1,000 operations in YAML",
    "load an API of 1,000 operations in JSON",
    "return 1 with an API of 1,000 operations vs. without",
    "look up a function of 1,000 operations vs. return 1",
];

/// Largest ratio of 1,000 calls from a script to the same calls with reqwest.
const CALLS_TARGET: f64 = 1.3;
/// Longest time in milliseconds to load a specification.
const LOAD_TARGET: f64 = 300.0;
/// Largest ratio of a run with an unused API to a run without an API.
const START_TARGET: f64 = 1.2;

const CALLS: u64 = 1000;
const ROUNDS: usize = 15;
const STARTS: usize = 21;
const RUNS: usize = 2000;

const CALL_SCRIPT: &str = "local sum = 0 for id = 1, 1000 do sum += sdk.api.get_item0({ id = id }).id end return sum";
const LOOKUP_SCRIPT: &str = "return type(sdk.api.get_item0)";

/// Measures all rows.
pub async fn api_calls(program: &Path) -> Result<Vec<Row>> {
    let address = serve()?;
    let directory = tempfile::tempdir()?;
    let document = specification(&format!("http://{address}"));
    let files = [directory.path().join("api.yaml"), directory.path().join("api.json")];
    fs::write(&files[0], yaml(&document))?;
    fs::write(&files[1], document.to_string())?;

    let mut rows = vec![compare_with_reqwest(program, &files[0], address).await?];
    rows.extend(load_time(program, directory.path(), &files)?);
    rows.extend(run_overhead(program, &files[0])?);
    Ok(rows)
}

/// Serves one operation of the API, on its own thread so that the load is the same for both clients.
fn serve() -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let item = |PathPart(id): PathPart<u64>| async move {
        Json(json!({ "id": id, "name": "a lamp", "state": "new", "price": 12.5, "labels": ["light", "indoor"], "note": null }))
    };
    let router = Router::new().route("/items0/{id}", get(item));
    thread::spawn(move || {
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            loop {
                let (stream, _) = listener.accept().await?;
                let service = TowerToHyperService::new(router.clone());
                tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service));
            }
            #[expect(unreachable_code, reason = "it declares the type of the block")]
            anyhow::Ok(())
        })
    });
    Ok(address)
}

/// Makes the same sequential requests from a script and with reqwest, alternating.
async fn compare_with_reqwest(program: &Path, file: &Path, address: SocketAddr) -> Result<Row> {
    let mut server = start(program, Some(file))?;
    let client = reqwest::Client::new();
    let (mut script_times, mut request_times) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let started = Instant::now();
        let response = server.run(CALL_SCRIPT)?;
        let script_time = started.elapsed();
        ensure!(response["structuredContent"]["result"] == CALLS * (CALLS + 1) / 2, "unexpected result: {response}");
        let started = Instant::now();
        // Spawned as a task, as in a multi-threaded program.
        tokio::spawn(request(client.clone(), address)).await??;
        let request_time = started.elapsed();
        // The first round is a warm-up: it connects and compiles the schema of the parameter.
        if round > 0 {
            script_times.push(script_time);
            request_times.push(request_time);
        }
    }
    Ok(Row::new(API_ROWS[0], median(script_times) / 1000.0, Some(median(request_times) / 1000.0), Some(CALLS_TARGET), "ms"))
}

async fn request(client: reqwest::Client, address: SocketAddr) -> Result<()> {
    let mut sum = 0;
    for id in 1..=CALLS {
        let bytes = client.get(format!("http://{address}/items0/{id}")).send().await?.error_for_status()?.bytes().await?;
        let item: Value = serde_json::from_slice(&bytes)?;
        sum += item["id"].as_u64().context("an item has no id")?;
    }
    ensure!(sum == CALLS * (CALLS + 1) / 2, "unexpected items");
    Ok(())
}

/// Starts the program over stdio, with or without an API.
fn start(program: &Path, file: Option<&Path>) -> Result<StdioServer> {
    let mut arguments: Vec<String> = ["--max-api-calls", "1000"].map(Into::into).into();
    if let Some(file) = file {
        arguments.extend([format!("api={}", file.display()), "--allow-private".into(), "api".into()]);
    }
    StdioServer::start(program, &arguments)
}

/// Measures by how much a specification prolongs the time from the start of the program to its exit.
fn load_time(program: &Path, directory: &Path, files: &[PathBuf; 2]) -> Result<[Row; 2]> {
    let run = |file: Option<&PathBuf>| {
        let mut command = Command::new(program);
        command.args(["run", "-e", "return 1"]).current_dir(directory);
        if let Some(file) = file {
            command.arg("--api").arg(file);
        }
        let started = Instant::now();
        let output = command.output()?;
        let elapsed = started.elapsed();
        ensure!(output.stdout == b"1\n", "unexpected result: {}", String::from_utf8_lossy(&output.stderr));
        Ok(elapsed)
    };
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..STARTS {
        let without = run(None)?;
        for (file, times) in files.iter().zip(&mut times) {
            times.push(run(Some(file))?.saturating_sub(without));
        }
    }
    let [in_yaml, in_json] = times.map(|times: Vec<Duration>| median(times) / 1000.0);
    Ok([Row::new(API_ROWS[1], in_yaml, None, Some(LOAD_TARGET), "ms"), Row::new(API_ROWS[2], in_json, None, Some(LOAD_TARGET), "ms")])
}

/// Measures the cost of an API for a run that does not use it, and for a run that looks up one of its functions.
fn run_overhead(program: &Path, file: &Path) -> Result<[Row; 2]> {
    let (mut with, mut without) = (start(program, Some(file))?, start(program, None)?);
    let (mut unused, mut lookup, mut without_api) = (Vec::new(), Vec::new(), Vec::new());
    let run = |server: &mut StdioServer, script: &str, expected: Value, times: &mut Vec<Duration>| {
        let started = Instant::now();
        let response = server.run(script)?;
        times.push(started.elapsed());
        ensure!(response["structuredContent"]["result"] == expected, "unexpected result: {response}");
        Ok(())
    };
    for _ in 0..RUNS {
        run(&mut with, "return 1", json!(1), &mut unused)?;
        run(&mut without, "return 1", json!(1), &mut without_api)?;
        run(&mut with, LOOKUP_SCRIPT, json!("function"), &mut lookup)?;
    }
    let unused = median(unused);
    Ok([
        Row::new(API_ROWS[3], unused, Some(median(without_api)), Some(START_TARGET), "µs"),
        Row::new(API_ROWS[4], median(lookup), Some(unused), None, "µs"),
    ])
}
