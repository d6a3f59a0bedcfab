//! Tasks that page through the API, join and write reports.

use super::{by_id, counts, sums, text, units};
use crate::first_try::{
    data::{Store, cents},
    expected::{Expected, result, without_nulls},
};
use serde_json::{Value, json};
use std::{cmp::Reverse, collections::BTreeMap};

pub fn all(store: &Store) -> Vec<(&'static str, Expected)> {
    let (orders, customers, products) = (&store.orders, &store.customers, &store.products);
    let customer_of = |order: &Value| by_id(customers, order["customer_id"].as_u64().unwrap_or_default());
    let is_kept = |order: &&Value| order["status"] != "cancelled" && order["status"] != "refunded";
    let month = |order: &Value| text(order, "created_at")[..7].to_owned();
    let month_revenue = sums(orders.iter().filter(is_kept), month);
    let month_counts = counts(orders.iter().filter(is_kept), month);
    let months: Vec<Value> =
        month_revenue.iter().map(|(month, revenue)| json!({ "month": month, "orders": month_counts[month], "revenue": revenue })).collect();
    let mut emails: Vec<&str> = customers.iter().map(|customer| text(customer, "email")).collect();
    emails.sort_unstable();
    let noted: Vec<&Value> = orders.iter().filter(|order| order["note"].is_string()).map(|order| &order["id"]).collect();
    let notes: BTreeMap<String, &Value> =
        orders.iter().filter(|order| order["note"].is_string()).map(|order| (order["id"].to_string(), &order["note"])).collect();
    let low: Vec<&Value> = products.iter().filter(|product| product["stock"].as_u64() < Some(5)).map(|product| &product["sku"]).collect();
    let vips: Vec<Value> = customers
        .iter()
        .filter(|customer| customer["vip"] == true)
        .map(|customer| {
            let city = customer["address"].get("city").cloned().unwrap_or(json!("unknown"));
            json!({ "name": customer["name"], "phone": customer["phone"].as_str().unwrap_or("n/a"), "city": city })
        })
        .collect();
    let missing = |key: &str| customers.iter().filter(|customer| customer[key].is_null()).count();
    let book_orders = orders.iter().filter(|order| {
        let is_book = |item: &Value| products.iter().any(|product| product["sku"] == item["sku"] && product["category"] == "books");
        customer_of(order)["country"] == "DE" && order["items"].as_array().is_some_and(|items| items.iter().any(is_book))
    });
    let mut referrals = BTreeMap::<&str, Vec<&str>>::new();
    for customer in customers {
        if let Some(referrer) = customer["referrer_id"].as_u64() {
            referrals.entry(text(by_id(customers, referrer), "name")).or_default().push(text(customer, "name"));
        }
    }
    let cancelled = orders.iter().filter(|order| order["status"] == "cancelled").count();
    vec![
        ("orders_total_by_status", result(json!(sums(orders.iter(), |order| text(order, "status").to_owned())))),
        ("orders_by_month", result(json!(months))),
        ("customer_emails", result(json!(23)).file("emails.txt", emails.join("\n") + "\n")),
        ("customers_until_empty", result(json!(counts(customers.iter(), |customer| text(customer, "country").to_owned())))),
        ("top_customers", result(json!(best_customers(store)))),
        ("orders_csv", result(json!({ "rows": 60 })).file("reports/orders.csv", orders_csv(store))),
        ("products_markdown", result(json!(products_report(store).matches('\n').count() + 1)).file("products.md", products_report(store))),
        ("vip_phone_list", result(json!(vips))),
        ("missing_phone_count", result(json!({ "no_phone": missing("phone"), "no_address": missing("address") }))),
        ("restock", result(json!(low)).state("stocks", |store| store.products.iter().all(|product| product["stock"].as_u64() >= Some(5)))),
        ("return_call", result(without_nulls(by_id(orders, 1004)))),
        ("insert_call", result([1001, 1005, 1009].iter().map(|id| without_nulls(by_id(orders, *id))).collect())),
        ("table_of_calls", result(json!({ "count": 3, "cheapest": "Wireless mouse", "most_expensive": "USB dock" }))),
        ("save_json", result(json!("saved")).json_file("customers/12.json", without_nulls(by_id(customers, 12)))),
        ("order_details_per_item", result(json!(book_orders.count()))),
        ("clear_note", result(json!(noted)).state("notes", |store| store.orders.iter().all(|order| order["note"].is_null()))),
        ("csv_export_notes", result(json!(notes))),
        (
            "settings_theme",
            result(json!({ "theme": "light", "page_size": 25, "language": "default" })).state("settings", |store| {
                without_nulls(&store.settings) == json!({ "theme": "light", "page_size": 25, "beta": { "enabled": false } })
            }),
        ),
        ("operation_id_name", result(json!(["Cable 2 m", "Cable 5 m"]))),
        ("short_name", result(json!(459))),
        (
            "create_order",
            result(json!({ "id": 1061, "total": units(2 * 799 + 2795), "status": "pending" }))
                .state("a new order", |store| store.orders.len() == 61 && store.orders[60]["customer_id"] == 8),
        ),
        (
            "delete_cancelled",
            result(json!({ "deleted": cancelled, "remaining": 60 - cancelled }))
                .state("no cancelled orders", |store| store.orders.iter().all(|order| order["status"] != "cancelled")),
        ),
        ("best_sellers", result(json!(best_sellers(store)))),
        (
            "status_parameter_nil",
            result(json!({ "all": 60, "pending": orders.iter().filter(|order| order["status"] == "pending").count() })),
        ),
        ("referrals", result(json!(referrals))),
        ("find_function", result(json!({ "name": "store.set_stock", "documented": true }))),
    ]
}

