//! Tasks about the language and its libraries: dates, strings, sorting, classes, errors.

use super::{by_id, text, units};
use crate::first_try::{
    data::{Store, cents},
    expected::{Expected, result},
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub fn all(store: &Store) -> Vec<(&'static str, Expected)> {
    let (orders, customers, products) = (&store.orders, &store.customers, &store.products);
    let mut sorted: Vec<(&str, &str)> = customers.iter().map(|customer| (text(customer, "country"), text(customer, "name"))).collect();
    sorted.sort_unstable();
    let sorted: Vec<String> = sorted.iter().map(|(country, name)| format!("{country} {name}")).collect();
    let letters: Vec<String> = [1001, 1002]
        .iter()
        .map(|id| {
            let order = by_id(orders, *id);
            let customer = by_id(customers, order["customer_id"].as_u64().unwrap_or_default());
            format!("Dear {}, your order {id} is {}.", text(customer, "name"), text(order, "status"))
        })
        .collect();
    let slugs: BTreeMap<&str, String> = products.iter().map(|product| (text(product, "sku"), slug(text(product, "name")))).collect();
    let skus = |in_stock: bool| -> Vec<&Value> {
        let wanted = |product: &&Value| (product["stock"] != 0) == in_stock && product["sku"] != "LC-001";
        products.iter().filter(wanted).map(|product| &product["sku"]).collect()
    };
    let codes: Vec<String> =
        (1001..=1003).map(|id| if by_id(orders, id)["status"] == "paid" { "ok".to_owned() } else { format!("NOT_PAID:{id}") }).collect();
    vec![
        ("days_between", result(json!({ "days": 16, "weekday": "Sun" }))),
        ("iso_weeks", result(json!(["2025-W01", "2026-W01", "2026-W53"]))),
        (
            "iso_timestamp",
            result(json!([
                "1970-01-01T00:00:00Z",
                "01 January 1970",
                "1970-01-01 00:00:00",
                "2026-01-01T00:00:00Z",
                "01 January 2026",
                "2026-01-01 00:00:00",
            ])),
        ),
        ("month_ends", result(json!(["2028-01-31", "2028-02-29", "2028-03-31", "2028-04-30", "2028-05-31", "2028-06-30"]))),
        ("date_table", result(json!({ "year": 2026, "month": 3, "day": 6, "yday": 65 }))),
        ("format_table", result(json!(price_list(products)))),
        ("thousands", result(json!(["1,234,567.89", "950.00"]))),
        ("rep_separator", result(json!("INSERT INTO t VALUES (?, ?, ?, ?)"))),
        ("template", result(json!(letters))),
        ("slugs", result(json!(slugs))),
        ("utf8_lengths", result(json!([{ "length": 9, "initials": "ZÅ" }, { "length": 13, "initials": "JM" }]))),
        ("stable_groups", result(json!(sorted))),
        ("class_style", result(json!(format!("Cart(2 items, {:.2})", units(2 * 8990 + 2495))))),
        ("typed_luau", result(json!({ "available": skus(true), "sold_out": skus(false) }))),
        (
            "varargs",
            result(json!(4)).check(|finished| {
                let logs = &finished.outcomes[0]["logs"];
                if *logs == json!(["a | nil | 3 | nil"]) { Ok(()) } else { Err(format!("the log is {logs}")) }
            }),
        ),
        ("custom_errors", result(json!(codes))),
        ("traceback_handler", result(json!({ "ok": false, "message": "backup failed: disk full" }))),
        ("matrix", result(json!({ "product": [[2, 1], [4, 3]], "transposed": [[2, 4], [1, 3]] }))),
        ("return_nil_and_message", result(json!([null, "there is no Typewriter"]))),
        ("number_parsing", result(json!([31, 42, 1000, 5, 0, 0]))),
        ("progress_report", result(json!(units(products.iter().map(stock_value).sum())))),
        ("integer_math", result(json!([14.29, 14.29, 14.29, 14.29, 14.28, 14.28, 14.28]))),
    ]
}

fn stock_value(product: &Value) -> i64 {
    cents(&product["price"]) * product["stock"].as_i64().unwrap_or_default()
}

fn slug(name: &str) -> String {
    let lower = name.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.join("-")
}

fn price_list(products: &[Value]) -> String {
    let hardware = products.iter().filter(|product| product["category"] == "hardware");
    let line = |product: &Value| {
        let price = cents(&product["price"]);
        format!("{:22} {:>8} {:>5}\n", text(product, "name"), format!("{}.{:02}", price / 100, price % 100), product["stock"].to_string())
    };
    hardware.map(line).collect::<String>() + &"=".repeat(37)
}
