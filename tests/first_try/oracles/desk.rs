//! Tasks that use tools of the MCP server.

use super::{by_id, text};
use crate::first_try::{
    data::{CHART, DOCUMENT, Store},
    desk::{forecast, history, tools},
    expected::{Expected, error, result},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub fn all(store: &Store) -> Vec<(&'static str, Expected)> {
    let (tickets, customers) = (&store.tickets, &store.customers);
    let open: Vec<&Value> = tickets.iter().filter(|ticket| ticket["status"] == "open").map(|ticket| &ticket["title"]).collect();
    let mut hours = BTreeMap::<&str, f64>::new();
    for ticket in tickets {
        *hours.entry(ticket["assignee"].as_str().unwrap_or("unassigned")).or_default() += ticket["hours"].as_f64().unwrap_or_default();
    }
    let closed = tickets.iter().filter(|ticket| ticket["status"] == "closed").count();
    let high: Vec<Value> = tickets
        .iter()
        .filter(|ticket| ticket["priority"] == "high")
        .map(|ticket| {
            let customer = by_id(customers, ticket["customer_id"].as_u64().unwrap_or_default());
            json!({ "title": ticket["title"], "customer": customer["name"], "email": customer["email"] })
        })
        .collect();
    let notes: Vec<&Value> = store.notes.iter().filter(|note| note.to_string().contains("vpn")).map(|note| &note["title"]).collect();
    let markdown = format!("# Report\n\n![chart](data:image/png;base64,{})\n", STANDARD.encode(CHART));
    let lines: Vec<String> = history(4).iter().zip(1..).map(|(event, number)| format!("{number}. {event}")).collect();
    let greetings: Vec<String> = customers.iter().take(3).map(|customer| format!("Hello, {}!", text(customer, "name"))).collect();
    let status_of = |store: &Store, ids: &[u64]| ids.iter().all(|id| by_id(&store.tickets, *id)["status"] == "closed");
    let mut names: Vec<String> = tools().into_iter().map(|tool| tool.name.into_owned()).collect();
    names.sort_unstable();
    vec![
        ("tickets_open", result(json!(open))),
        ("tickets_hours", result(json!(hours))),
        ("tickets_share", result(json!(format!("{:.1}%", 100.0 * closed as f64 / tickets.len() as f64)))),
        ("tickets_with_customers", result(json!(high))),
        ("ticket_single", result(json!({ "ticket_2": "nobody", "ticket_3": by_id(tickets, 3)["assignee"] }))),
        ("notes_search", result(json!(notes))),
        ("forecast", result(dry_days(&forecast("Oslo")))),
        ("chart_file", result(json!({ "type": "image/png", "size": CHART.len() })).file("chart.png", CHART)),
        ("chart_in_markdown", result(json!(markdown.len())).file("report.md", markdown)),
        ("attachment_file", result(json!("application/pdf")).file("downloads/manual.pdf", DOCUMENT)),
        ("ticket_history", result(json!(lines.join("\n")))),
        (
            "close_tickets",
            result(json!({ "closed": [1, 2, 4], "problems": ["Ticket 3 is already closed", "Ticket 5 is already closed"] }))
                .state("tickets 1 to 5 are closed", move |store| status_of(store, &[1, 2, 3, 4, 5])),
        ),
        (
            "close_tickets_batch",
            result(json!(["failed: Ticket 3 is already closed", "Ticket 4 closed", "failed: Ticket 99 not found"]))
                .state("ticket 4 is closed", move |store| status_of(store, &[4])),
        ),
        (
            "create_tickets",
            result(json!([8, 9, 10])).state("three tickets", |store| {
                let titles: Vec<&str> = store.tickets[7..].iter().map(|ticket| text(ticket, "title")).collect();
                titles == ["Check VPN", "Order cables", "Call Eva"]
            }),
        ),
        (
            "create_ticket_bad_priority",
            error("check", &["script:2:", "desk.create_ticket: ", "priority", "urgent", "low", "medium", "high"])
                .state("no ticket", |store| store.tickets.len() == 7),
        ),
        ("batch_scalars", result(json!({ "open": 4, "pending": 1, "closed": closed }))),
        ("list_sdk_functions", result(json!(names))),
        ("greet_all", result(json!(greetings))),
    ]
}

fn dry_days(forecast: &Value) -> Value {
    let days = forecast["days"].as_array().expect("days");
    let dry: Vec<&Value> = days.iter().filter(|day| day["rain"].is_null()).map(|day| &day["day"]).collect();
    let average = days.iter().filter_map(|day| day["high"].as_f64()).sum::<f64>() / days.len() as f64;
    json!({ "city": forecast["city"], "dry": dry, "average_high": (average * 10.0).round() / 10.0 })
}
