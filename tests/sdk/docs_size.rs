//! Documentation that is too large for the context of a model.

use crate::support::{api_server::directory_with, wire::Wire};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Creates a directory with an API of 300 operations. Each returns a chain of 60 types, and one has a long description.
fn directory(options: &str) -> TempDir {
    let field = |number: usize| json!({ "type": "string", "description": format!("Field {number} of this type") });
    let schema = |number: usize| {
        let mut properties: serde_json::Map<String, Value> = (0..8).map(|at| (format!("field_{at}"), field(at))).collect();
        properties.insert("next".into(), json!({ "$ref": format!("#/components/schemas/T{:02}", number + 1) }));
        (format!("T{number:02}"), json!({ "type": "object", "properties": properties }))
    };
    let schemas: serde_json::Map<String, Value> = (0..60).map(schema).collect();
    let content =
        |name: &str| json!({ "content": { "application/json": { "schema": { "$ref": format!("#/components/schemas/{name}") } } } });
    let operation = |number: usize| {
        let summary = format!("Does the thing number {number}, which is described with a few words");
        let description = if number == 299 { "word ".repeat(3000) } else { String::new() };
        let operation = json!({ "operationId": format!("op{number:03}"), "summary": summary, "description": description, "tags": [format!("tag{number:03}")],
            "requestBody": content("T00"), "responses": { "200": content("T00") } });
        (format!("/p{number}"), json!({ "post": operation }))
    };
    let paths: serde_json::Map<String, Value> = (0..300).map(operation).collect();
    let spec = json!({ "openapi": "3.1.0", "info": { "title": "Big", "version": "1" }, "servers": [{ "url": "https://big.example" }],
        "paths": paths, "components": { "schemas": schemas } });
    let directory = directory_with(&format!("[apis.big]\nspec = \"big.json\"\n{options}"));
    std::fs::write(directory.path().join("big.json"), spec.to_string()).expect("the specification is written");
    directory
}

fn text(wire: &mut Wire, name: &str, arguments: Value) -> String {
    let result = wire.ask("tools/call", json!({ "name": name, "arguments": arguments }))["result"].clone();
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}")).to_owned()
}

#[test]
fn the_documentation_of_a_function_names_the_types_that_do_not_fit() {
    let directory = directory("");
    let mut wire = Wire::start(directory.path(), &[]);
    let docs = text(&mut wire, "get_function_docs", json!({ "name": "big.op000" }));
    assert!(docs.len() <= 6 << 10 && docs.len() > 5 << 10, "{}", docs.len());
    assert!(docs.starts_with("sdk.big.op000(body: BigT00?): BigT00\nPOST /p0\n"), "{docs}");
    assert!(docs.contains("\n    field_0: string?, -- Field 0 of this type\n"), "{docs}");
    let note = docs.lines().last().expect("a line");
    let first = note.strip_prefix("(the types ").and_then(|note| note.split(',').next()).unwrap_or_else(|| panic!("{note}")).to_owned();
    assert!(note.contains(" more are not shown; ask for one by its name)"), "{note}");
    // A type is documented by its name, as a script reads it.
    let docs = text(&mut wire, "get_function_docs", json!({ "name": first }));
    assert!(docs.starts_with(&format!("export type {first} = {{\n    field_0: string?, -- Field 0")) && docs.len() <= 6 << 10, "{docs}");
    // A script gets the whole.
    let script = "local all = sdk.docs('big.op000') return all:find('export type BigT59 = ', 1, true) ~= nil, #all < 48 * 1024";
    assert_eq!(wire.run(script)["structuredContent"]["result"], json!([true, true]));
}

#[test]
fn a_long_description_is_truncated_with_advice() {
    let directory = directory("");
    let mut wire = Wire::start(directory.path(), &[]);
    let docs = text(&mut wire, "get_function_docs", json!({ "name": "big.op299" }));
    assert!(docs.len() <= 6 << 10, "{}", docs.len());
    let advice = "\n(truncated; sdk.docs(\"big.op299\") in a script returns the whole text)\n\n(the types BigT00, ";
    assert!(docs.contains(advice), "{docs}");
}

#[test]
fn lists_of_functions_show_what_fits_and_count_the_rest() {
    let directory = directory("[limits]\ninline = 1000\n");
    let mut wire = Wire::start(directory.path(), &[]);
    let listed = text(&mut wire, "list_functions", json!({}));
    let lines: Vec<&str> = listed.lines().collect();
    assert_eq!(lines.len(), 11, "{listed}");
    assert_eq!(lines[0], "sdk.big.op000  Does the thing number 0, which is described with a few words");
    assert_eq!(lines[10], "(290 more; give an api or a tag, or use search_docs)");
    assert_eq!(text(&mut wire, "list_functions", json!({ "tag": "tag007" })).lines().count(), 1);
    let overview = text(&mut wire, "get_function_docs", json!({ "name": "big" }));
    assert!(overview.len() <= 1000 && overview.ends_with("\n(truncated; use search_docs or sdk.search to find functions)"), "{overview}");
    let apis = text(&mut wire, "list_apis", json!({}));
    assert!(apis.starts_with("sdk.big: Big 1 (300 functions); tags: tag000, tag001, ") && apis.ends_with("tag049 and 250 more"), "{apis}");
}

#[test]
fn without_a_limit_the_documentation_is_complete() {
    let directory = directory("[limits]\ninline = 0\n");
    let mut wire = Wire::start(directory.path(), &[]);
    let docs = text(&mut wire, "get_function_docs", json!({ "name": "big.op000" }));
    assert!(docs.contains("export type BigT59 = ") && docs.len() > 6 << 10, "{docs}");
    assert_eq!(text(&mut wire, "list_functions", json!({})).lines().last(), Some("(100 more; give an api or a tag, or use search_docs)"));
}
