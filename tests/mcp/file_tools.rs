//! The file tools.

use crate::support::{
    http_server::HttpServer,
    server_process::{temp_directory, temp_directory_with_config},
    wire::Wire,
};
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
};

fn call(wire: &mut Wire, name: &str, arguments: Value) -> Value {
    let answer = wire.ask("tools/call", json!({ "name": name, "arguments": arguments }));
    assert!(answer["error"].is_null(), "{answer}");
    answer["result"].clone()
}

/// Calls a tool that must succeed. Returns its text and its structured content.
fn succeed(wire: &mut Wire, name: &str, arguments: Value) -> (String, Value) {
    let result = call(wire, name, arguments);
    assert_eq!(result["isError"], false, "{result}");
    (result["content"][0]["text"].as_str().expect("a text").to_owned(), result["structuredContent"].clone())
}

/// Calls a tool that must fail. Returns its error.
fn fail(wire: &mut Wire, name: &str, arguments: Value) -> String {
    let result = call(wire, name, arguments);
    assert_eq!((&result["isError"], &result["structuredContent"]), (&json!(true), &Value::Null), "{result}");
    result["content"][0]["text"].as_str().expect("a text").to_owned()
}

fn io_directory(directory: &Path) -> PathBuf {
    directory.join("toolscript-files")
}

#[test]
fn tools_have_annotations_and_schemas() {
    let directory = temp_directory();
    let mut wire = Wire::start(directory.path(), &[]);
    let tools = wire.ask("tools/list", json!({}))["result"]["tools"].clone();
    let kinds: Vec<(&str, &Value)> =
        tools.as_array().expect("tools").iter().map(|tool| (tool["name"].as_str().expect("a name"), &tool["annotations"])).collect();
    let read_only = json!({ "readOnlyHint": true, "openWorldHint": false });
    let destructive = json!({ "readOnlyHint": false, "destructiveHint": true, "idempotentHint": false, "openWorldHint": false });
    assert_eq!(
        kinds[1..],
        [
            ("read_file", &read_only),
            ("write_file", &destructive),
            ("edit_file", &destructive),
            ("list_files", &read_only),
            ("glob_files", &read_only),
            ("grep_files", &read_only),
        ]
    );
    for tool in tools.as_array().expect("tools") {
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        // google-genai rejects it.
        assert!(!tool["inputSchema"].to_string().contains("additionalProperties"), "{tool}");
        assert!(tool["title"].is_string() && tool["description"].is_string());
    }
}

#[test]
fn a_file_is_written_read_and_edited() {
    let directory = temp_directory();
    let mut wire = Wire::start(directory.path(), &[]);
    let file = json!({ "path": "notes/a.txt", "content": "one\ntwo\n" });
    let result = call(&mut wire, "write_file", file.clone());
    assert_eq!(result["content"][0]["text"], "8 bytes written to notes/a.txt");
    assert_eq!(result["structuredContent"], json!({ "path": "notes/a.txt", "bytes": 8 }));
    assert_eq!(fail(&mut wire, "write_file", file), "notes/a.txt: File exists");
    succeed(&mut wire, "write_file", json!({ "path": "notes/a.txt", "content": "three", "mode": "append" }));

    let (text, structure) = succeed(&mut wire, "read_file", json!({ "path": "notes/a.txt" }));
    assert_eq!(text, "     1\tone\n     2\ttwo\n     3\tthree");
    let all = json!({ "path": "notes/a.txt", "kind": "text", "bytes": 13, "text": "one\ntwo\nthree", "first_line": 1, "lines": 3, "total_lines": 3 });
    assert_eq!(structure, all);
    let (text, structure) = succeed(&mut wire, "read_file", json!({ "path": "notes/a.txt", "offset": 2, "limit": 1 }));
    assert_eq!(text, "     2\ttwo\n(1 of 3 lines; continue with offset 3)");
    assert_eq!((&structure["truncated_by"], &structure["next_offset"]), (&json!("lines"), &json!(3)));
    assert_eq!(
        fail(&mut wire, "read_file", json!({ "path": "notes/a.txt", "offset": 4 })),
        "notes/a.txt: the offset is past the end; the file has 3 lines"
    );

    let (text, structure) = succeed(&mut wire, "edit_file", json!({ "path": "notes/a.txt", "old": "o", "new": "0", "all": true }));
    assert_eq!((text.as_str(), structure), ("replaced 2 times in notes/a.txt", json!({ "path": "notes/a.txt", "count": 2, "bytes": 13 })));
    assert_eq!(
        fail(&mut wire, "edit_file", json!({ "path": "notes/a.txt", "old": "e", "new": "E" })),
        "notes/a.txt: the text to replace occurs 3 times; include more of the surrounding text, or replace all"
    );
    assert_eq!(wire.run("return io.open('notes/a.txt'):read('*a')")["structuredContent"]["result"], "0ne\ntw0\nthree");
    succeed(&mut wire, "write_file", json!({ "path": "notes/a.txt", "content": "", "mode": "overwrite" }));
    let (text, structure) = succeed(&mut wire, "read_file", json!({ "path": "notes/a.txt" }));
    assert_eq!((text.as_str(), &structure["total_lines"]), ("(the file is empty)", &json!(0)));
}

