//! The HTTP API of a trial, as `store.yaml` describes it.

use super::data::{PICTURE, Store, cents, cpu_load, log_text};
use axum::{
    body::to_bytes,
    extract::{Request, State},
    http::{Method, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

/// The state that the servers of a trial share.
pub type Shared = Arc<Mutex<Store>>;

pub async fn respond(State(shared): State<Shared>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, 8 << 20).await.expect("a body");
    let query: BTreeMap<String, String> =
        url::form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes()).into_owned().collect();
    let mut store = shared.lock().expect("a lock");
    let path = parts.uri.path().trim_start_matches("/v1").to_owned();
    let attempts = store.attempts.entry(path.clone()).or_default();
    *attempts += 1;
    let attempt = *attempts;
    let segments: Vec<&str> = path.trim_matches('/').split('/').collect();
    let sent = || serde_json::from_slice::<Value>(&body).unwrap_or_default();
    match (&parts.method, segments.as_slice()) {
        (&Method::GET, ["customers"]) => customers(&store, &query),
        (method, ["customers", id]) => match position(&store.customers, "id", id) {
            None => failure(404, "not_found", &format!("customer {id} does not exist"), json!({})),
            Some(index) => changed(&mut store.customers[index], (method == Method::PATCH).then(sent)),
        },
        (&Method::GET, ["orders"]) => orders(&store, &query),
        (&Method::POST, ["orders"]) => create_order(&mut store, &sent()),
        (method, ["orders", id]) => match position(&store.orders, "id", id) {
            None => failure(404, "not_found", &format!("order {id} does not exist"), json!({})),
            Some(index) if method == Method::DELETE => delete_order(&mut store, index),
            Some(index) => update_order(&mut store.orders[index], (method == Method::PATCH).then(sent)),
        },
        (&Method::GET, ["orders", id, "shipment"]) => shipment(&store, id, attempt),
        (&Method::GET, ["products"]) => {
            let wanted = |product: &&Value| query.get("category").is_none_or(|category| product["category"] == *category);
            let found: Vec<&Value> = store.products.iter().filter(wanted).collect();
            ([("x-total-count", found.len().to_string())], answer(200, &json!(found))).into_response()
        }
        (method, ["products", sku] | ["products", sku, "stock"]) => match position(&store.products, "sku", sku) {
            None => failure(404, "not_found", &format!("product {sku} does not exist"), json!({})),
            Some(index) => changed(&mut store.products[index], (method == Method::PUT).then(sent)),
        },
        (&Method::GET, ["quotes", symbol]) if attempt <= 2 => {
            let limited = failure(429, "rate_limited", &format!("too many requests for {symbol}"), json!({}));
            ([(header::RETRY_AFTER, "1")], limited).into_response()
        }
        (&Method::GET, ["quotes", symbol]) => answer(200, &json!({ "symbol": symbol, "price": quote(symbol) })),
        (&Method::GET, ["ledger", "entries"]) => answer(200, &json!(store.ledger)),
        (&Method::GET, ["ledger", "entries", id]) => match position(&store.ledger, "id", id) {
            None => failure(404, "not_found", &format!("entry {id} does not exist"), json!({})),
            Some(index) => answer(200, &store.ledger[index]),
        },
        (&Method::POST, ["ledger", "transfers"]) => {
            store.transfers.push(String::from_utf8_lossy(&body).into_owned());
            answer(201, &json!({ "status": "accepted" }))
        }
        (&Method::GET, ["metrics", "cpu"]) => answer(200, &json!({ "host": "web-1", "region": null, "values": cpu_load() })),
        (&Method::GET, ["files", "logo.png"]) => ([(header::CONTENT_TYPE, "application/octet-stream")], PICTURE).into_response(),
        (&Method::PUT, ["files", name]) => {
            store.uploads.insert((*name).to_owned(), body.to_vec());
            answer(200, &json!({ "name": name, "size": body.len() }))
        }
        (&Method::POST, ["attachments"]) => {
            store.attachments.push(body.to_vec());
            answer(201, &json!({ "id": store.attachments.len() }))
        }
        (&Method::GET, ["logs", day]) => ([(header::CONTENT_TYPE, "text/plain")], log_text(day)).into_response(),
        (&Method::GET, ["exports", "orders.csv"]) => ([(header::CONTENT_TYPE, "text/csv")], export(&store)).into_response(),
        (&Method::GET, ["settings"]) => answer(200, &store.settings),
        (&Method::PUT, ["settings"]) => {
            store.settings = sent();
            answer(200, &store.settings)
        }
        _ => failure(404, "not_found", "there is nothing at this path", json!({})),
    }
}

/// The price of a symbol, from its letters.
pub fn quote(symbol: &str) -> f64 {
    symbol.bytes().map(f64::from).sum::<f64>() / 4.0
}

fn answer(status: u16, value: &Value) -> Response {
    let status = StatusCode::from_u16(status).expect("a status");
    (status, [(header::CONTENT_TYPE, "application/json"), (header::HeaderName::from_static("x-request-id"), "req-7f3a")], value.to_string())
        .into_response()
}

