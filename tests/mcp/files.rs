//! The tools that work on files without a script, as a client calls them.

use crate::{
    support::http_server::{HttpServer, folder},
    support::wire::Wire,
};
use serde_json::{Value, json};
use std::{fs, path::Path};

fn call(wire: &mut Wire, name: &str, arguments: Value) -> Value {
    let answer = wire.ask("tools/call", json!({ "name": name, "arguments": arguments }));
    assert!(answer["error"].is_null(), "{answer}");
    answer["result"].clone()
}

/// What a model reads, and what a program does.
fn answer(wire: &mut Wire, name: &str, arguments: Value) -> (String, Value) {
    let result = call(wire, name, arguments);
    assert_eq!(result["isError"], false, "{result}");
    (result["content"][0]["text"].as_str().expect("a text").to_owned(), result["structuredContent"].clone())
}

fn refused(wire: &mut Wire, name: &str, arguments: Value) -> String {
    let result = call(wire, name, arguments);
    assert_eq!((&result["isError"], &result["structuredContent"]), (&json!(true), &Value::Null), "{result}");
    result["content"][0]["text"].as_str().expect("a text").to_owned()
}

fn io_dir(folder: &Path) -> std::path::PathBuf {
    folder.join("toolscript-files")
}

#[test]
fn the_tools_say_what_they_do() {
    let folder = folder();
    let mut wire = Wire::start(folder.path(), &[]);
    let tools = wire.ask("tools/list", json!({}))["result"]["tools"].clone();
    let kinds: Vec<(&str, &Value)> =
        tools.as_array().expect("tools").iter().map(|tool| (tool["name"].as_str().expect("a name"), &tool["annotations"])).collect();
    let looks = json!({ "readOnlyHint": true, "openWorldHint": false });
    let changes = json!({ "readOnlyHint": false, "destructiveHint": true, "idempotentHint": false, "openWorldHint": false });
    assert_eq!(
        kinds[1..],
        [
            ("read_file", &looks),
            ("write_file", &changes),
            ("edit_file", &changes),
            ("list_files", &looks),
            ("glob_files", &looks),
            ("grep_files", &looks),
        ]
    );
    for tool in tools.as_array().expect("tools") {
        for schema in ["inputSchema", "outputSchema"] {
            assert_eq!(tool[schema]["type"], "object", "{tool}");
        }
        assert_eq!(tool["inputSchema"]["additionalProperties"], false);
        assert!(tool["title"].is_string() && tool["description"].is_string());
    }
}

#[test]
fn a_file_is_written_read_and_edited() {
    let folder = folder();
    let mut wire = Wire::start(folder.path(), &[]);
    let file = json!({ "path": "notes/a.txt", "content": "one\ntwo\n" });
    let result = call(&mut wire, "write_file", file.clone());
    assert_eq!(result["content"][0]["text"], "8 bytes written to notes/a.txt");
    assert_eq!(result["content"][1]["uri"], "io:///notes/a.txt");
    assert_eq!(result["structuredContent"], json!({ "path": "notes/a.txt", "bytes": 8 }));
    assert_eq!(refused(&mut wire, "write_file", file), "notes/a.txt: File exists");
    answer(&mut wire, "write_file", json!({ "path": "notes/a.txt", "content": "three", "mode": "append" }));

    let (text, structure) = answer(&mut wire, "read_file", json!({ "path": "notes/a.txt" }));
    assert_eq!(text, "     1\tone\n     2\ttwo\n     3\tthree");
    let all = json!({ "path": "notes/a.txt", "kind": "text", "bytes": 13, "text": "one\ntwo\nthree", "first_line": 1, "lines": 3, "total_lines": 3 });
    assert_eq!(structure, all);
    let (text, structure) = answer(&mut wire, "read_file", json!({ "path": "notes/a.txt", "offset": 2, "limit": 1 }));
    assert_eq!(text, "     2\ttwo\n(1 of 3 lines; continue with offset 3)");
    assert_eq!((&structure["truncated_by"], &structure["next_offset"]), (&json!("lines"), &json!(3)));
    assert_eq!(
        refused(&mut wire, "read_file", json!({ "path": "notes/a.txt", "offset": 4 })),
        "notes/a.txt: the offset is past the end; the file has 3 lines"
    );

    let (text, structure) = answer(&mut wire, "edit_file", json!({ "path": "notes/a.txt", "old": "o", "new": "0", "all": true }));
    assert_eq!((text.as_str(), structure), ("replaced 2 times in notes/a.txt", json!({ "path": "notes/a.txt", "count": 2, "bytes": 13 })));
    assert_eq!(
        refused(&mut wire, "edit_file", json!({ "path": "notes/a.txt", "old": "e", "new": "E" })),
        "notes/a.txt: the text to replace occurs 3 times; include more of the surrounding text, or replace all"
    );
    assert_eq!(wire.run("return io.open('notes/a.txt'):read('*a')")["structuredContent"]["result"], "0ne\ntw0\nthree");
    answer(&mut wire, "write_file", json!({ "path": "notes/a.txt", "content": "", "mode": "overwrite" }));
    let (text, structure) = answer(&mut wire, "read_file", json!({ "path": "notes/a.txt" }));
    assert_eq!((text.as_str(), &structure["total_lines"]), ("(the file is empty)", &json!(0)));
}

