//! The data that the servers and files of a trial start with. Scripts change a copy; oracles read the original.

use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A small PNG: the signature, a header chunk of 640 × 480, and bytes that are not UTF-8.
pub const PICTURE: &[u8] = &[
    0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', 0, 0, 0, 13, b'I', b'H', b'D', b'R', 0, 0, 2, 0x80, 0, 0, 1, 0xe0, 8, 6, 0, 0, 0,
    0xff, 0xfe, 0, 0x80, 0xc3,
];

/// The image that the tool `render_chart` returns.
pub const CHART: &[u8] = &[0x89, b'P', b'N', b'G', 0, 0xff, 0x10, 0x80, b'c', b'h', b'a', b'r', b't'];

/// The document that the tool `get_attachment` returns.
pub const DOCUMENT: &[u8] = &[b'%', b'P', b'D', b'F', 0xe2, 0xe3, 0, 1, 2, 0xcf, 0xd3, b'\n'];

/// The state of the servers.
#[derive(Clone)]
pub struct Store {
    pub customers: Vec<Value>,
    pub orders: Vec<Value>,
    pub products: Vec<Value>,
    pub ledger: Vec<Value>,
    pub settings: Value,
    pub tickets: Vec<Value>,
    pub notes: Vec<Value>,
    /// The bodies of transfers, as they were received.
    pub transfers: Vec<String>,
    pub uploads: BTreeMap<String, Vec<u8>>,
    /// The bodies of multipart requests, as they were received.
    pub attachments: Vec<Vec<u8>>,
    /// The number of requests so far, by path.
    pub attempts: BTreeMap<String, usize>,
}

impl Store {
    pub fn new() -> Self {
        let products = products();
        let orders = (0..60).map(|index| order(index, &products)).collect();
        Self {
            customers: (1..=23).map(customer).collect(),
            orders,
            products,
            ledger: ledger(),
            settings: json!({ "theme": "dark", "language": null, "page_size": 25, "beta": { "enabled": false, "since": null } }),
            tickets: tickets(),
            notes: notes(),
            transfers: Vec::new(),
            uploads: BTreeMap::new(),
            attachments: Vec::new(),
            attempts: BTreeMap::new(),
        }
    }
}

const NAMES: [&str; 23] = [
    "Ada Lovelace",
    "Zoë Åberg",
    "Pat O'Brien, Jr.",
    "Kenji Tanaka",
    "Marie Curie",
    "Grace Hopper",
    "Emil \"Emmy\" Novak",
    "Linus Berg",
    "Sofia Rossi",
    "Jürgen Müller",
    "Yuki Sato",
    "Ana Souza",
    "Tom Baker",
    "Ines Dupont",
    "Omar Haddad",
    "Lena Vogel",
    "Paul Martin",
    "Mia Hansen",
    "Noah Klein",
    "Olga Ivanova",
    "Ravi Patel",
    "Chen Wei",
    "Eva Lind",
];
const COUNTRIES: [&str; 5] = ["DE", "SE", "US", "FR", "JP"];
const CITIES: [&str; 6] = ["Berlin", "Göteborg", "Austin", "Lyon", "Osaka", "Hamburg"];
const DOMAINS: [&str; 3] = ["example.com", "mail.test", "corp.example"];
pub const STATUSES: [&str; 5] = ["paid", "shipped", "cancelled", "pending", "refunded"];

fn customer(id: usize) -> Value {
    let user = format!("{}.{id}", NAMES[id - 1].split(' ').next().unwrap_or_default().to_lowercase().replace(|c: char| !c.is_ascii(), "_"));
    json!({
        "id": id,
        "name": NAMES[id - 1],
        "email": format!("{user}@{}", DOMAINS[id % 3]),
        "country": COUNTRIES[id % 5],
        "phone": if id.is_multiple_of(3) { Value::Null } else { json!(format!("+49 30 55501{id:02}")) },
        "vip": id.is_multiple_of(4),
        "created_at": format!("2025-{:02}-{:02}T{:02}:15:00Z", id % 12 + 1, id + 4, id % 24),
        "referrer_id": if id > 10 { json!(id - 10) } else { Value::Null },
        "address": if id.is_multiple_of(7) { Value::Null } else { json!({ "city": CITIES[id % 6], "zip": format!("{:05}", id * 137) }) },
    })
}

fn products() -> Vec<Value> {
    let product = |sku: &str, name: &str, category: &str, cents: u32, stock: u32, tags: &[&str], weight: Option<f64>| json!({ "sku": sku, "name": name, "category": category, "price": f64::from(cents) / 100.0, "stock": stock, "tags": tags, "weight_kg": weight });
    vec![
        product("KB-101", "Mechanical keyboard", "hardware", 8990, 14, &["usb", "office"], Some(0.9)),
        product("MS-204", "Wireless mouse", "hardware", 2495, 3, &["office"], Some(0.12)),
        product("MN-327", "27\" monitor", "hardware", 23900, 0, &[], Some(4.75)),
        product("HD-512", "USB dock", "hardware", 12900, 7, &["usb"], Some(0.35)),
        product("LC-001", "Editor licence", "software", 4900, 999, &["download"], None),
        product("LC-002", "Backup licence", "software", 2900, 999, &["download", "yearly"], None),
        product("BK-010", "Luau handbook", "books", 3450, 2, &["print"], Some(0.8)),
        product("BK-011", "SQL, the good parts", "books", 2795, 25, &["print"], Some(0.6)),
        product("DS-900", "Standing desk", "furniture", 45900, 4, &["office"], Some(32.0)),
        product("CH-910", "Chair", "furniture", 19900, 11, &["office"], Some(14.2)),
        product("CB-050", "Cable 2 m", "accessories", 799, 120, &["usb"], Some(0.05)),
        product("CB-051", "Cable 5 m", "accessories", 1199, 0, &["usb"], Some(0.1)),
    ]
}