#[test]
fn images_are_returned_as_images_and_long_texts_are_truncated() {
    let directory = temp_directory();
    fs::create_dir(io_directory(directory.path())).expect("a directory");
    let mut wire = Wire::start(directory.path(), &[]);
    fs::write(io_directory(directory.path()).join("dot"), b"\x89PNG\r\n\x1a\n\0").expect("a file");
    let result = call(&mut wire, "read_file", json!({ "path": "dot" }));
    assert_eq!(result["content"], json!([{ "type": "image", "data": "iVBORw0KGgoA", "mimeType": "image/png" }]));
    assert_eq!(result["structuredContent"], json!({ "path": "dot", "kind": "image", "bytes": 9, "mime_type": "image/png" }));
    fs::write(io_directory(directory.path()).join("dot"), b"\0\0").expect("a file");
    let (text, structure) = succeed(&mut wire, "read_file", json!({ "path": "dot" }));
    assert_eq!((text.as_str(), &structure["kind"]), ("(dot is a binary file of 2 bytes; a script can read it)", &json!("binary")));
    fs::write(io_directory(directory.path()).join("long"), "x".repeat(60_000) + "\nlast").expect("a file");
    let (text, structure) = succeed(&mut wire, "read_file", json!({ "path": "long" }));
    assert!(text.ends_with("x\n(line 1 is longer than 24576 bytes and was truncated)\n(1 of 2 lines; continue with offset 2)"));
    assert_eq!((&structure["line_cut"], &structure["truncated_by"], &structure["next_offset"]), (&json!(true), &json!("bytes"), &json!(2)));
    fs::write(io_directory(directory.path()).join("huge"), [&b"\xff\xd8\xff"[..], &vec![0; 4 << 20]].concat()).expect("a file");
    let message = "huge: it is larger than the 4194304 bytes that can be read at once";
    assert_eq!(fail(&mut wire, "read_file", json!({ "path": "huge" })), message);
}