#[test]
fn images_are_images_and_long_texts_are_cut() {
    let folder = folder();
    fs::create_dir(io_dir(folder.path())).expect("a folder");
    let mut wire = Wire::start(folder.path(), &[]);
    fs::write(io_dir(folder.path()).join("dot"), b"\x89PNG\r\n\x1a\n\0").expect("a file");
    let result = call(&mut wire, "read_file", json!({ "path": "dot" }));
    assert_eq!(result["content"], json!([{ "type": "image", "data": "iVBORw0KGgoA", "mimeType": "image/png" }]));
    assert_eq!(result["structuredContent"], json!({ "path": "dot", "kind": "image", "bytes": 9, "mime_type": "image/png" }));
    fs::write(io_dir(folder.path()).join("dot"), b"\0\0").expect("a file");
    let (text, structure) = answer(&mut wire, "read_file", json!({ "path": "dot" }));
    assert_eq!((text.as_str(), &structure["kind"]), ("(dot is no text: 2 bytes; a script can read them)", &json!("binary")));
    fs::write(io_dir(folder.path()).join("long"), "x".repeat(60_000) + "\nlast").expect("a file");
    let (text, structure) = answer(&mut wire, "read_file", json!({ "path": "long" }));
    assert!(text.ends_with("x\n(line 1 is longer than 51200 bytes and was truncated)\n(1 of 2 lines; continue with offset 2)"));
    assert_eq!((&structure["line_cut"], &structure["truncated_by"], &structure["next_offset"]), (&json!(true), &json!("bytes"), &json!(2)));
    fs::write(io_dir(folder.path()).join("huge"), [&b"\xff\xd8\xff"[..], &vec![0; 4 << 20]].concat()).expect("a file");
    let message = "huge: it is larger than the 4194304 bytes that can be read at once";
    assert_eq!(refused(&mut wire, "read_file", json!({ "path": "huge" })), message);
}

#[test]
fn folders_names_and_lines_are_found() {
    let folder = folder();
    let mut wire = Wire::start(folder.path(), &[]);
    assert_eq!(answer(&mut wire, "list_files", json!({})).0, "(the folder is empty)");
    wire.run("for i = 1, 3 do io.open(`data/{i}.csv`, 'w'):write('id,', i, '\\n'):close() end io.open('.env', 'w'):write('id'):close()");
    let (text, structure) = answer(&mut wire, "list_files", json!({}));
    let names: Vec<&str> = text.lines().map(|line| line.split(' ').next().expect("a name")).collect();
    assert_eq!(names, [".env", "data/"]);
    assert_eq!((&structure["entries"][1]["kind"], &structure["truncated"]), (&json!("folder"), &json!(false)));
    let (text, structure) = answer(&mut wire, "glob_files", json!({ "pattern": "**/[12].csv" }));
    assert!(text.starts_with("data/1.csv (5 bytes, 20"), "{text}");
    assert_eq!((&structure["entries"][1]["path"], &structure["entries"][1]["bytes"]), (&json!("data/2.csv"), &json!(5)));
    assert_eq!(answer(&mut wire, "glob_files", json!({ "pattern": "*.csv" })).0, "(nothing fits)");
    let (text, structure) = answer(&mut wire, "grep_files", json!({ "pattern": "id," }));
    assert_eq!(text, "data/1.csv:1: id,1\ndata/2.csv:1: id,2\ndata/3.csv:1: id,3");
    assert_eq!(structure["matches"][0], json!({ "path": "data/1.csv", "line": 1, "text": "id,1" }));
    let (text, _) = answer(&mut wire, "grep_files", json!({ "pattern": "[23]$", "regex": true, "path": "data", "glob": "[12]*" }));
    assert_eq!(text, "data/2.csv:1: id,2");
    assert_eq!(answer(&mut wire, "grep_files", json!({ "pattern": "[23]$" })).0, "(no line in 3 files)");
    wire.run("local f = io.open('many', 'w') for i = 1, 5000 do f:write('x\\n') end f:close()");
    let (text, structure) = answer(&mut wire, "grep_files", json!({ "pattern": "x" }));
    assert!(text.ends_with("\n(there are more; use a narrower pattern, path or glob)"));
    assert_eq!((structure["matches"].as_array().expect("matches").len(), &structure["truncated"]), (1000, &json!(true)));
    // A name is on one line, whatever is in it.
    fs::write(io_dir(folder.path()).join("x\n(the folder is empty)"), "needle").expect("a file");
    assert!(answer(&mut wire, "list_files", json!({})).0.lines().any(|line| line.starts_with("x\\n(the folder is empty) (6 bytes, ")));
    assert_eq!(answer(&mut wire, "grep_files", json!({ "pattern": "needle" })).0, "x\\n(the folder is empty):1: needle");
    for i in 0..1001 {
        fs::write(io_dir(folder.path()).join(format!("data/many{i}")), "").expect("a file");
    }
    let (text, structure) = answer(&mut wire, "list_files", json!({ "path": "data" }));
    assert!(text.ends_with("\n(1000 of 1004 names; use glob_files for the others)"), "{}", &text[text.len() - 100..]);
    assert_eq!((structure["entries"].as_array().expect("entries").len(), &structure["truncated"]), (1000, &json!(true)));
}

