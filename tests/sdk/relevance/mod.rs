//! Plain queries must find the obvious function of a large API.

mod code_host;
mod office;
mod payments;
mod specifications;

use serde_json::Value;
use std::sync::Arc;
use toolscript::sdk::{ApiOptions, Sdk};

/// Queries as a model writes them, each with the functions that are right.
const CODE_HOST: &[(&str, &[&str])] = &[
    ("get repository", &["repos_get"]),
    ("get a repo", &["repos_get"]),
    ("show repository details", &["repos_get"]),
    ("create repository", &["repos_create_for_authenticated_user", "repos_create_in_org"]),
    ("delete repo", &["repos_delete"]),
    ("list my repositories", &["repos_list_for_authenticated_user"]),
    ("create issue", &["issues_create"]),
    ("open a new issue", &["issues_create"]),
    ("list issues of a repository", &["issues_list_for_repo"]),
    ("get issue", &["issues_get"]),
    ("add a comment to an issue", &["issues_create_issue_comment"]),
    ("create pull request", &["pulls_create"]),
    ("merge pull request", &["pulls_merge"]),
    ("list pull requests", &["pulls_list_for_repo"]),
    ("files changed in a pull request", &["pulls_list_pull_request_files"]),
    ("list branches", &["repos_list_branches"]),
    ("latest commits", &["repos_list_commits"]),
    ("get user", &["users_get_by_username", "users_get_authenticated"]),
    ("search code", &["search_code"]),
    ("read a file", &["repos_get_content"]),
    ("create release", &["repos_create_release"]),
    ("cancel workflow run", &["actions_cancel_workflow_run"]),
    ("organization members", &["orgs_list_members"]),
    ("add label to issue", &["issues_create_labels_of_an_issue"]),
];

const PAYMENTS: &[(&str, &[&str])] = &[
    ("create customer", &["post_customers"]),
    ("add a new customer", &["post_customers"]),
    ("list customers", &["get_customers"]),
    ("retrieve a customer", &["get_customers_customer"]),
    ("update customer", &["post_customers_customer"]),
    ("remove customer", &["delete_customers_customer"]),
    ("refund a payment", &["post_refunds", "post_charges_charge_refunds"]),
    ("create a refund", &["post_refunds"]),
    ("charge a card", &["post_charges"]),
    ("list charges", &["get_charges"]),
    ("get balance", &["get_balance"]),
    ("cancel a payment intent", &["post_payment_intents_payment_intent_cancel"]),
    ("create subscription", &["post_subscriptions"]),
    ("list all invoices", &["get_invoices"]),
    ("send invoice", &["post_invoices_invoice_send"]),
    ("create checkout session", &["post_checkout_sessions"]),
    ("close dispute", &["post_disputes_dispute_close"]),
    ("new product", &["post_products"]),
];

const OFFICE: &[(&str, &[&str])] = &[
    ("list users", &["users_user_list_user"]),
    ("get all users", &["users_user_list_user"]),
    ("get user", &["users_user_get_user"]),
    ("create user", &["users_user_create_user"]),
    ("delete a group", &["groups_group_delete_group"]),
    ("list messages of a user", &["users_list_messages"]),
    ("read email messages", &["users_list_messages", "users_get_messages"]),
    ("send mail", &["users_user_send_mail"]),
    ("members of a group", &["groups_list_members"]),
    ("add member to group", &["groups_create_members"]),
    ("list calendar events", &["users_list_events"]),
    ("list channels in a team", &["teams_list_channels"]),
    ("reply to a message", &["users_user_messages_message_reply"]),
    ("find groups", &["groups_group_list_group"]),
];

/// The number of results that a model sees.
const SHOWN: usize = 5;

async fn sdk(name: &str, specification: &Value) -> Arc<Sdk> {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("spec.json");
    std::fs::write(&path, specification.to_string()).expect("the specification is written");
    Arc::new(Sdk::builder().api(name, ApiOptions::new(path.to_string_lossy())).build().await.expect("an SDK"))
}

#[tokio::test]
async fn plain_queries_find_the_obvious_function_of_a_large_api() {
    let mut missed = Vec::new();
    let mut total = 0;
    for (name, specification, queries) in
        [("hub", code_host::code_host(), CODE_HOST), ("pay", payments::payments(), PAYMENTS), ("office", office::office(), OFFICE)]
    {
        let sdk = sdk(name, &specification).await;
        assert!(sdk.sources()[0].functions.len() > 250, "{name} is too small");
        for (query, right) in queries {
            let found: Vec<String> = sdk.search_functions(query).iter().map(|function| function.name.clone()).collect();
            assert!(right.iter().all(|name| sdk.sources()[0].functions.iter().any(|known| known == name)), "{right:?} does not exist");
            total += 1;
            if !found.iter().take(SHOWN).any(|name| right.contains(&name.as_str())) {
                missed.push(format!("{name}: {query}: {:?}", &found[..found.len().min(SHOWN)]));
            }
        }
    }
    assert!(total >= 50 && missed.len() * 20 <= total, "{} of {total} missed:\n{}", missed.len(), missed.join("\n"));
}

#[tokio::test]
async fn an_exact_name_is_first_in_a_large_api() {
    let sdk = sdk("pay", &payments::payments()).await;
    for query in ["post_charges_charge_capture", "PostChargesChargeCapture", "sdk.pay.post_charges_charge_capture"] {
        assert_eq!(sdk.search_functions(query)[0].name, "post_charges_charge_capture", "{query}");
    }
    assert_eq!(sdk.search_functions("create").len(), 20);
}
