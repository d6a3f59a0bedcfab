//! The latency of ten tenants beside one that makes the server work: with large responses, searches and subscriptions.

use crate::{
    http::{HttpClient, HttpServer, load},
    key_server::KeyServer,
    specification::specification,
    table::{Row, median},
};
use anyhow::Result;
use serde_json::{Value, json};
use std::{fs, path::Path, time::Duration};

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
memory = 268435456
tenant_per_minute = 100000
[apis.warehouse]
spec = 'warehouse.json'
";

/// The number of requests that the hostile tenant makes at the same time.
const HOSTILE_REQUESTS: usize = 16;

/// Measures the rows of one attack.
pub async fn attack(program: &Path, number: usize) -> Result<[Row; 2]> {
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
    let hostile = server.client(Some(&keys.token("hostile")));
    let loops: Vec<_> = (0..HOSTILE_REQUESTS)
        .map(|_| {
            let hostile = hostile.clone();
            tokio::spawn(async move {
                loop {
                    request(&hostile, number).await;
                }
            })
        })
        .collect();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let disturbed = load(clients, pause, duration).await?;
    loops.iter().for_each(tokio::task::JoinHandle::abort);
    let p99 = |times: &[Duration]| times[times.len() * 99 / 100].as_secs_f64() * 1e6;
    let [p50_name, p99_name] = ATTACK_ROWS[number];
    Ok([
        Row::new(p99_name, p99(&disturbed), Some(p99(&undisturbed)), Some(5.0), "µs"),
        Row::new(p50_name, median(disturbed), Some(median(undisturbed)), Some(2.0), "µs"),
    ])
}

/// Makes one request of an attack. It may be rejected.
async fn request(client: &HttpClient, number: usize) {
    let tool = |name: &str, arguments: Value| json!({ "name": name, "arguments": arguments });
    let _ = match number {
        0 => client.send("tools/call", tool("execute_script", json!({ "script": "return string.rep('\"', 7 * 2^19)" }))).await,
        1 => client.send("tools/call", tool("search_docs", json!({ "query": "change sold items of the shelf ".repeat(100) }))).await,
        _ => {
            let uris: Vec<String> = (0..1000).map(|number| format!("io:///{}{number:04}", "directory/".repeat(20))).collect();
            let params = json!({ "notifications": { "resourceSubscriptions": uris } });
            // The response is an endless stream.
            let _ = tokio::time::timeout(Duration::from_millis(50), client.send("subscriptions/listen", params)).await;
            return;
        }
    };
}
