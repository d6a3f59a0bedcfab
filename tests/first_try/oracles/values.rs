//! Tasks about JSON, null, large integers, and results that JSON can't represent.

use super::{by_id, text, units};
use crate::first_try::{
    data::{PICTURE, Store, cents},
    expected::{Expected, Finished, result, same, success},
};
use serde_json::{Value, json};
use std::fs;

/// The number of bytes that a model may read of logs and result together, with some room for the envelope.
const MAX_RESPONSE: usize = 64 << 10;

pub fn all(store: &Store) -> Vec<(&'static str, Expected)> {
    let paid: Vec<i64> =
        store.orders.iter().take(25).filter(|order| order["status"] == "paid").map(|order| cents(&order["total"])).collect();
    let average = units(paid.iter().sum()) / paid.len() as f64;
    let labels: Vec<String> = store
        .customers
        .iter()
        .take(10)
        .map(|customer| String::from_utf8_lossy(&text(customer, "name").as_bytes()[..3]).into_owned())
        .collect();
    let order = by_id(&store.orders, 1002);
    let item = order["items"][0].clone();
    vec![
        ("average_of_nothing", result(json!({ "paid": average, "returned": null })).check(|finished| is_flagged(finished, "returned"))),
        ("best_of_nothing", result(json!({ "best": null, "count": 0 })).check(|finished| is_flagged(finished, "best"))),
        ("shorten_names", result(json!(labels)).check(|finished| is_flagged(finished, "2"))),
        (
            "read_all_bytes_into_result",
            result(json!({ "size": PICTURE.len(), "content": "\u{fffd}PNG" })).check(|finished| is_flagged(finished, "content")),
        ),
        (
            "print_table",
            result(json!(order["items"].as_array().map(Vec::len))).check(move |finished| {
                let logs = &finished.outcomes[0]["logs"];
                let printed: Value =
                    serde_json::from_str(logs[0].as_str().unwrap_or_default()).map_err(|error| format!("{error}: {logs}"))?;
                if same(&printed, &item) && logs[1] == "numbers\t[1,2,3]" { Ok(()) } else { Err(format!("the log is {logs}")) }
            }),
        ),
        ("json_array_nulls", result(json!({ "length": 4, "sum": 4 }))),
        ("json_null_fields", result(json!({ "name": "a", "size": 5, "color": "red" }))),
        ("json_big_integer", result(json!("1849230482305982465")).check(has_exact_id)),
        ("empty_collections", result(json!({ "orders": [], "settings": {} }))),
        ("big_loop_report", success().check(is_bounded)),
    ]
}

/// Checks that the outcome names the value that was replaced.
fn is_flagged(finished: &Finished, path: &str) -> Result<(), String> {
    let outcome = &finished.outcomes[0];
    let flags = [&outcome["replaced"], &outcome["truncated"]];
    if flags.iter().any(|flag| flag.to_string().contains(path)) {
        Ok(())
    } else {
        Err(format!("the replacement is not flagged: {outcome}"))
    }
}

/// Checks that the file has the id with all digits, as a number or as a string.
fn has_exact_id(finished: &Finished) -> Result<(), String> {
    let text = fs::read_to_string(finished.io.join("message.json")).map_err(|error| error.to_string())?;
    let message: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let id = &message["tweet_id"];
    let is_exact = *id == json!(1_849_230_482_305_982_465_i64) || *id == "1849230482305982465";
    if is_exact && message["user"] == 12 && message["seen"] == true { Ok(()) } else { Err(format!("message.json has {text}")) }
}

/// Checks that the response is short and that the whole output is in files.
fn is_bounded(finished: &Finished) -> Result<(), String> {
    if finished.response_size > MAX_RESPONSE {
        return Err(format!("the response has {} bytes", finished.response_size));
    }
    let directory = fs::read_dir(finished.io.join("outputs")).map_err(|error| format!("outputs: {error}"))?;
    let texts: Vec<String> = directory.flatten().filter_map(|entry| fs::read_to_string(entry.path()).ok()).collect();
    let wanted = [format!("measurement 01500: {}", 1500 * 7919 % 10_007), "\"index\":1500".to_owned()];
    match wanted.iter().find(|wanted| !texts.iter().any(|text| text.contains(*wanted))) {
        Some(missing) => Err(format!("no output has {missing}")),
        None => Ok(()),
    }
}