#[test]
fn wrong_arguments_are_named() {
    let folder = folder();
    let mut wire = Wire::start(folder.path(), &[]);
    for (name, arguments, message) in [
        ("read_file", json!({}), "Invalid params: `path` is required"),
        ("read_file", json!({ "path": "a", "offset": 0 }), "Invalid params: `offset` must be a whole number, at least 1"),
        ("read_file", json!({ "path": "a", "limit": -1 }), "Invalid params: `limit` must be a whole number, at least 0"),
        (
            "read_file",
            json!({ "file": "a", "path": "a" }),
            "Invalid params: `file` is not a parameter; there are `path`, `offset` and `limit`",
        ),
        ("write_file", json!({ "path": "a" }), "Invalid params: `content` is required"),
        (
            "write_file",
            json!({ "path": "a", "content": "", "mode": "w" }),
            "Invalid params: `mode` must be `create`, `overwrite` or `append`",
        ),
        ("edit_file", json!({ "path": "a", "old": "x" }), "Invalid params: `new` is required"),
        ("edit_file", json!({ "path": "a", "old": "x", "new": "y", "all": 1 }), "Invalid params: `all` must be true or false"),
        ("list_files", json!({ "path": 1 }), "Invalid params: `path` must be a string"),
        ("glob_files", json!({}), "Invalid params: `pattern` is required"),
        ("grep_files", json!({ "pattern": "x", "regex": "yes" }), "Invalid params: `regex` must be true or false"),
        // What is wrong with a path is the same as in a script.
        ("read_file", json!({ "path": "/etc/passwd" }), "path must be relative"),
        ("write_file", json!({ "path": "../x", "content": "" }), "path cannot contain '..' traversal"),
        ("edit_file", json!({ "path": "a\u{0}", "old": "x", "new": "y" }), "path cannot contain null bytes"),
        ("list_files", json!({ "path": "" }), "path cannot be empty"),
        ("glob_files", json!({ "pattern": "*", "path": "~" }), "~: No such file or directory"),
        ("grep_files", json!({ "pattern": "(", "regex": true }), "the pattern can't be used: unclosed group"),
        ("read_file", json!({ "path": ".toolscript-tmp/x" }), "path cannot contain '.toolscript-tmp', a reserved name"),
    ] {
        assert_eq!(refused(&mut wire, name, arguments), message);
    }
    assert!(!io_dir(folder.path()).exists());
}

#[test]
fn who_subscribed_hears_of_what_a_tool_changed() {
    let folder = folder();
    let mut wire = Wire::start(folder.path(), &[]);
    answer(&mut wire, "write_file", json!({ "path": "a", "content": "x" }));
    wire.ask("resources/subscribe", json!({ "uri": "io:///a" }));
    wire.notifications.clear();
    answer(&mut wire, "edit_file", json!({ "path": "a", "old": "x", "new": "y" }));
    answer(&mut wire, "read_file", json!({ "path": "a" }));
    let heard: Vec<&str> = wire.notifications.iter().map(|notice| notice["method"].as_str().expect("a method")).collect();
    assert_eq!(heard, ["notifications/resources/list_changed", "notifications/resources/updated"]);
}

#[tokio::test]
async fn the_limits_of_the_configuration_hold_over_http() {
    let folder = crate::support::http_server::with_config("[io]\nenabled = true\nmax_bytes = 10\ntenant_bytes = 4096\n");
    let server = HttpServer::start(folder.path(), &[]);
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