fn best_customers(store: &Store) -> Vec<Value> {
    let mut spend = BTreeMap::<u64, i64>::new();
    for order in store.orders.iter().filter(|order| order["status"] == "paid" || order["status"] == "shipped") {
        *spend.entry(order["customer_id"].as_u64().unwrap_or_default()).or_default() += cents(&order["total"]);
    }
    let mut rows: Vec<(Reverse<i64>, &str)> =
        spend.into_iter().map(|(id, sum)| (Reverse(sum), text(by_id(&store.customers, id), "name"))).collect();
    rows.sort_unstable();
    rows.iter().take(5).map(|(sum, name)| json!({ "name": name, "total": units(sum.0) })).collect()
}

fn best_sellers(store: &Store) -> Vec<String> {
    let mut rows: Vec<(Reverse<i64>, &str)> = Vec::new();
    for product in &store.products {
        let kept = store.orders.iter().filter(|order| order["status"] != "cancelled");
        let items = kept.flat_map(|order| order["items"].as_array().expect("items")).filter(|item| item["sku"] == product["sku"]);
        rows.push((Reverse(items.map(|item| item["quantity"].as_i64().unwrap_or_default()).sum()), text(product, "name")));
    }
    rows.sort_unstable();
    rows.iter().take(4).map(|(sold, name)| format!("{name}: {}", sold.0)).collect()
}

fn orders_csv(store: &Store) -> String {
    let field = |text: &str| if text.contains([',', '"', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() };
    let mut csv = String::from("id,customer,status,total,discount,note\n");
    for order in &store.orders {
        let customer = by_id(&store.customers, order["customer_id"].as_u64().unwrap_or_default());
        let total = cents(&order["total"]);
        let discount = order["discount"].as_u64().map(|discount| discount.to_string()).unwrap_or_default();
        csv.push_str(&format!(
            "{},{},{},{}.{:02},{discount},{}\n",
            order["id"],
            field(text(customer, "name")),
            text(order, "status"),
            total / 100,
            total % 100,
            field(text(order, "note"))
        ));
    }
    csv
}

fn products_report(store: &Store) -> String {
    let mut categories = BTreeMap::<&str, Vec<&Value>>::new();
    for product in &store.products {
        categories.entry(text(product, "category")).or_default().push(product);
    }
    let mut report = String::from("# Products\n\n");
    for (category, mut products) in categories {
        products.sort_by_key(|product| cents(&product["price"]));
        report.push_str(&format!("## {}{}\n\n| Name | Price | Stock |\n|---|---:|---:|\n", category[..1].to_uppercase(), &category[1..]));
        for product in products {
            let (price, stock) = (cents(&product["price"]), product["stock"].as_u64().unwrap_or_default());
            let stock = if stock == 0 { "sold out".to_owned() } else { stock.to_string() };
            report.push_str(&format!("| {} | {}.{:02} | {stock} |\n", text(product, "name"), price / 100, price % 100));
        }
        report.push('\n');
    }
    report.pop();
    report
}
