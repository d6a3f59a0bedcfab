//! Tasks about concurrent calls, errors of the API, retries, large ids and bytes.

use super::{by_id, counts, text, units};
use crate::first_try::{
    api::quote,
    data::{PICTURE, Store, cents, cpu_load, log_lines},
    expected::{Expected, Finished, error, result, success},
};
use serde_json::{Value, json};
use std::{collections::BTreeMap, fs};

pub fn all(store: &Store) -> Vec<(&'static str, Expected)> {
    let (orders, customers) = (&store.orders, &store.customers);
    let name = |id: u64| text(by_id(customers, id), "name");
    let batch: i64 = (1010..=1029).map(|id| cents(&by_id(orders, id)["total"])).sum();
    let shipped: Vec<Value> = orders
        .iter()
        .filter(|order| order["status"] == "shipped")
        .take(3)
        .map(|order| json!({ "id": order["id"], "carrier": "DHL", "eta": order["shipped_at"] }))
        .collect();
    let mut levels = BTreeMap::<&str, usize>::new();
    for (_, level, _, _) in log_lines("2026-02-03") {
        *levels.entry(level).or_default() += 1;
    }
    let load: Vec<f64> = cpu_load().into_iter().flatten().collect();
    let peak = load.iter().copied().fold(f64::MIN, f64::max);
    let missing_status = json!(["Pat O'Brien, Jr.", "missing (404)", "Marie Curie", "missing (404)", name(7)]);
    let weekdays = counts(orders.iter(), |order| weekday(text(order, "created_at")).to_owned());
    vec![
        ("batch_total", result(json!({ "count": 20, "sum": units(batch) }))),
        ("batch_with_missing", result(missing_status)),
        (
            "batch_failed_count",
            result(
                json!({ "total": 4, "found": ["KB-101", "LC-001"], "failed": 2, "messages": ["product XX-000 does not exist", "product YY-111 does not exist"] }),
            ),
        ),
        ("customer_exists", result(json!(false))),
        ("error_message_of_body", result(order_changes(store)).state("order 1001", |store| store.orders[0]["status"] == "shipped")),
        ("error_match_method", result(json!([name(1), name(2)]))),
        ("error_string_match", result(json!([200, 404]))),
        ("error_concat_log", result(json!({ "ok": false, "has_status": true, "has_name": true }))),
        ("validation_fields", result(json!({ "status": 422, "problems": ["quantity: must be at least 1"] }))),
        ("retry_after", result(json!({ "price": quote("ACME"), "attempts": 3 }))),
        ("retry_header", result(json!({ "symbol": "INIT", "price": quote("INIT"), "tries": 3 }))),
        ("retry_backoff", result(json!(shipped))),
        (
            "response_status",
            result(json!([
                { "id": 22, "status": 200, "name": name(22) }, { "id": 23, "status": 200, "name": name(23) },
                { "id": 24, "status": 404 }, { "id": 25, "status": 404 },
            ])),
        ),
        ("response_header_count", result(json!({ "header": 12, "actual": 12, "same": true }))),
        (
            "ledger_report",
            result(json!({ "1234567890123456789": 100.25, "1234567890123456791": 69.75, "77": 10 })).file("ledger.csv", ledger_csv(store)),
        ),
        ("ledger_lookup", result(json!(["9007199254740995", "9223372036854775806"]))),
        (
            "ledger_transfer",
            result(json!("accepted")).state("exact ids", |store| {
                let sent: Vec<Value> = store.transfers.iter().filter_map(|body| serde_json::from_str(body).ok()).collect();
                sent == [json!({ "from_id": 1_234_567_890_123_456_789_i64, "to_id": 1_234_567_890_123_456_791_i64, "amount": 12.5 })]
            }),
        ),
        ("ledger_known_id", result(json!({ "id": "9007199254740995", "amount": -20.25 }))),
        (
            "cpu_average",
            result(
                json!({ "average": load.iter().sum::<f64>() / load.len() as f64, "gaps": 24 - load.len(), "hours": 24, "region": "none" }),
            ),
        ),
        ("cpu_type_check", result(json!({ "peak": peak, "hour": cpu_load().iter().position(|load| *load == Some(peak)) }))),
        ("cpu_sum_null", error("runtime", &["script:4: ", "arithmetic", "null"])),
        ("download_picture", result(json!(PICTURE.len())).file("downloads/logo.png", PICTURE)),
        ("picture_dimensions", result(json!({ "width": 640, "height": 480 }))),
        (
            "upload_picture",
            result(json!(PICTURE.len())).state("the bytes", |store| store.uploads.get("brand.png").is_some_and(|bytes| bytes == PICTURE)),
        ),
        (
            "upload_buffer",
            result(json!({ "name": "ramp.bin", "size": 256 }))
                .state("the bytes", |store| store.uploads.get("ramp.bin").is_some_and(|bytes| *bytes == (0..=255).collect::<Vec<u8>>())),
        ),
        (
            "attach_picture",
            result(json!(1)).state("the bytes in the part", |store| {
                let contains = |wanted: &[u8]| store.attachments.iter().any(|body| body.windows(wanted.len()).any(|part| part == wanted));
                contains(PICTURE) && contains(b"Brand logo")
            }),
        ),
        ("log_levels", result(json!(levels))),
        ("shipping_delay", result(shipping_delay(store))),
        ("weekday_orders", result(json!(weekdays))),
        ("error_type_table", result(json!([name(5), name(6)]))),
        ("error_message_field", result(json!(true))),
        ("error_in_result", success().check(has_error_in_result)),
        ("error_to_file", result(json!(false)).check(has_logged_error)),
        ("error_headers", result(json!(quote("SLOW")))),
        ("response_header_case", result(json!(12))),
        ("batch_raises", result(json!("failed with status 404"))),
        ("digits_as_id", result(json!(units(cents(&orders[0]["total"]) + cents(&orders[2]["total"]))))),
        (
            "update_phone",
            result(json!(["+46 1", true]))
                .state("phones", |store| store.customers[2]["phone"] == "+46 1" && store.customers[3]["phone"].is_null()),
        ),
        ("uncaught_not_found", error("runtime", &["script:2: store.get_customer: 404 Not Found", "customer 77 does not exist"])),
    ]
}

