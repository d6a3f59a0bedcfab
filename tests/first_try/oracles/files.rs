//! Tasks that read and write files: logs, CSV, JSON, binary data, state between calls, modules.

use super::{text, units};
use crate::first_try::{
    data::{PICTURE, Store, cents, log_lines, log_text},
    expected::{Expected, error, result, results},
    files::{ARTICLE, TODO, access, config, readings, sales},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use std::{cmp::Reverse, collections::BTreeMap, fs};

const DAY: &str = "2026-02-03";

pub fn all(store: &Store) -> Vec<(&'static str, Expected)> {
    let log = log_text(DAY);
    let tail: Vec<&str> = log.lines().rev().take(3).collect::<Vec<_>>().into_iter().rev().collect();
    let mut times: Vec<usize> = log_lines(DAY).iter().map(|line| line.3).collect();
    times.sort_unstable();
    let rank = |percent: usize| times[(times.len() * percent).div_ceil(100) - 1];
    let values: Vec<u64> = readings().into_iter().map(u64::from).collect();
    let mut edited = config();
    edited["replicas"] = json!(4);
    let mut by_price: Vec<&Value> = store.products.iter().collect();
    by_price.sort_by_key(|product| cents(&product["price"]));
    let cheapest: Vec<Value> = by_price.iter().take(3).map(|product| json!({ "sku": product["sku"], "price": product["price"] })).collect();
    let prices: Vec<i64> = by_price.iter().map(|product| cents(&product["price"])).collect();
    let mean = units(prices.iter().sum::<i64>()) / prices.len() as f64;
    let ticked = TODO.replace("- [ ] Tag version", "- [x] Tag version");
    let journal = ["01 2026-01-02 entry", "02 2026-01-03 entry", "03 2026-01-04 entry"];
    let names: String = store.products.iter().map(|product| format!("{}\n", text(product, "name"))).collect();
    let ids = |first: u64| (first..first + 10).collect::<Vec<u64>>();
    let header = [b"RIFF", &36u32.to_le_bytes()[..], b"WAVE", &1u16.to_le_bytes(), &2u16.to_le_bytes(), &44_100u16.to_le_bytes()].concat();
    vec![
        ("slow_requests", result(slow_requests())),
        ("latency_percentiles", result(json!({ "p50": rank(50), "p90": rank(90), "p99": rank(99), "count": times.len() }))),
        ("access_log", result(access_report())),
        ("sales_pivot", result(json!("sales.md")).file("sales.md", sales_table())),
        (
            "parse_ini",
            result(json!({
                "server": { "host": "127.0.0.1", "port": 8443 },
                "database": { "url": "postgres://db.internal:5432/app", "pool": 12, "ssl": true },
                "features": { "export": true, "beta": false },
            })),
        ),
        (
            "edit_config",
            result(json!(4)).json_file("data/config.json", edited).check(|finished| {
                let text = fs::read_to_string(finished.io.join("data/config.json")).map_err(|error| error.to_string())?;
                if text.contains("\n  \"replicas\": 4") { Ok(()) } else { Err(format!("not indented: {text}")) }
            }),
        ),
        ("config_defaults", result(json!({ "proxy": "direct", "memory": "256Mi", "cpu": "500m", "ports": 2 }))),
        ("pretty_json", result(json!({ "indented": true, "back": cheapest })).json_file("cheapest.json", json!(cheapest))),
        ("employee_tree", employee_tree()),
        ("todo_overdue", result(json!(["Tag version"])).file("notes/todo.md", ticked)),
        (
            "binary_readings",
            result(
                json!({ "count": values.len(), "min": values.iter().min(), "max": values.iter().max(), "sum": values.iter().sum::<u64>() }),
            ),
        ),
        ("hex_dump", result(json!(hex_dump(&PICTURE[..16])))),
        ("checksum_bit32", result(json!(adler32(ARTICLE.as_bytes())))),
        ("write_binary", result(json!(18)).file("out.bin", header)),
        ("counter_state", results(vec![json!(1), json!(2), json!(3)]).file("counter.txt", "3\n")),
        ("sync_state", results(vec![json!(ids(1001)), json!(ids(1011))]).json_file("state.json", json!({ "last_id": 1020 }))),
        ("open_missing_lua_style", error("runtime", &["script:3: cache.json: No such file or directory", "use io.exists(path) or pcall"])),
        ("open_missing_pcall", result(json!({ "file": "notes/todo.md", "line": "# Release" }))),
        ("rotate_logs", result(json!(["access.log", "app.log", "app.log.1"])).file("logs/app.log", "").file("logs/app.log.1", log.clone())),
        ("atomic_write", result(json!({ "sum": 15, "tmp_exists": false })).file("data/numbers.txt", "1\n2\n3\n4\n5\n")),
        (
            "list_files",
            result(json!([
                "data/config.ini",
                "data/config.json",
                "data/employees.json",
                "data/numbers.txt",
                "data/readings.bin",
                "data/sales.csv",
                "images/logo.png",
                "logs/access.log",
                "logs/app.log",
                "notes/article.txt",
                "notes/todo.md",
            ])),
        ),
        ("module_stats", results(vec![json!("saved"), json!({ "mean": mean, "median": units(prices[5] + prices[6]) / 2.0 })])),
        ("module_nested", result(json!("1234.50 EUR"))),
        ("module_lua_extension", result(json!("HELLO!"))),
        ("forgotten_close", result(json!(names)).file("names.txt", names)),
        ("windows_lines", result(json!([["a", "b"], [1, 2], [3, 4]]))),
        ("append_journal", result(json!(journal)).file("journal.txt", journal.join("\n") + "\n")),
        ("tail_of_file", result(json!(tail))),
        ("read_numbers", result(json!([156.75, 6]))),
        ("word_count", result(json!(frequent_words()))),
        (
            "base64_roundtrip",
            result(json!({ "same": true, "length": STANDARD.encode(PICTURE).len() })).file("logo.b64", STANDARD.encode(PICTURE)),
        ),
        ("remove_temp_files", result(json!(["b.log"]))),
    ]
}

fn slow_requests() -> Value {
    let lines = log_lines(DAY);
    let mut errors = BTreeMap::<&str, usize>::new();
    for (_, _, service, _) in lines.iter().filter(|line| line.1 == "ERROR") {
        *errors.entry(service).or_default() += 1;
    }
    let slowest = lines.iter().map(|line| line.3).max().unwrap_or_default();
    let index = lines.iter().position(|line| line.3 == slowest).unwrap_or_default();
    json!({ "errors": errors, "slowest": slowest, "line": log_text(DAY).lines().nth(index) })
}

fn access_report() -> Value {
    let (mut clients, mut paths, mut errors) = (BTreeMap::<&str, (usize, usize)>::new(), BTreeMap::<&str, usize>::new(), 0);
    for (client, _, _, path, status, bytes) in access() {
        let entry = clients.entry(client).or_default();
        *entry = (entry.0 + 1, entry.1 + bytes);
        *paths.entry(path.split('?').next().unwrap_or_default()).or_default() += 1;
        errors += usize::from(status >= 400);
    }
    let clients: BTreeMap<&str, Value> =
        clients.into_iter().map(|(client, (requests, bytes))| (client, json!({ "requests": requests, "bytes": bytes }))).collect();
    let mut ranking: Vec<(Reverse<usize>, &str)> = paths.into_iter().map(|(path, count)| (Reverse(count), path)).collect();
    ranking.sort_unstable();
    let top: Vec<Value> = ranking.iter().take(3).map(|(count, path)| json!({ "path": path, "count": count.0 })).collect();
    json!({ "clients": clients, "top": top, "error_share": (errors as f64 / access().len() as f64 * 1000.0).round() / 10.0 })
}

fn sales_table() -> String {
    let mut pivot = BTreeMap::<&str, BTreeMap<&str, u32>>::new();
    for (region, month, _, revenue) in sales() {
        *pivot.entry(region).or_default().entry(month).or_default() += revenue;
    }
    let amount = |cents: u32| format!("{}.{:02}", cents / 100, cents % 100);
    let mut table = String::from("| Region | 2026-01 | 2026-02 | 2026-03 | Total |\n|---|---:|---:|---:|---:|\n");
    for (region, months) in pivot {
        let cells: Vec<String> = months.values().map(|cents| amount(*cents)).collect();
        table.push_str(&format!("| {region} | {} | {} |\n", cells.join(" | "), amount(months.values().sum())));
    }
    table
}

fn employee_tree() -> Expected {
    let tree = ["Iris", "  Ben", "    Dan", "    Edda", "  Cleo", "    Finn", "      Gus"];
    result(json!({ "Iris": 33_600, "Ben": 10_400, "Cleo": 9000, "Finn": 4100 })).check(move |finished| {
        let logs = &finished.outcomes[0]["logs"];
        if *logs == json!(tree) { Ok(()) } else { Err(format!("the log is {logs}")) }
    })
}

fn hex_dump(bytes: &[u8]) -> String {
    let hex: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let text: String = bytes.iter().map(|byte| if byte.is_ascii_graphic() || *byte == b' ' { char::from(*byte) } else { '.' }).collect();
    format!("{}  |{text}|", hex.join(" "))
}

fn adler32(bytes: &[u8]) -> String {
    let (a, b) = bytes.iter().fold((1u32, 0u32), |(a, b), byte| ((a + u32::from(*byte)) % 65_521, (b + a + u32::from(*byte)) % 65_521));
    format!("{:08x}", b << 16 | a)
}

fn frequent_words() -> Vec<Value> {
    let lower = ARTICLE.to_lowercase();
    let mut counts = BTreeMap::<&str, usize>::new();
    for word in lower.split(|c: char| !c.is_ascii_alphabetic() && c != '\'').filter(|word| !word.is_empty()) {
        *counts.entry(word).or_default() += 1;
    }
    let mut words: Vec<(Reverse<usize>, &str)> = counts.into_iter().map(|(word, count)| (Reverse(count), word)).collect();
    words.sort_unstable();
    words.iter().take(5).map(|(count, word)| json!([word, count.0])).collect()
}
