//! The specification of a payment service.

use super::specifications::{Operation, article, plural, singular, specification};
use serde_json::Value;

/// The resources of the payment service, with their sub-resources and actions.
const PAYMENT_RESOURCES: [(&str, &[&str]); 40] = [
    (
        "customers",
        &["sources", "cards", "bank_accounts", "tax_ids", "balance_transactions", "subscriptions", "payment_methods", "cash_balance"],
    ),
    ("charges", &["capture", "refunds", "dispute"]),
    ("refunds", &["cancel"]),
    ("payment_intents", &["confirm", "cancel", "capture", "increment_authorization"]),
    ("payment_methods", &["attach", "detach"]),
    ("setup_intents", &["confirm", "cancel"]),
    ("invoices", &["finalize", "pay", "send", "void", "lines"]),
    ("invoiceitems", &[]),
    ("subscriptions", &["discount", "resume"]),
    ("subscription_items", &["usage_records"]),
    ("subscription_schedules", &["cancel", "release"]),
    ("products", &["features"]),
    ("prices", &[]),
    ("plans", &[]),
    ("coupons", &[]),
    ("promotion_codes", &[]),
    ("payouts", &["cancel", "reverse"]),
    ("transfers", &["reversals"]),
    ("topups", &["cancel"]),
    ("disputes", &["close"]),
    ("accounts", &["persons", "capabilities", "external_accounts", "reject"]),
    ("checkout/sessions", &["expire", "line_items"]),
    ("payment_links", &["line_items"]),
    ("tax_rates", &[]),
    ("webhook_endpoints", &[]),
    ("events", &[]),
    ("files", &[]),
    ("file_links", &[]),
    ("quotes", &["accept", "cancel", "finalize", "line_items"]),
    ("credit_notes", &["lines", "void"]),
    ("application_fees", &["refunds"]),
    ("issuing/cards", &[]),
    ("issuing/authorizations", &["approve", "decline"]),
    ("terminal/readers", &["cancel_action"]),
    ("terminal/locations", &[]),
    ("reporting/report_runs", &[]),
    ("radar/value_lists", &[]),
    ("shipping_rates", &[]),
    ("billing_portal/configurations", &[]),
    ("apple_pay/domains", &[]),
];

/// Returns `Payment_intents` as `PaymentIntents`.
fn camel(path: &str) -> String {
    let parts = path.split(['/', '_', '-']).filter(|part| !part.is_empty());
    parts.map(|part| part[..1].to_uppercase() + &part[1..]).collect()
}

/// Returns the specification of a payment service. Its operations have identifiers such as `PostCustomersCustomer`, and no tags.
pub fn payments() -> Value {
    let mut all = Vec::new();
    let mut add = |method: &'static str, path: &str, summary: String, description: String| {
        let id = camel(&format!("{method}{}", path.trim_start_matches("/v1").replace(['{', '}'], "")));
        let description = format!(
            "<p>{description} Amounts are in the smallest currency unit. The customer, the charge and the payment must belong to your account.</p>"
        );
        all.push(Operation { method, path: path.into(), id, tag: String::new(), summary, description });
    };
    add("get", "/v1/balance", "Retrieve balance".into(), "Retrieves the current account balance.".into());
    add(
        "get",
        "/v1/balance_transactions",
        "List all balance transactions".into(),
        "Returns a list of transactions that have contributed to the balance.".into(),
    );
    for (resource, parts) in PAYMENT_RESOURCES {
        let (many, one) = (plural(resource), singular(resource));
        let (base, key) = (format!("/v1/{resource}"), singular(resource.rsplit('/').next().unwrap_or_default()).replace(' ', "_"));
        let item = format!("{base}/{{{key}}}");
        let article = article(&one);
        add("get", &base, format!("List all {many}"), format!("Returns a list of your {many}, sorted by creation date."));
        add("post", &base, format!("Create {article} {one}"), format!("Creates a new {one} object."));
        add("get", &item, format!("Retrieve {article} {one}"), format!("Retrieves a {one} object by its identifier."));
        add(
            "post",
            &item,
            format!("Update {article} {one}"),
            format!("Updates the specified {one} by setting the values of the parameters passed."),
        );
        add("delete", &item, format!("Delete {article} {one}"), format!("Permanently deletes a {one}. It cannot be undone."));
        for part in parts {
            let path = format!("{item}/{part}");
            if !part.ends_with('s') {
                let verb = plural(part);
                let verb = verb[..1].to_uppercase() + &verb[1..];
                add("post", &path, format!("{verb} {article} {one}"), format!("{verb} {article} {one} that was created before."));
                continue;
            }
            let (words, word) = (plural(part), singular(part));
            add(
                "get",
                &path,
                format!("List all {words} of {article} {one}"),
                format!("You can see a list of the {words} that belong to a {one}."),
            );
            add(
                "post",
                &path,
                format!("Create a {word} for {article} {one}"),
                format!("When you create a new {word}, you must specify a {one}."),
            );
            add(
                "get",
                &format!("{path}/{{id}}"),
                format!("Retrieve a {word} of {article} {one}"),
                format!("Retrieves a specific {word} stored for a {one}."),
            );
            add(
                "delete",
                &format!("{path}/{{id}}"),
                format!("Delete a {word} of {article} {one}"),
                format!("Deletes a specified {word} for a given {one}."),
            );
        }
    }
    specification("Payments", all)
}
