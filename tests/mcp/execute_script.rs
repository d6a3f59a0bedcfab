//! `execute_script`: its description, arguments and results.

use crate::support::{
    server_process::{temp_directory, temp_directory_with_config},
    wire::Wire,
};
use serde_json::{Value, json};
use std::fs;

#[test]
fn a_result_has_structured_content_and_text() {
    let directory = temp_directory();
    let mut wire = Wire::start(directory.path(), &[]);
    let result =
        wire.run("print('hi') io.open('a b/ü.csv', 'w'):write('1,2'):close() io.open('t', 'w'):close() os.remove('t') return { x = 1 }");
    let outcome = json!({
        "result": { "x": 1 },
        "logs": ["hi"],
        "files_touched": [{ "name": "a b/ü.csv", "op": "write", "bytes": 3 }, { "name": "t", "op": "remove" }],
    });
    assert_eq!(result["structuredContent"], outcome);
    assert_eq!(result["isError"], false);
    let text = result["content"][0]["text"].as_str().expect("a text");
    assert_eq!(serde_json::from_str::<Value>(text).expect("JSON"), outcome);
    assert!(text.starts_with(r#"{"result":{"x":1},"logs":["hi"]"#), "{text}");
    assert_eq!(result["content"].as_array().expect("a list").len(), 1, "{result}");
    let receipt = &result["_meta"]["toolscript/receipt"];
    assert!(receipt["fuel"].as_u64().expect("fuel") > 1000 && receipt["bytes_written"] == 3, "{receipt}");
    assert!(!text.contains("fuel"), "no statistics for the model");
    assert_eq!(fs::read_to_string(directory.path().join("toolscript-files/a b/ü.csv")).expect("the file"), "1,2");
}

/// Some clients turn a link into a file block, which model APIs reject. The next model call of the conversation then fails.
#[test]
fn results_have_links_to_written_files_only_if_configured() {
    let calls = [
        json!({ "name": "execute_script", "arguments": { "script": "io.open('a b/ü.csv', 'w'):write('1,2'):close()" } }),
        json!({ "name": "execute_script", "arguments": { "script": "io.open('a b/ü.csv', 'w'):write('1,2'):close() error('x')" } }),
        json!({ "name": "write_file", "arguments": { "path": "a b/ü.csv", "content": "1,2", "mode": "overwrite" } }),
        json!({ "name": "edit_file", "arguments": { "path": "a b/ü.csv", "old": "1", "new": "3" } }),
    ];
    for (config, expected) in [("", 0), ("[server]\nresource_links = false\n", 0), ("[server]\nresource_links = true\n", 1)] {
        let directory = temp_directory_with_config(config);
        let mut wire = Wire::start(directory.path(), &[]);
        for call in &calls {
            let answer = wire.ask("tools/call", call.clone());
            let blocks = answer["result"]["content"].as_array().expect("a list");
            let (links, others): (Vec<&Value>, Vec<&Value>) = blocks.iter().partition(|block| block["type"] == "resource_link");
            assert!(!others.is_empty() && others.iter().all(|block| block["type"] == "text"), "{answer}");
            assert_eq!(links.len(), expected, "{config}: {answer}");
            for link in links {
                let described = (&link["uri"], &link["name"], &link["mimeType"]);
                assert_eq!(described, (&json!("io:///a%20b/%C3%BC.csv"), &json!("a b/ü.csv"), &json!("text/csv")));
            }
        }
        let listed = wire.ask("resources/list", json!({}));
        assert_eq!(listed["result"]["resources"][0]["uri"], "io:///a%20b/%C3%BC.csv");
    }
}

#[test]
fn a_failed_run_reports_the_error_with_logs_and_files() {
    let directory = temp_directory();
    let mut wire = Wire::start(directory.path(), &[]);
    let result = wire.run("print('so far') io.open('f', 'w'):write('x') error('too bad')");
    assert_eq!(result["isError"], true);
    assert_eq!(result["content"][0]["text"], "Script execution error: script:1: too bad");
    let outcome = json!({
        "error": { "kind": "runtime", "message": "script:1: too bad", "traceback": "[C] function error\nscript:1" },
        "logs": ["so far"],
        "files_touched": [{ "name": "f", "op": "write", "bytes": 1 }],
    });
    assert_eq!(result["structuredContent"], outcome);
    // The text does not repeat the error.
    assert_eq!(result["content"][1]["text"], r#"{"logs":["so far"],"files_touched":[{"name":"f","op":"write","bytes":1}]}"#);
    let silent = wire.run("error('alone')");
    assert_eq!(silent["content"], json!([{ "type": "text", "text": "Script execution error: script:1: alone" }]));
    let nested = wire.run("local function f(n)\n if n == 0 then error('deep') end\n return 1 + f(n - 1)\nend\nf(1)");
    assert_eq!(nested["content"][0]["text"], "Script execution error: script:2: deep\nscript:2 function f\nscript:3 function f\nscript:5");
    let deep = wire.run("local t = {} for _ = 1, 110 do t = { t } end return t");
    let message = "Script execution error: the result is nested 111 levels deep, more than the maximum of 100; return json.encode(value)";
    assert_eq!(deep["content"][0]["text"], message);
}

#[test]
fn empty_parts_are_left_out_of_the_text() {
    let directory = temp_directory();
    let mut wire = Wire::start(directory.path(), &[]);
    let result = wire.run("return 42");
    assert_eq!(result["content"], json!([{ "type": "text", "text": r#"{"result":42}"# }]));
    assert_eq!(result["structuredContent"], json!({ "result": 42, "logs": [], "files_touched": [] }));
    assert_eq!(wire.run("print('x')")["content"][0]["text"], r#"{"result":null,"logs":["x"]}"#);
}

#[test]
fn the_description_contains_the_configured_limits() {
    let directory = temp_directory_with_config("[limits]\ntimeout = 7\n[io]\nmax_bytes = 2048\nmax_files = 3\n");
    let mut wire = Wire::start(directory.path(), &[]);
    let tools = wire.ask("tools/list", json!({}))["result"]["tools"].clone();
    assert_eq!(tools[0]["name"], "execute_script");
    let description = tools[0]["description"].as_str().expect("a text");
    for words in [
        "Limits: 7 s, 64 MiB of memory",
        "A run can write 2 KiB and create 3 files",
        "io.open(path, mode)",
        "Errors are raised, also by io.open for a missing file: check io.exists(path) first, or use pcall.",
    ] {
        assert!(description.contains(words), "{words}: {description}");
    }
    assert_eq!(tools[0]["inputSchema"]["required"], json!(["script"]));
    assert_eq!(tools[0]["outputSchema"]["required"], json!(["logs", "files_touched"]));
    assert_eq!(tools[0]["annotations"], json!({ "readOnlyHint": false, "destructiveHint": true, "openWorldHint": false }));
    // The example in the description runs.
    let example = description.split_once("Example:\n").expect("an example").1;
    assert_eq!(wire.run(example)["structuredContent"]["result"], json!({ "files": ["squares.csv"] }));
}

#[test]
fn without_io_there_are_no_file_tools_and_no_resources() {
    let directory = temp_directory();
    let mut wire = Wire::start_silently(directory.path(), &["--no-io"]);
    let client = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } });
    let info = wire.ask("initialize", client);
    assert_eq!(info["result"]["capabilities"], json!({ "logging": {}, "prompts": {}, "tools": {} }));
    assert_eq!(info["result"]["serverInfo"]["name"], "toolscript");
    let tools = wire.ask("tools/list", json!({}))["result"]["tools"].clone();
    assert_eq!(tools.as_array().expect("tools").len(), 1);
    let tool = tools[0].clone();
    assert!(tool["description"].as_str().expect("a text").contains("File access is disabled."));
    assert_eq!(tool["annotations"]["readOnlyHint"], true);
    assert_eq!(wire.run("return io == nil and os.remove == nil")["structuredContent"]["result"], true);
    for (method, params) in [("resources/list", json!({})), ("resources/read", json!({ "uri": "io:///x" }))] {
        assert_eq!(wire.ask(method, params)["error"]["code"], -32601, "{method} is not supported");
    }
    let answer = wire.ask("tools/call", json!({ "name": "read_file", "arguments": { "path": "x" } }));
    assert_eq!(answer["error"]["message"], "Invalid params: `name`: unknown tool `read_file`; see tools/list");
}

#[test]
fn invalid_arguments_are_a_failed_result_that_names_the_argument() {
    let directory = temp_directory();
    let mut wire = Wire::start(directory.path(), &[]);
    for (arguments, message) in [
        (json!({}), "Invalid params: missing field `script`"),
        (json!({ "script": 7 }), "Invalid params: `script`: invalid type: integer `7`, expected a string"),
        (
            json!({ "script": "", "timeout_ms": -5 }),
            "Invalid params: `timeout_ms`: invalid value: integer `-5`, expected a whole number, at least 1",
        ),
        (json!({ "script": "", "extra": 1 }), "Invalid params: unknown field `extra`, expected one of `script`, `timeout_ms`, `check`"),
        (json!({ "script": "", "extra": null }), "Invalid params: unknown field `extra`, expected one of `script`, `timeout_ms`, `check`"),
        (json!({ "script": "-".repeat(1_048_577) }), "Invalid params: `script`: the script is 1048577 bytes; at most 1048576 are allowed"),
    ] {
        let answer = wire.ask("tools/call", json!({ "name": "execute_script", "arguments": arguments }));
        assert_eq!(answer["result"], json!({ "content": [{ "type": "text", "text": message }], "isError": true }));
    }
}

#[test]
fn invalid_parameters_are_a_protocol_error() {
    let directory = temp_directory();
    let mut wire = Wire::start(directory.path(), &[]);
    for (params, message) in [
        (json!({ "name": "other" }), "Invalid params: `name`: unknown tool `other`; see tools/list"),
        (json!({ "name": 7 }), "Invalid params: `params.name` must be a string, the name of a tool"),
        (json!({}), "Invalid params: `params.name` must be a string, the name of a tool"),
        (json!({ "name": "execute_script", "arguments": [] }), "Invalid params: `params.arguments` must be an object"),
        (json!({ "name": "execute_script", "arguments": "return 1" }), "Invalid params: `params.arguments` must be an object"),
    ] {
        let answer = wire.ask("tools/call", params);
        assert_eq!((&answer["error"]["code"], &answer["error"]["message"]), (&json!(-32602), &json!(message)));
    }
    assert_eq!(wire.ask("no/such", json!({}))["error"]["code"], -32601);
}

#[test]
fn a_timeout_only_lowers_the_limit() {
    let directory = temp_directory();
    let mut wire = Wire::start(directory.path(), &["--timeout", "0.3"]);
    for (timeout, seconds) in [(100, "0.1"), (60_000, "0.3")] {
        let params = json!({ "name": "execute_script", "arguments": { "script": "while true do end", "timeout_ms": timeout } });
        let result = wire.ask("tools/call", params)["result"].clone();
        assert_eq!(result["structuredContent"]["error"]["message"], format!("the script ran longer than {seconds} s"));
    }
}