#[test]
fn list_glob_and_grep_find_files_and_lines() {
    let directory = temp_directory();
    let mut wire = Wire::start(directory.path(), &[]);
    assert_eq!(succeed(&mut wire, "list_files", json!({})).0, "(the directory is empty)");
    wire.run("for i = 1, 3 do io.open(`data/{i}.csv`, 'w'):write('id,', i, '\\n'):close() end io.open('.hidden', 'w'):write('id'):close()");
    let (text, structure) = succeed(&mut wire, "list_files", json!({}));
    let names: Vec<&str> = text.lines().map(|line| line.split(' ').next().expect("a name")).collect();
    assert_eq!(names, [".hidden", "data/"]);
    assert_eq!((&structure["entries"][1]["kind"], &structure["truncated"]), (&json!("folder"), &json!(false)));
    let (text, structure) = succeed(&mut wire, "glob_files", json!({ "pattern": "**/[12].csv" }));
    assert!(text.starts_with("data/1.csv (5 bytes, 20"), "{text}");
    assert_eq!((&structure["entries"][1]["path"], &structure["entries"][1]["bytes"]), (&json!("data/2.csv"), &json!(5)));
    assert_eq!(succeed(&mut wire, "glob_files", json!({ "pattern": "*.csv" })).0, "(no matches)");
    let (text, structure) = succeed(&mut wire, "grep_files", json!({ "pattern": "id," }));
    assert_eq!(text, "data/1.csv:1: id,1\ndata/2.csv:1: id,2\ndata/3.csv:1: id,3");
    assert_eq!(structure["matches"][0], json!({ "path": "data/1.csv", "line": 1, "text": "id,1" }));
    let (text, _) = succeed(&mut wire, "grep_files", json!({ "pattern": "[23]$", "regex": true, "path": "data", "glob": "[12]*" }));
    assert_eq!(text, "data/2.csv:1: id,2");
    assert_eq!(succeed(&mut wire, "grep_files", json!({ "pattern": "[23]$" })).0, "(no matches in 3 files)");
    wire.run("local f = io.open('many', 'w') for i = 1, 5000 do f:write('x\\n') end f:close()");
    let (text, structure) = succeed(&mut wire, "grep_files", json!({ "pattern": "x" }));
    assert!(text.ends_with("\n(there are more; use a narrower pattern, path or glob)"));
    assert_eq!((structure["matches"].as_array().expect("matches").len(), &structure["truncated"]), (1000, &json!(true)));
    // A line break in a name is escaped.
    fs::write(io_directory(directory.path()).join("x\n(the directory is empty)"), "needle").expect("a file");
    assert!(succeed(&mut wire, "list_files", json!({})).0.lines().any(|line| line.starts_with("x\\n(the directory is empty) (6 bytes, ")));
    assert_eq!(succeed(&mut wire, "grep_files", json!({ "pattern": "needle" })).0, "x\\n(the directory is empty):1: needle");
    for i in 0..1001 {
        fs::write(io_directory(directory.path()).join(format!("data/many{i}")), "").expect("a file");
    }
    let (text, structure) = succeed(&mut wire, "list_files", json!({ "path": "data" }));
    assert!(text.ends_with("\n(1000 of 1004 names; use glob_files for the others)"), "{}", &text[text.len() - 100..]);
    assert_eq!((structure["entries"].as_array().expect("entries").len(), &structure["truncated"]), (1000, &json!(true)));
}

