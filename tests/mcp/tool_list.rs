//! `tools/list`: what a model reads and pays for in every conversation.

use crate::support::{api_server::directory_with, wire::Wire};
use serde_json::{Value, json};
use std::fs;
use tempfile::TempDir;

/// The maximum size of `tools/list` in tokens of four characters, for one API of 20 functions and file tools.
const MAX_TOKENS: usize = 2000;

/// Creates a directory with an API of 20 functions.
fn directory_with_api() -> TempDir {
    let directory = directory_with("[apis.store]\nspec = \"store.json\"\n");
    let mut paths = json!({});
    for thing in ["customer", "invoice", "order", "product"] {
        paths[format!("/{thing}s")] = json!({
            "get": { "operationId": format!("list_{thing}s"), "summary": format!("Lists {thing}s"), "tags": [thing] },
            "post": { "operationId": format!("create_{thing}"), "summary": format!("Creates a {thing}"), "tags": [thing] },
        });
        let parameters = json!([{ "name": "id", "in": "path", "required": true, "schema": { "type": "integer" } }]);
        paths[format!("/{thing}s/{{id}}")] = json!({
            "parameters": parameters,
            "get": { "operationId": format!("get_{thing}"), "summary": format!("Returns a {thing}"), "tags": [thing] },
            "patch": { "operationId": format!("update_{thing}"), "summary": format!("Changes a {thing}"), "tags": [thing] },
            "delete": { "operationId": format!("delete_{thing}"), "summary": format!("Deletes a {thing}"), "tags": [thing] },
        });
    }
    let specification = json!({
        "openapi": "3.1.0",
        "info": { "title": "Store", "version": "1.0.0" },
        "servers": [{ "url": "https://store.example.com" }],
        "paths": paths,
    });
    fs::write(directory.path().join("store.json"), specification.to_string()).expect("the file is written");
    directory
}

fn tools(directory: &TempDir, arguments: &[&str]) -> Value {
    Wire::start(directory.path(), arguments).ask("tools/list", json!({}))["result"].clone()
}

#[test]
fn the_list_of_tools_is_short() {
    let list = tools(&directory_with_api(), &[]);
    assert_eq!(list["tools"].as_array().map(Vec::len), Some(11));
    let tokens = list.to_string().chars().count().div_ceil(4);
    println!("tools/list: {tokens} tokens");
    assert!(tokens <= MAX_TOKENS, "{tokens} tokens: {list:#}");
    for tool in list["tools"].as_array().expect("tools") {
        assert_eq!(tool.get("outputSchema").is_some(), tool["name"] == "execute_script", "{tool}");
    }
}

#[test]
fn the_description_states_what_differs_from_other_luas() {
    let expected = r#"Runs a Luau script in a sandbox and returns {result, logs, files_touched}: its return value as JSON, the lines that it printed, the files that it changed. Each run starts fresh; keep state in files.

Luau is Lua 5.1 with +=, continue, //, `{x}` strings and types. There is no goto (use continue) and no bit operator (use bit32). Available: string, table, math, bit32, utf8, buffer, print(...), sleep(seconds), progress(done, total?, message?), json.encode(value, {indent = true}), json.decode(text), base64.encode/decode, os.time/date/clock (dates are UTC). Not available: network (except through sdk), other programs.

JSON: null in an object is nil, in an array json.null. A sequence becomes an array, another table an object; json.object({}) is an empty object. Integers beyond 2^53 are strings.

Limits: 30 s, 64 MiB of memory, 1 MiB of result.

Functions, at most 7 calls: sdk.API.name(params, body) returns one value, the decoded body. A failed call raises err with err.status and err.body; tostring(err) is the message. sdk.response(sdk.API.name, params, body) raises no error for a status and returns {ok, status, headers, body}. sdk.all({{sdk.API.f, params}, {sdk.API.g}}, {errors = "return"}) makes calls at once and returns their results in order, {error = err} for a failed one. sdk.search(words) finds functions; sdk.docs(name) returns parameters and types.
- sdk.store: Store 1.0.0 (create_customer, create_invoice, create_order, create_product, delete_customer, delete_invoice, delete_order, delete_product, get_customer, get_invoice, get_order, get_product, list_customers, list_invoices, list_orders, list_products, update_customer, update_invoice, update_order, update_product)

Files: io.open(path, mode), io.lines(path), io.list(directory), io.exists(path), os.remove(path), os.rename(old, new) and h:read, h:write, h:lines, h:seek, h:close, as in Lua, with relative paths in one directory. require("./lib/x") loads the module lib/x.luau from it. A run can write 50 MiB and create 10000 files. Errors, including file errors, are raised; catch them with pcall.

Example:
local out = io.open("squares.csv", "w")
for n = 1, 3 do out:write(n, ",", n * n, "\n") end
out:close()
return {files = io.list()}"#;
    let list = tools(&directory_with_api(), &["--max-api-calls", "7"]);
    assert_eq!(list["tools"][0]["description"], expected);
}

#[test]
fn the_description_explains_answers_of_mcp_tools_if_there_are_any() {
    let inner = format!("inner={} serve --no-io", env!("CARGO_BIN_EXE_toolscript"));
    let list = tools(&directory_with(""), &["--no-io", "--mcp", &inner]);
    let description = list["tools"][0]["description"].as_str().expect("a string");
    for words in [
        "A tool of an MCP server takes one table and returns its structured content as a table, otherwise its text as a string, or an \
         image as {mime_type, data}.",
        "\n- sdk.inner: toolscript",
        "Each run starts fresh.\n",
        "File access is disabled.",
    ] {
        assert!(description.contains(words), "{words}: {description}");
    }
    assert!(!description.contains("require("), "{description}");
}
