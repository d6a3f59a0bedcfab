//! The expected outcomes of all tasks, computed from the data of the servers and files.

mod api;
mod batches;
mod desk;
mod files;
mod hints;
mod language;
mod values;

use super::{
    data::{Store, cents},
    expected::Expected,
};
use serde_json::Value;
use std::collections::BTreeMap;

/// Returns the expected outcomes by task.
pub fn all() -> BTreeMap<String, Expected> {
    let store = Store::new();
    let areas = [
        api::all(&store),
        batches::all(&store),
        desk::all(&store),
        files::all(&store),
        hints::all(),
        language::all(&store),
        values::all(&store),
    ];
    areas.into_iter().flatten().map(|(name, expected)| (name.to_owned(), expected)).collect()
}

/// An amount in currency units from hundredths.
fn units(cents: i64) -> f64 {
    cents as f64 / 100.0
}

/// The field of an entry as a string.
fn text<'a>(entry: &'a Value, key: &str) -> &'a str {
    entry[key].as_str().unwrap_or_default()
}

/// Adds up amounts in hundredths by a key.
fn sums<'a>(orders: impl Iterator<Item = &'a Value>, key: impl Fn(&Value) -> String) -> BTreeMap<String, f64> {
    let mut sums = BTreeMap::<String, i64>::new();
    for order in orders {
        *sums.entry(key(order)).or_default() += cents(&order["total"]);
    }
    sums.into_iter().map(|(key, sum)| (key, units(sum))).collect()
}

/// Counts entries by a key.
fn counts<'a>(entries: impl Iterator<Item = &'a Value>, key: impl Fn(&Value) -> String) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for entry in entries {
        *counts.entry(key(entry)).or_default() += 1;
    }
    counts
}

/// Returns the entry with an id.
fn by_id(entries: &[Value], id: u64) -> &Value {
    entries.iter().find(|entry| entry["id"] == id).expect("an entry")
}