#[test]
fn invalid_arguments_are_named() {
    let directory = temp_directory();
    let mut wire = Wire::start(directory.path(), &[]);
    for (name, arguments, message) in [
        ("read_file", json!({}), "Invalid params: missing field `path`"),
        (
            "read_file",
            json!({ "path": "a", "offset": 0 }),
            "Invalid params: `offset`: invalid value: integer `0`, expected a whole number, at least 1",
        ),
        (
            "read_file",
            json!({ "path": "a", "limit": -1 }),
            "Invalid params: `limit`: invalid value: integer `-1`, expected a whole number, at least 0",
        ),
        (
            "read_file",
            json!({ "file": "a", "path": "a" }),
            "Invalid params: unknown field `file`, expected one of `path`, `offset`, `limit`",
        ),
        ("list_files", json!({ "path": null, "depth": null }), "Invalid params: unknown field `depth`, expected `path`"),
        ("write_file", json!({ "path": "a" }), "Invalid params: missing field `content`"),
        ("write_file", json!({ "path": "a", "content": null }), "Invalid params: missing field `content`"),
        (
            "write_file",
            json!({ "path": "a", "content": "", "mode": "w" }),
            "Invalid params: `mode`: unknown variant `w`, expected one of `create`, `overwrite`, `append`",
        ),
        ("edit_file", json!({ "path": "a", "old": "x" }), "Invalid params: missing field `new`"),
        (
            "edit_file",
            json!({ "path": "a", "old": "x", "new": "y", "all": 1 }),
            "Invalid params: `all`: invalid type: integer `1`, expected a boolean",
        ),
        ("list_files", json!({ "path": 1 }), "Invalid params: `path`: invalid type: integer `1`, expected a string"),
        ("glob_files", json!({}), "Invalid params: missing field `pattern`"),
        (
            "grep_files",
            json!({ "pattern": "x", "regex": "yes" }),
            "Invalid params: `regex`: invalid type: string \"yes\", expected a boolean",
        ),
        // Errors about paths are the same as in a script.
        ("read_file", json!({ "path": "/etc/passwd" }), "path must be relative"),
        ("write_file", json!({ "path": "../x", "content": "" }), "path cannot contain '..' traversal"),
        ("edit_file", json!({ "path": "a\u{0}", "old": "x", "new": "y" }), "path cannot contain null bytes"),
        ("list_files", json!({ "path": "" }), "path cannot be empty"),
        ("glob_files", json!({ "pattern": "*", "path": "~" }), "~: No such file or directory"),
        ("grep_files", json!({ "pattern": "(", "regex": true }), "the pattern can't be used: unclosed group"),
        (
            "write_file",
            json!({ "path": ".mcp.json", "content": "{}" }),
            ".mcp.json: cannot be changed, because other programs execute or trust '.mcp.json'; the operator can turn this protection off",
        ),
        (
            "edit_file",
            json!({ "path": "a/.git/config", "old": "x", "new": "y" }),
            "a/.git/config: cannot be changed, because other programs execute or trust '.git'; the operator can turn this protection off",
        ),
        (
            "read_file",
            json!({ "path": ".env" }),
            ".env: cannot be read or changed, because '.env' usually contains credentials; the operator can turn this protection off",
        ),
        ("read_file", json!({ "path": ".toolscript-tmp/x" }), "path cannot contain '.toolscript-tmp', a reserved name"),
    ] {
        assert_eq!(fail(&mut wire, name, arguments), message);
    }
    assert!(!io_directory(directory.path()).exists());
}

#[test]
fn a_subscriber_is_notified_of_changes_by_file_tools() {
    let directory = temp_directory();
    let mut wire = Wire::start(directory.path(), &[]);
    succeed(&mut wire, "write_file", json!({ "path": "a", "content": "x" }));
    wire.ask("resources/subscribe", json!({ "uri": "io:///a" }));
    wire.notifications.clear();
    succeed(&mut wire, "edit_file", json!({ "path": "a", "old": "x", "new": "y" }));
    succeed(&mut wire, "read_file", json!({ "path": "a" }));
    let methods: Vec<&str> = wire.notifications.iter().map(|message| message["method"].as_str().expect("a method")).collect();
    assert_eq!(methods, ["notifications/resources/list_changed", "notifications/resources/updated"]);
}

#[tokio::test]
async fn the_configured_limits_apply_over_http() {
    let directory = temp_directory_with_config("[io]\nenabled = true\nmax_bytes = 10\ntenant_bytes = 4096\n");
    let server = HttpServer::start(directory.path(), &[]);
    let mut client = server.client();
    let mut write = async |path: &str, content: &str| {
        let arguments = json!({ "path": path, "content": content });
        let answer = client.ask("tools/call", json!({ "name": "write_file", "arguments": arguments })).await;
        answer.last()["result"]["content"][0]["text"].as_str().expect("a text").to_owned()
    };
    assert_eq!(write("a", "12345678901").await, "I/O write limit exceeded (10 bytes)");
    for path in ["a", "b", "c"] {
        assert_eq!(write(path, "1234567890").await, format!("10 bytes written to {path}"));
    }
    assert_eq!(write("d", "1").await, "disk quota exceeded (4096 bytes for all files)");
}
