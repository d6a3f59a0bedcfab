//! `tools/list`: what a model reads and pays for in every conversation.

use crate::support::{
    api_server::{directory_with, toolscript},
    wire::Wire,
};
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

Luau is Lua 5.1 with +=, continue, //, `{x}` strings and types. There is no goto (use continue), no <const> and no bit operator (use bit32). Available: string, table, math, bit32, utf8, buffer, print(...), sleep(seconds), progress(done, total?, message?), json.encode(value, {indent = true}), json.decode(text), base64.encode/decode, os.time/date/clock (dates are UTC). Not available: network (except through sdk), other programs.

JSON: null in an object is nil, in an array json.null. A sequence becomes an array, another table an object; json.object({}) is an empty object. Integers beyond 2^53 are strings.

Limits: 30 s, 64 MiB of memory, 1 MiB of result.

Functions, at most 7 calls: sdk.API.name(params, body) returns one value, the decoded body. A failed call raises err with err.status and err.body; tostring(err) is the message. sdk.response(sdk.API.name, params, body) raises no error for a status and returns {ok, status, headers, body}. sdk.all({{sdk.API.f, params}, {sdk.API.g}}, {errors = "return"}) makes calls at once and returns their results in order, {error = err} for a failed one. sdk.search(words) finds functions; sdk.docs(name) returns parameters and types.
- sdk.store: Store 1.0.0 (create_customer, create_invoice, create_order, create_product, delete_customer, delete_invoice, delete_order, delete_product, get_customer, get_invoice, get_order, get_product, list_customers, list_invoices, list_orders, list_products, update_customer, update_invoice, update_order, update_product)

Files: io.open(path, mode), io.lines(path), io.list(directory), io.exists(path), os.remove(path), os.rename(old, new) and h:read, h:write, h:lines, h:seek, h:close, as in Lua, with relative paths in one directory. require("./lib/x") loads the module lib/x.luau from it. A run can write 50 MiB and create 10000 files. Errors are raised, also by io.open for a missing file: check io.exists(path) first, or use pcall.

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
        "A tool of an MCP server takes one table and returns its structured content (the value of result alone, if the schema has \
         nothing else), otherwise its text as a string (already decoded if it is JSON and the tool has an output schema, else \
         json.decode it), an image as {mime_type, data} with its bytes, several blocks as a list. Its err.status is nil.",
        "\n- sdk.inner: toolscript",
        "Each run starts fresh.\n",
        "File access is disabled.",
    ] {
        assert!(description.contains(words), "{words}: {description}");
    }
    assert!(!description.contains("require("), "{description}");
    // google-genai rejects it, also in the tools for functions.
    for tool in list["tools"].as_array().expect("tools") {
        assert!(!tool["inputSchema"].to_string().contains("additionalProperties"), "{tool}");
    }
}

#[test]
fn a_search_ignores_stop_words_and_shows_exact_names_first() {
    let directory = directory_with_api();
    let mut wire = Wire::start(directory.path(), &[]);
    let mut search = |query: &str| {
        let params = json!({ "name": "search_docs", "arguments": { "query": query } });
        let result = wire.ask("tools/call", params)["result"].clone();
        (result["content"][0]["text"].as_str().expect("a text").to_owned(), result["structuredContent"].clone())
    };
    for query in
        ["list_orders", "store.list_orders", "sdk.store.list_orders", "listOrders", "list orders", "how do I list all of the orders?"]
    {
        assert_eq!(search(query).0.lines().next(), Some("sdk.store.list_orders  Lists orders"), "{query}");
    }
    let (text, structure) = search("delete");
    assert_eq!(
        text,
        "sdk.store.delete_customer  Deletes a customer\nsdk.store.delete_invoice  Deletes a invoice\n\
         sdk.store.delete_order  Deletes a order\nsdk.store.delete_product  Deletes a product\nos.remove  Removes a file"
    );
    assert_eq!(structure["truncated"], false);
    let (text, structure) = search("store");
    assert_eq!(text.lines().count(), 6);
    assert!(text.ends_with("\n(15 more; use other words)"), "{text}");
    assert_eq!((structure["functions"].as_array().map(Vec::len), &structure["truncated"]), (Some(5), &json!(true)));
    // Words that say nothing are used if there are no others.
    assert_ne!(search("all of the").0, "");
    assert_eq!(search("weather").0, "(no matches)");
}

#[test]
fn built_ins_are_documented_as_functions_are() {
    let directory = directory_with_api();
    let mut wire = Wire::start(directory.path(), &[]);
    let mut tool = |name: &str, arguments: Value| {
        let result = wire.ask("tools/call", json!({ "name": name, "arguments": arguments }))["result"].clone();
        result["content"][0]["text"].as_str().expect("a text").to_owned()
    };
    let expected = "io.type(value) → string?\nReturns `\"file\"` for an open handle, `\"closed file\"` for a closed one, and `nil` for any other \
                    value.";
    assert_eq!(tool("get_function_docs", json!({ "name": "io.type" })), expected);
    assert!(
        tool("get_function_docs", json!({ "name": "h:seek" })).starts_with("handle:seek(whence?, offset?) → number\nMoves the position")
    );
    assert!(tool("get_function_docs", json!({ "name": "sdk.all" })).starts_with("sdk.all(calls, options?) → "));
    assert_eq!(
        tool("search_docs", json!({ "query": "io.list" })).lines().next(),
        Some("io.list  Returns the names in a directory, sorted by their bytes, without recursion")
    );
    assert!(tool("search_docs", json!({ "query": "monotonic clock" })).starts_with("os.clock  Returns the seconds since the run started"));
    let docs = wire.run("return sdk.docs('io.type')")["structuredContent"]["result"].clone();
    assert_eq!(docs, expected);
    // The command line prints them without any API.
    let output = toolscript(directory_with("").path(), &["docs", "io.type"]).output().expect("toolscript runs");
    assert_eq!(String::from_utf8(output.stdout).expect("UTF-8"), format!("{expected}\n"));
}