/// Checks that the result has the error, as its message or as a table with the status.
fn has_error_in_result(finished: &Finished) -> Result<(), String> {
    let result = &finished.outcomes[0]["result"];
    let failed = &result["QQ-777"];
    let error = &failed["error"];
    let is_shown = error["status"] == 404 || error.as_str().is_some_and(|text| text.contains("product QQ-777 does not exist"));
    let is_right = result["KB-101"] == json!({ "ok": true, "name": "Mechanical keyboard" }) && failed["ok"] == false && is_shown;
    if is_right { Ok(()) } else { Err(format!("the result is {result}")) }
}

/// Checks that the log and the file have the message.
fn has_logged_error(finished: &Finished) -> Result<(), String> {
    let written = fs::read_to_string(finished.io.join("delete.log")).map_err(|error| error.to_string())?;
    let printed = finished.outcomes[0]["logs"][0].as_str().unwrap_or_default().to_owned();
    let has_message = |text: &str| text.starts_with("delete failed:") && text.contains("only cancelled orders can be deleted");
    if has_message(&written) && has_message(&printed) { Ok(()) } else { Err(format!("{printed:?}, {written:?}")) }
}

/// Applies the rule of the API: cancelled and refunded orders are final.
fn order_changes(store: &Store) -> Value {
    [1005, 1001]
        .into_iter()
        .map(|id| {
            let status = text(by_id(&store.orders, id), "status");
            let is_final = status == "cancelled" || status == "refunded";
            let report = if is_final { format!("order {id} is {status} and cannot change") } else { "now shipped".to_owned() };
            (id.to_string(), json!(report))
        })
        .collect::<serde_json::Map<_, _>>()
        .into()
}

fn ledger_csv(store: &Store) -> String {
    let row = |entry: &Value| format!("{},{},{:.2}\n", entry["id"], entry["account_id"], entry["amount"].as_f64().unwrap_or_default());
    format!("id,account,amount\n{}", store.ledger.iter().map(row).collect::<String>())
}

/// Days since 1970-01-01 of a date in the Gregorian calendar.
pub fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

fn number(text: &str) -> i64 {
    text.parse().expect("a number")
}

fn days_of(time: &str) -> i64 {
    days(number(&time[..4]), number(&time[5..7]), number(&time[8..10]))
}

fn weekday(time: &str) -> &'static str {
    let names = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"];
    names[days_of(time).rem_euclid(7) as usize]
}

fn shipping_delay(store: &Store) -> Value {
    let minutes = |time: &str| days_of(time) * 1440 + number(&time[11..13]) * 60 + number(&time[14..16]);
    let delays: Vec<i64> =
        store.orders.iter().filter_map(|order| Some(minutes(order["shipped_at"].as_str()?) - minutes(text(order, "created_at")))).collect();
    let average = delays.iter().sum::<i64>() as f64 / 60.0 / delays.len() as f64;
    json!({ "orders": delays.len(), "average_hours": (average * 10.0).round() / 10.0 })
}