fn failure(status: u16, code: &str, message: &str, fields: Value) -> Response {
    answer(status, &json!({ "error": { "code": code, "message": message, "fields": fields } }))
}

fn position(list: &[Value], key: &str, wanted: &str) -> Option<usize> {
    list.iter().position(|entry| entry[key].as_str().map_or_else(|| entry[key].to_string(), str::to_owned) == wanted)
}

/// Applies the fields of a body, and responds with the result.
fn changed(entry: &mut Value, body: Option<Value>) -> Response {
    for (key, value) in body.iter().filter_map(Value::as_object).flatten() {
        entry[key] = value.clone();
    }
    answer(200, entry)
}

fn customers(store: &Store, query: &BTreeMap<String, String>) -> Response {
    let number = |name: &str, default: usize| query.get(name).and_then(|text| text.parse().ok()).unwrap_or(default);
    let (page, size) = (number("page", 1), number("perPage", 10));
    let items: Vec<&Value> = store.customers.iter().skip((page - 1) * size).take(size).collect();
    let total = store.customers.len();
    answer(200, &json!({ "items": items, "page": page, "total_pages": total.div_ceil(size), "total": total }))
}

fn orders(store: &Store, query: &BTreeMap<String, String>) -> Response {
    let limit = query.get("limit").and_then(|text| text.parse().ok()).unwrap_or(20);
    let after: u64 = query.get("cursor").and_then(|cursor| cursor.strip_prefix("after_")?.parse().ok()).unwrap_or(0);
    let wanted = |order: &&Value| order["id"].as_u64() > Some(after) && query.get("status").is_none_or(|status| order["status"] == *status);
    let found: Vec<&Value> = store.orders.iter().filter(wanted).collect();
    let data = &found[..limit.min(found.len())];
    let next = (found.len() > limit).then(|| format!("after_{}", data[limit - 1]["id"]));
    answer(200, &json!({ "data": data, "next_cursor": next }))
}

fn create_order(store: &mut Store, body: &Value) -> Response {
    let items = body["items"].as_array().cloned().unwrap_or_default();
    if items.is_empty() {
        return failure(422, "invalid", "the order is invalid", json!({ "items": "must not be empty" }));
    }
    let mut total = 0;
    let mut priced = Vec::new();
    for item in items {
        let (sku, quantity) = (item["sku"].as_str().unwrap_or_default(), item["quantity"].as_i64().unwrap_or(0));
        let Some(index) = position(&store.products, "sku", sku) else {
            return failure(422, "invalid", "the order is invalid", json!({ "sku": format!("{sku} is unknown") }));
        };
        if quantity < 1 {
            return failure(422, "invalid", "the order is invalid", json!({ "quantity": "must be at least 1" }));
        }
        let price = &store.products[index]["price"];
        total += quantity * cents(price);
        priced.push(json!({ "sku": sku, "quantity": quantity, "unit_price": price }));
    }
    let order = json!({
        "id": 1001 + store.orders.len(),
        "customer_id": body["customer_id"],
        "status": "pending",
        "total": total as f64 / 100.0,
        "currency": "EUR",
        "created_at": "2026-03-31T12:00:00Z",
        "shipped_at": null,
        "discount": null,
        "note": body["note"],
        "items": priced,
    });
    store.orders.push(order.clone());
    answer(201, &order)
}

fn update_order(order: &mut Value, body: Option<Value>) -> Response {
    let is_final = order["status"] == "refunded" || order["status"] == "cancelled";
    if is_final && body.as_ref().is_some_and(|body| body.get("status").is_some()) {
        let message = format!("order {} is {} and cannot change", order["id"], order["status"].as_str().unwrap_or_default());
        return failure(409, "conflict", &message, json!({}));
    }
    changed(order, body)
}

fn delete_order(store: &mut Store, index: usize) -> Response {
    if store.orders[index]["status"] != "cancelled" {
        return failure(409, "conflict", "only cancelled orders can be deleted", json!({}));
    }
    store.orders.remove(index);
    StatusCode::NO_CONTENT.into_response()
}

fn shipment(store: &Store, id: &str, attempt: usize) -> Response {
    if attempt == 1 {
        return (StatusCode::SERVICE_UNAVAILABLE, "carrier unavailable").into_response();
    }
    match position(&store.orders, "id", id).map(|index| &store.orders[index]) {
        Some(order) if order["status"] == "shipped" => {
            answer(200, &json!({ "order_id": order["id"], "carrier": "DHL", "eta": order["shipped_at"] }))
        }
        _ => failure(404, "not_found", &format!("order {id} has no shipment"), json!({})),
    }
}

fn export(store: &Store) -> String {
    let mut text = String::from("id,status,total,note\n");
    for order in &store.orders {
        let note = order["note"].as_str().map(|note| format!("\"{}\"", note.replace('"', "\"\""))).unwrap_or_default();
        text.push_str(&format!(
            "{},{},{:.2},{note}\n",
            order["id"],
            order["status"].as_str().unwrap_or_default(),
            cents(&order["total"]) as f64 / 100.0
        ));
    }
    text
}