fn order(index: usize, products: &[Value]) -> Value {
    let items: Vec<Value> = (0..index % 3 + 1)
        .map(|position| {
            let product = &products[(index * 5 + position * 7) % products.len()];
            json!({ "sku": product["sku"], "quantity": (index + position) % 4 + 1, "unit_price": product["price"] })
        })
        .collect();
    let cents: i64 = items.iter().map(|item| item["quantity"].as_i64().unwrap_or(0) * cents(&item["unit_price"])).sum();
    let status = STATUSES[(index * 3 + index / 7) % 5];
    let (month, day) = (index % 3 + 1, index % 27 + 1);
    json!({
        "id": 1001 + index,
        "customer_id": index * 7 % 23 + 1,
        "status": status,
        "total": cents as f64 / 100.0,
        "currency": "EUR",
        "created_at": format!("2026-{month:02}-{day:02}T{:02}:{:02}:00Z", index % 24, index * 13 % 60),
        "shipped_at": if status == "shipped" { json!(format!("2026-{month:02}-{:02}T08:00:00Z", day + 1)) } else { Value::Null },
        "discount": if index.is_multiple_of(6) { json!(5 + index % 4) } else { Value::Null },
        "note": if index % 8 == 3 { json!(format!("Leave at door {index}, \"ring twice\"")) } else { Value::Null },
        "items": items,
    })
}

/// Returns an amount in hundredths.
pub fn cents(amount: &Value) -> i64 {
    (amount.as_f64().unwrap_or_default() * 100.0).round() as i64
}

fn ledger() -> Vec<Value> {
    let entry =
        |id: i64, account: i64, amount: f64, memo: Option<&str>| json!({ "id": id, "account_id": account, "amount": amount, "memo": memo });
    vec![
        entry(9_007_199_254_740_993, 1_234_567_890_123_456_789, 120.5, Some("opening")),
        entry(9_007_199_254_740_995, 1_234_567_890_123_456_789, -20.25, None),
        entry(9_007_199_254_740_997, 1_234_567_890_123_456_791, 75.0, Some("refund")),
        entry(9_223_372_036_854_775_806, 1_234_567_890_123_456_791, -5.25, None),
        entry(42, 77, 10.0, Some("small ids too")),
    ]
}

fn tickets() -> Vec<Value> {
    let ticket = |id: usize, title: &str, status: &str, priority: &str, assignee: Option<&str>, customer: usize, hours: f64| json!({ "id": id, "title": title, "status": status, "priority": priority, "assignee": assignee, "customer_id": customer, "hours": hours });
    vec![
        ticket(1, "VPN drops every hour", "open", "high", Some("mia"), 4, 3.5),
        ticket(2, "Invoice shows the wrong address", "open", "low", None, 2, 0.5),
        ticket(3, "Password reset mail is missing", "closed", "medium", Some("tom"), 9, 1.0),
        ticket(4, "Monitor flickers", "open", "medium", None, 16, 2.25),
        ticket(5, "Export fails with a 500", "closed", "high", Some("mia"), 4, 6.0),
        ticket(6, "Add a dark theme", "open", "low", Some("tom"), 21, 0.0),
        ticket(7, "Licence key rejected", "pending", "high", None, 11, 1.75),
    ]
}

fn notes() -> Vec<Value> {
    vec![
        json!({ "id": 11, "title": "VPN setup", "body": "Use the new gateway.", "pinned": true, "tags": ["vpn", "network"] }),
        json!({ "id": 12, "title": "Printer", "body": "Third floor only.", "pinned": false, "tags": [] }),
        json!({ "id": 13, "title": "VPN outage 2026-02-03", "body": "Certificate expired.", "pinned": false, "tags": ["vpn"], "resolved_at": null }),
    ]
}

/// CPU load by hour; `None` is a gap in the measurement.
pub fn cpu_load() -> Vec<Option<f64>> {
    (0..24).map(|hour: u32| if hour % 7 == 3 { None } else { Some(f64::from(hour * 17 % 50) + 12.5) }).collect()
}

/// The log of one day as the API returns it: time, level, service, message, milliseconds.
pub fn log_lines(day: &str) -> Vec<(String, &'static str, &'static str, usize)> {
    let (levels, services) = (["INFO", "INFO", "WARN", "INFO", "ERROR", "DEBUG"], ["db", "http", "queue", "auth"]);
    (0..90usize)
        .map(|index| {
            let time = format!("{day}T{:02}:{:02}:{:02}Z", 8 + index / 10, index * 7 % 60, index * 11 % 60);
            (time, levels[index * 5 % 6], services[(index * 3 % 4) ^ (index & 1)], 5 + index * 37 % 400)
        })
        .collect()
}

/// Returns the log as text.
pub fn log_text(day: &str) -> String {
    let line = |(time, level, service, ms): &(String, &str, &str, usize)| format!("{time} [{level}] {service}: request took {ms}ms\n");
    log_lines(day).iter().map(line).collect()
}
