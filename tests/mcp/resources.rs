//! Files as resources, and subscriptions to their changes.

use crate::support::{server_process::temp_directory, wire::Wire};
use serde_json::{Value, json};
use std::os::unix::fs::symlink;

#[test]
fn files_are_listed_as_resources_in_pages() {
    let directory = temp_directory();
    let mut wire = Wire::start(directory.path(), &[]);
    assert_eq!(wire.ask("resources/list", json!({}))["result"]["resources"], json!([]));
    wire.run("for i = 1, 250 do io.open(('d%d/f%03d.txt'):format(i % 3, i), 'w'):write(i):close() end");
    symlink("/etc/passwd", directory.path().join("toolscript-files/link")).expect("a link");
    let (mut names, mut cursor, mut pages) = (Vec::new(), Value::Null, 0);
    loop {
        let params = if cursor.is_null() { json!({}) } else { json!({ "cursor": cursor }) };
        let page = wire.ask("resources/list", params)["result"].clone();
        names.extend(
            page["resources"].as_array().expect("a list").iter().map(|resource| resource["name"].as_str().expect("a name").to_owned()),
        );
        pages += 1;
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!((names.len(), pages), (250, 3));
    assert!(names.is_sorted());
    let invalid = wire.ask("resources/list", json!({ "cursor": "x" }));
    assert_eq!(invalid["error"]["message"], "Invalid params: `cursor` is not a cursor of this server");
}

#[test]
fn a_resource_is_read_as_text_or_as_bytes_or_rejected() {
    let directory = temp_directory();
    let mut wire = Wire::start(directory.path(), &[]);
    wire.run(
        "io.open('a b.json', 'w'):write('{}'):close() io.open('i.png', 'w'):write('\\x89PNG\\0'):close()
        io.open('big', 'w'):write(('x'):rep(2^20 + 1)):close() io.open('notes', 'w'):write('plain') io.open('bytes', 'w'):write('\\xff')",
    );
    symlink("/etc/passwd", directory.path().join("toolscript-files/link")).expect("a link");
    let mut read = |uri: &str| wire.ask("resources/read", json!({ "uri": uri }));
    let text = json!([{ "uri": "io:///a%20b.json", "mimeType": "application/json", "text": "{}" }]);
    assert_eq!(read("io:///a%20b.json")["result"]["contents"], text);
    let blob = json!([{ "uri": "io:///i.png", "mimeType": "image/png", "blob": "iVBORwA=" }]);
    assert_eq!(read("io:///i.png")["result"]["contents"], blob);
    assert_eq!(read("io:///notes")["result"]["contents"][0]["mimeType"], "text/plain");
    assert_eq!(read("io:///bytes")["result"]["contents"][0]["mimeType"], "application/octet-stream");
    for (uri, code, message) in [
        ("io:///big", -32602, "Invalid params: `uri`: big: it is larger than the 1048576 bytes that can be read at once"),
        ("io:///missing", -32002, "Resource not found: missing: No such file or directory"),
        ("io:///../x", -32002, "Resource not found: path cannot contain '..' traversal"),
        ("io:///%2e%2e/x", -32002, "Resource not found: path cannot contain '..' traversal"),
        ("io:////etc/passwd", -32002, "Resource not found: path must be relative"),
        ("io:///link", -32002, "Resource not found: link: symbolic links are not followed"),
        ("io:///%00", -32002, "Resource not found: path cannot contain null bytes"),
        ("io:///%ff", -32002, "Resource not found: `uri` must begin with io:/// and be percent-encoded UTF-8"),
        ("file:///etc/passwd", -32002, "Resource not found: `uri` must begin with io:/// and be percent-encoded UTF-8"),
    ] {
        let answer = read(uri);
        assert_eq!((&answer["error"]["code"], &answer["error"]["message"]), (&json!(code), &json!(message)));
    }
}

#[test]
fn a_subscriber_is_notified_of_changed_files() {
    let directory = temp_directory();
    let mut wire = Wire::start(directory.path(), &[]);
    // Another spelling of the same URI.
    wire.ask("resources/subscribe", json!({ "uri": "io:///%61" }));
    let long = wire.ask("resources/subscribe", json!({ "uri": "x".repeat(20_000) }));
    assert_eq!(long["error"]["message"], "Invalid params: `uri` is too long or not the URI of a file");
    wire.run("io.open('a', 'w'):write('1'):close() io.open('b', 'w'):close()");
    let methods: Vec<&Value> = wire.notifications.iter().map(|message| &message["method"]).collect();
    assert_eq!(methods, ["notifications/resources/list_changed", "notifications/resources/updated"]);
    assert_eq!(wire.notifications[1]["params"]["uri"], "io:///a");
    wire.notifications.clear();
    wire.ask("resources/unsubscribe", json!({ "uri": "io:///a" }));
    wire.run("return io.open('a'):read()");
    assert_eq!(wire.notifications, Vec::<Value>::new(), "reading changes nothing");
    wire.run("os.remove('a')");
    assert_eq!(wire.notifications.len(), 1);
}

#[test]
fn the_number_of_listen_requests_is_limited() {
    let directory = temp_directory();
    let mut wire = Wire::start_silently(directory.path(), &[]);
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} });
    wire.ask("server/discover", json!({ "_meta": meta }));
    for _ in 0..17 {
        wire.begin("subscriptions/listen", json!({ "_meta": meta, "notifications": { "resourcesListChanged": true } }));
    }
    // All are acknowledged, and the last one is rejected.
    let (mut acknowledged, mut rejected) = (0, Vec::new());
    while acknowledged < 17 || rejected.is_empty() {
        let message = wire.next().expect("a message");
        match message.get("error") {
            Some(error) => rejected.push(error["message"].clone()),
            None => acknowledged += usize::from(message["method"] == "notifications/subscriptions/acknowledged"),
        }
    }
    assert_eq!(rejected, ["at most 16 requests can listen at the same time"]);
}
