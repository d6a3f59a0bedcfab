//! The prompt `write-script`, and the examples in it.

use crate::support::{api_server::ApiServer, server_process::temp_directory, wire::Wire};
use serde_json::json;

const GUIDE: &str = include_str!("../../docs/for-models.md");

#[test]
fn the_prompt_is_the_page_for_models() {
    let directory = temp_directory();
    let mut wire = Wire::start(directory.path(), &["--no-io"]);
    let description = "How to write a script for execute_script, with two examples";
    let listed = wire.ask("prompts/list", json!({}))["result"]["prompts"].clone();
    assert_eq!(listed, json!([{ "name": "write-script", "title": "Write a script", "description": description }]));
    let prompt = wire.ask("prompts/get", json!({ "name": "write-script" }))["result"].clone();
    assert_eq!(prompt["description"], description);
    assert_eq!(prompt["messages"], json!([{ "role": "user", "content": { "type": "text", "text": GUIDE } }]));
    let unknown = wire.ask("prompts/get", json!({ "name": "other" }))["error"].clone();
    assert_eq!(unknown, json!({ "code": -32602, "message": "Invalid params: `name`: unknown prompt `other`; see prompts/list" }));
    assert_eq!(wire.ask("prompts/get", json!({ "name": 7 }))["error"]["code"], -32602);
    let tokens = GUIDE.chars().count() / 4;
    assert!(tokens <= 1200, "{tokens} tokens");
}

#[test]
fn the_examples_run() {
    let api = ApiServer::start();
    let directory = api.directory("shop", "shop.yaml", "");
    let mut wire = Wire::start(directory.path(), &[]);
    let examples: Vec<&str> = GUIDE.split("```luau\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    let [pages, state] = examples[..] else { panic!("{examples:?}") };
    let outcome = wire.run(pages)["structuredContent"].clone();
    // The amounts are 0.5 to 99.5, 100 times.
    assert_eq!(outcome["result"], json!({ "file": "transactions.csv", "rows": 10_000, "total": 500_000 }), "{outcome}");
    let outcome = wire.run(state)["structuredContent"].clone();
    assert_eq!(outcome["result"], json!({ "added": ["Mia", "(no name)"], "failed": {} }), "{outcome}");
    let outcome = wire.run(state)["structuredContent"].clone();
    assert_eq!(outcome["result"], json!({ "added": [], "failed": {} }), "{outcome}");
}
