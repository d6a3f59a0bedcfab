//! The latency of ten tenants beside one that makes the server work: with large responses, searches and subscriptions.

use crate::{
    http::{HttpClient, HttpServer, load},
    key_server::KeyServer,
    kill_on_drop::KillOnDrop,
    specification::specification,
    table::{Row, median},
};
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

/// The names of the rows: p50 and p99 for each attack.
pub const ATTACK_ROWS: [[&str; 2]; 3] = [
    ["ten tenants beside one with 15 MB responses vs. without: p50", "ten tenants beside one with 15 MB responses vs. without: p99"],
    ["ten tenants beside one that searches vs. without: p50", "ten tenants beside one that searches vs. without: p99"],
    ["ten tenants beside one that subscribes vs. without: p50", "ten tenants beside one that subscribes vs. without: p99"],
];

const CONFIG: &str = "\
[limits]
inline = 0
result = 16777216
response = 33554432
memory = 268435456
tenant_per_minute = 100000
[apis.warehouse]
spec = 'warehouse.json'
";

/// The number of requests that the hostile tenant makes at the same time.
const HOSTILE_REQUESTS: usize = 16;

/// Measures the rows of one attack. `attacker` is the program that calls [`run_attack`], in a process of its own with the lowest priority:
/// the cost of receiving the responses is not a cost of the server.
pub async fn attack(program: &Path, attacker: &Path, number: usize) -> Result<[Row; 2]> {
    let keys = KeyServer::start().await;
    let directory = tempfile::tempdir()?;
    fs::write(directory.path().join("toolscript.toml"), CONFIG)?;
    fs::write(directory.path().join("warehouse.json"), specification("https://warehouse.example").to_string())?;
    let mut flags = keys.flags();
    flags.extend(["--io-dir".into(), "files".into()]);
    let server = HttpServer::start(program, directory.path(), &flags)?;
    let clients: Vec<_> = (0..10).map(|number| server.client(Some(&keys.token(&format!("tenant {number}"))))).collect();
    let (pause, duration) = (Duration::from_millis(20), Duration::from_secs(8));
    load(clients.clone(), pause, Duration::from_secs(2)).await?;
    let undisturbed = load(clients.clone(), pause, duration).await?;
    let mut hostile = Command::new("nice")
        .args(["-n", "19"])
        .arg(attacker)
        .args([server.url(), &keys.token("hostile"), &number.to_string()])
        .stdout(Stdio::piped())
        .spawn()?;
    let mut line = String::new();
    BufReader::new(hostile.stdout.take().context("no output")?).read_line(&mut line)?;
    let _hostile = KillOnDrop(hostile);
    ensure!(line == STARTED, "the attack failed: {line}");
    let disturbed = load(clients, pause, duration).await?;
    let p99 = |times: &[Duration]| times[times.len() * 99 / 100].as_secs_f64() * 1e6;
    let [p50_name, p99_name] = ATTACK_ROWS[number];
    Ok([
        Row::new(p99_name, p99(&disturbed), Some(p99(&undisturbed)), Some(5.0), "µs"),
        Row::new(p50_name, median(disturbed), Some(median(undisturbed)), Some(2.0), "µs"),
    ])
}

/// The line that an attacker prints when the first request of the attack has succeeded.
const STARTED: &str = "started\n";

/// Attacks a server for ever.
pub async fn run_attack(url: &str, token: &str, number: usize) -> Result<()> {
    let client = HttpClient::new(url, token);
    let minimum = [15_000_000, 500, 0][number];
    let size = request(&client, number).await?;
    ensure!(size >= minimum, "a response has {size} bytes");
    print!("{STARTED}");
    let loops = (0..HOSTILE_REQUESTS).map(|_| {
        let client = client.clone();
        tokio::spawn(async move {
            loop {
                // It may be rejected.
                let _ = request(&client, number).await;
            }
        })
    });
    for endless in loops.collect::<Vec<_>>() {
        endless.await?;
    }
    Ok(())
}

/// Makes one request of an attack. Returns the size of its response.
async fn request(client: &HttpClient, number: usize) -> Result<usize> {
    let tool = |name: &str, arguments: Value| json!({ "name": name, "arguments": arguments });
    match number {
        0 => client.send_and_discard("tools/call", tool("execute_script", json!({ "script": "return string.rep('\"', 7 * 2^19)" }))).await,
        1 => {
            client
                .send_and_discard("tools/call", tool("search_docs", json!({ "query": "change sold items of the shelf ".repeat(100) })))
                .await
        }
        _ => {
            let uris: Vec<String> = (0..1000).map(|number| format!("io:///{}{number:04}", "directory/".repeat(20))).collect();
            let params = json!({ "notifications": { "resourceSubscriptions": uris } });
            // The response is an endless stream.
            let _ = tokio::time::timeout(Duration::from_millis(50), client.send("subscriptions/listen", params)).await;
            Ok(0)
        }
    }
}
