//! Functions of an API: what a call costs above the request itself, and what a large specification costs those who start with it.

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

/// All of them are measured together.
pub const APIS: [&str; 5] = [
    "1,000 API calls of a script, beside reqwest alone",
    "API of 1,000 operations in YAML: to load it",
    "API of 1,000 operations in JSON: to load it",
    "return 1 with an API of 1,000 operations, without beside it",
    "sdk looked at with an API of 1,000 operations, return 1 beside it",
];

/// What 1,000 calls may cost, to what they do without a script in between.
const CALLS_TARGET: f64 = 1.3;
/// Milliseconds for a specification to load.
const LOAD_TARGET: f64 = 300.0;
/// What a run may cost with an API that it does not use, to what it does without.
const START_TARGET: f64 = 1.2;

const CALLS: u64 = 1000;
const ROUNDS: usize = 15;
const STARTS: usize = 21;
const RUNS: usize = 2000;

const CALLING: &str = "local sum = 0 for id = 1, 1000 do sum += sdk.api.get_item0({ id = id }).id end return sum";
const LOOKING: &str = "return type(sdk.api.get_item0)";

/// Measures all of it.
pub async fn calls_of_apis(program: &Path) -> Result<Vec<Row>> {
    let address = serve()?;
    let folder = tempfile::tempdir()?;
    let document = specification(&format!("http://{address}"));
    let files = [folder.path().join("api.yaml"), folder.path().join("api.json")];
    fs::write(&files[0], yaml(&document))?;
    fs::write(&files[1], document.to_string())?;

    let mut rows = vec![beside_reqwest(program, &files[0], address).await?];
    rows.extend(to_load(program, folder.path(), &files)?);
    rows.extend(to_start(program, &files[0])?);
    Ok(rows)
}

/// An API of which one operation answers. It has a thread of its own, so that it is the same for whoever calls.
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
            #[expect(unreachable_code, reason = "it says what the block gives")]
            anyhow::Ok(())
        })
    });
    Ok(address)
}

/// The same requests, one after the other: from one script, and from here, in turns.
async fn beside_reqwest(program: &Path, file: &Path, address: SocketAddr) -> Result<Row> {
    let mut server = start(program, Some(file))?;
    let client = reqwest::Client::new();
    let (mut through, mut alone) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let started = Instant::now();
        let answer = server.run(CALLING)?;
        let script_took = started.elapsed();
        ensure!(answer["structuredContent"]["result"] == CALLS * (CALLS + 1) / 2, "another result: {answer}");
        let started = Instant::now();
        // In a task, as requests of a program with several threads are.
        tokio::spawn(request(client.clone(), address)).await??;
        let requests_took = started.elapsed();
        // The first round connects, and compiles the schema of the parameter.
        if round > 0 {
            through.push(script_took);
            alone.push(requests_took);
        }
    }
    Ok(Row::new(APIS[0], median(through) / 1000.0, Some(median(alone) / 1000.0), Some(CALLS_TARGET), "ms"))
}

async fn request(client: reqwest::Client, address: SocketAddr) -> Result<()> {
    let mut sum = 0;
    for id in 1..=CALLS {
        let bytes = client.get(format!("http://{address}/items0/{id}")).send().await?.error_for_status()?.bytes().await?;
        let item: Value = serde_json::from_slice(&bytes)?;
        sum += item["id"].as_u64().context("an item without an id")?;
    }
    ensure!(sum == CALLS * (CALLS + 1) / 2, "other items");
    Ok(())
}

/// The program, serving over pipes, with an API or without.
fn start(program: &Path, file: Option<&Path>) -> Result<StdioServer> {
    let mut arguments: Vec<String> = ["--max-api-calls", "1000"].map(Into::into).into();
    if let Some(file) = file {
        arguments.extend([format!("api={}", file.display()), "--allow-private".into(), "api".into()]);
    }
    StdioServer::start(program, &arguments)
}

/// What a specification adds to the time from the start of the program to its exit.
fn to_load(program: &Path, folder: &Path, files: &[PathBuf; 2]) -> Result<[Row; 2]> {
    let run = |file: Option<&PathBuf>| {
        let mut command = Command::new(program);
        command.args(["run", "-e", "return 1"]).current_dir(folder);
        if let Some(file) = file {
            command.arg("--api").arg(file);
        }
        let started = Instant::now();
        let output = command.output()?;
        let took = started.elapsed();
        ensure!(output.stdout == b"1\n", "another result: {}", String::from_utf8_lossy(&output.stderr));
        Ok(took)
    };
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..STARTS {
        let without = run(None)?;
        for (file, times) in files.iter().zip(&mut times) {
            times.push(run(Some(file))?.saturating_sub(without));
        }
    }
    let [in_yaml, in_json] = times.map(|times: Vec<Duration>| median(times) / 1000.0);
    Ok([Row::new(APIS[1], in_yaml, None, Some(LOAD_TARGET), "ms"), Row::new(APIS[2], in_json, None, Some(LOAD_TARGET), "ms")])
}

/// What an API adds to runs: to one that does not use it, and to one that looks at its functions.
fn to_start(program: &Path, file: &Path) -> Result<[Row; 2]> {
    let (mut with, mut without) = (start(program, Some(file))?, start(program, None)?);
    let (mut idle, mut looking, mut plain) = (Vec::new(), Vec::new(), Vec::new());
    let run = |server: &mut StdioServer, script: &str, expected: Value, times: &mut Vec<Duration>| {
        let started = Instant::now();
        let answer = server.run(script)?;
        times.push(started.elapsed());
        ensure!(answer["structuredContent"]["result"] == expected, "another result: {answer}");
        Ok(())
    };
    for _ in 0..RUNS {
        run(&mut with, "return 1", json!(1), &mut idle)?;
        run(&mut without, "return 1", json!(1), &mut plain)?;
        run(&mut with, LOOKING, json!("function"), &mut looking)?;
    }
    let idle = median(idle);
    Ok([Row::new(APIS[3], idle, Some(median(plain)), Some(START_TARGET), "µs"), Row::new(APIS[4], median(looking), Some(idle), None, "µs")])
}
