//! The server over standard input and output, as a client sees it that started it.

use crate::support::wire::{Wire, call};
use serde_json::{Value, json};
use std::{fs, os::unix::fs::symlink, process::Command, time::Instant};
use tempfile::TempDir;

fn folder() -> TempDir {
    TempDir::new().expect("a folder")
}

#[test]
fn a_result_is_structure_and_text_and_links() {
    let folder = folder();
    let mut wire = Wire::start(folder.path(), &[]);
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
    let link = json!({ "type": "resource_link", "uri": "io:///a%20b/%C3%BC.csv", "name": "a b/ü.csv", "mimeType": "text/csv", "size": 3 });
    assert_eq!(result["content"].as_array().expect("a list")[1..], [link]);
    let receipt = &result["_meta"]["toolscript/receipt"];
    assert!(receipt["fuel"].as_u64().expect("fuel") > 1000 && receipt["bytes_written"] == 3, "{receipt}");
    assert!(!text.contains("fuel"), "no statistics for the model");
    assert_eq!(fs::read_to_string(folder.path().join("toolscript-files/a b/ü.csv")).expect("the file"), "1,2");
}

#[test]
fn a_failure_is_told_and_keeps_logs_and_files() {
    let folder = folder();
    let mut wire = Wire::start(folder.path(), &[]);
    let result = wire.run("print('so far') io.open('f', 'w'):write('x') error('too bad')");
    assert_eq!(result["isError"], true);
    assert_eq!(result["content"][0]["text"], "Script execution error: script:1: too bad");
    let outcome = json!({
        "error": { "kind": "runtime", "message": "script:1: too bad", "traceback": "[C] function error\nscript:1" },
        "logs": ["so far"],
        "files_touched": [{ "name": "f", "op": "write", "bytes": 1 }],
    });
    assert_eq!(result["structuredContent"], outcome);
    assert_eq!(serde_json::from_str::<Value>(result["content"][1]["text"].as_str().expect("a text")).expect("JSON"), outcome);
    let deep = wire.run("local t = {} for _ = 1, 110 do t = { t } end return t");
    let message = "Script execution error: the result is nested 111 levels deep; at most 100 can be sent: return json.encode of it";
    assert_eq!(deep["content"][0]["text"], message);
}

#[test]
fn the_tool_is_described_from_the_configuration() {
    let folder = folder();
    fs::write(folder.path().join("toolscript.toml"), "[limits]\ntimeout = 7\n[io]\nmax_bytes = 2048\nmax_files = 3\n").expect("a file");
    let mut wire = Wire::start(folder.path(), &[]);
    let tools = wire.ask("tools/list", json!({}))["result"]["tools"].clone();
    assert_eq!(tools[0]["name"], "execute_script");
    let description = tools[0]["description"].as_str().expect("a text");
    for words in ["Limits: 7 s, 64 MiB of memory", "A run may write 2 KiB and make 3 files", "io.open(path, mode)", "Errors are raised"] {
        assert!(description.contains(words), "{words}: {description}");
    }
    assert_eq!(tools[0]["inputSchema"]["required"], json!(["script"]));
    assert_eq!(tools[0]["outputSchema"]["required"], json!(["logs", "files_touched"]));
    assert_eq!(tools[0]["annotations"], json!({ "readOnlyHint": false, "destructiveHint": true, "openWorldHint": false }));
    // Its example is a script that runs.
    let example = description.split_once("Example:\n").expect("an example").1;
    assert_eq!(wire.run(example)["structuredContent"]["result"], json!({ "files": ["squares.csv"] }));
}

#[test]
fn without_files_there_is_nothing_of_them() {
    let folder = folder();
    let mut wire = Wire::start_silently(folder.path(), &["--no-io"]);
    let client = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } });
    let info = wire.ask("initialize", client);
    assert_eq!(info["result"]["capabilities"], json!({ "logging": {}, "tools": {} }));
    assert_eq!(info["result"]["serverInfo"]["name"], "toolscript");
    let tools = wire.ask("tools/list", json!({}))["result"]["tools"].clone();
    assert_eq!(tools.as_array().expect("tools").len(), 1);
    let tool = tools[0].clone();
    assert!(tool["description"].as_str().expect("a text").contains("Files are switched off."));
    assert_eq!(tool["annotations"]["readOnlyHint"], true);
    assert_eq!(wire.run("return io == nil and os.remove == nil")["structuredContent"]["result"], true);
    for (method, params) in [("resources/list", json!({})), ("resources/read", json!({ "uri": "io:///x" })), ("prompts/list", json!({}))] {
        assert_eq!(wire.ask(method, params)["error"]["code"], -32601, "{method} is not offered");
    }
    let answer = wire.ask("tools/call", json!({ "name": "read_file", "arguments": { "path": "x" } }));
    assert_eq!(answer["error"]["message"], "Invalid params: `name`: there is no tool `read_file`; see tools/list");
}

#[test]
fn wrong_arguments_are_a_failed_result_that_names_the_field() {
    let folder = folder();
    let mut wire = Wire::start(folder.path(), &[]);
    for (arguments, message) in [
        (json!({}), "Invalid params: `script` is required"),
        (json!({ "script": 7 }), "Invalid params: `script` must be a string"),
        (json!({ "script": "", "timeout_ms": -5 }), "Invalid params: `timeout_ms` must be a whole number of milliseconds, at least 1"),
        (json!({ "script": "", "extra": 1 }), "Invalid params: `extra` is not a parameter; there are `script` and `timeout_ms`"),
        (json!({ "script": "-".repeat(1_048_577) }), "Invalid params: `script`: the script is 1048577 bytes; at most 1048576 are allowed"),
    ] {
        let answer = wire.ask("tools/call", json!({ "name": "execute_script", "arguments": arguments }));
        assert_eq!(answer["result"], json!({ "content": [{ "type": "text", "text": message }], "isError": true }));
    }
}

#[test]
fn wrong_parameters_are_an_error_of_the_request() {
    let folder = folder();
    let mut wire = Wire::start(folder.path(), &[]);
    for (params, message) in [
        (json!({ "name": "other" }), "Invalid params: `name`: there is no tool `other`; see tools/list"),
        (json!({ "name": 7 }), "Invalid params: `name` must be a string and `arguments` an object"),
        (json!({ "name": "execute_script", "arguments": [] }), "Invalid params: `name` must be a string and `arguments` an object"),
    ] {
        let answer = wire.ask("tools/call", params);
        assert_eq!((&answer["error"]["code"], &answer["error"]["message"]), (&json!(-32602), &json!(message)));
    }
    assert_eq!(wire.ask("no/such", json!({}))["error"]["code"], -32601);
}

#[test]
fn a_timeout_only_lowers_the_limit() {
    let folder = folder();
    let mut wire = Wire::start(folder.path(), &["--timeout", "0.3"]);
    for (timeout, seconds) in [(100, "0.1"), (60_000, "0.3")] {
        let params = json!({ "name": "execute_script", "arguments": { "script": "while true do end", "timeout_ms": timeout } });
        let result = wire.ask("tools/call", params)["result"].clone();
        assert_eq!(result["structuredContent"]["error"]["message"], format!("the script ran longer than {seconds} s"));
    }
}

#[test]
fn lines_and_progress_arrive_before_the_result() {
    let folder = folder();
    let mut wire = Wire::start(folder.path(), &[]);
    wire.run("print('nobody set a level')");
    assert_eq!(wire.notifications, Vec::<Value>::new());
    assert!(wire.ask("logging/setLevel", json!({ "level": "info" }))["result"].is_object());
    let script =
        "print('one') progress(1, 3, 'first') print('two') progress(1, 3) progress(0.5) progress(0 / 0) progress(math.huge) progress(2, 3)";
    let mut params = call(script);
    params["_meta"] = json!({ "progressToken": "token" });
    let answer = wire.ask("tools/call", params);
    assert_eq!(answer["result"]["structuredContent"]["logs"], json!(["one", "two"]));
    let lines: String = texts(&wire.notifications).join("\n");
    assert_eq!(lines, "one\ntwo");
    let progress: Vec<f64> = progress(&wire.notifications);
    assert!(progress.is_sorted_by(|one, next| one < next) && progress.last() == Some(&2.0), "{progress:?}");
    wire.notifications.clear();
    wire.ask("logging/setLevel", json!({ "level": "error" }));
    wire.run("print('less serious')");
    assert_eq!(wire.notifications, Vec::<Value>::new());
}

/// The data of all messages.
fn texts(notifications: &[Value]) -> Vec<&str> {
    let messages = notifications.iter().filter(|message| message["method"] == "notifications/message");
    messages.map(|message| message["params"]["data"].as_str().expect("a text")).collect()
}

fn progress(notifications: &[Value]) -> Vec<f64> {
    let all = notifications.iter().filter(|message| message["method"] == "notifications/progress");
    all.map(|message| message["params"]["progress"].as_f64().expect("a number")).collect()
}

#[test]
fn notifications_are_few_however_much_a_script_says() {
    let folder = folder();
    let mut wire = Wire::start(folder.path(), &[]);
    wire.ask("logging/setLevel", json!({ "level": "debug" }));
    let started = Instant::now();
    let mut params = call("for i = 1, 200000 do progress(i) if i % 10 == 0 then print('line ' .. i) end end return 'done'");
    params["_meta"] = json!({ "progressToken": 1 });
    assert_eq!(wire.ask("tools/call", params)["result"]["structuredContent"]["result"], "done");
    let most = 4 + started.elapsed().as_millis() as usize / 50;
    assert!(wire.notifications.len() <= most, "{} notifications, at most {most}", wire.notifications.len());
    assert_eq!(progress(&wire.notifications).last(), Some(&200_000.0));
    assert!(texts(&wire.notifications).iter().all(|text| text.len() < 70_000));
}

#[test]
fn a_reader_that_does_not_read_costs_bounded_memory() {
    let folder = folder();
    let mut wire = Wire::start(folder.path(), &[]);
    wire.ask("logging/setLevel", json!({ "level": "debug" }));
    let gate = wire.gate();
    let not_reading = gate.lock().expect("not poisoned");
    let id = wire.begin("tools/call", call("for i = 1, 500000 do print(('x'):rep(100)) end io.open('done', 'w'):close() return 'done'"));
    // The script is not held up by a client that does not read.
    let started = Instant::now();
    while !folder.path().join("toolscript-files/done").exists() {
        assert!(started.elapsed().as_secs() < 30, "the script waits for the client");
        std::thread::yield_now();
    }
    drop(not_reading);
    let answer = wire.answer(id);
    assert_eq!(answer["result"]["structuredContent"]["truncated"], json!(["logs"]));
    assert!(texts(&wire.notifications).last().expect("a message").contains("more lines, which are in the logs of the result"));
    let status = fs::read_to_string(format!("/proc/{}/status", wire.process())).expect("status");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a line").trim().trim_end_matches(" kB");
    assert!(peak.parse::<u64>().expect("a number") < 200 * 1024, "{peak} KiB");
}

#[test]
fn cancelling_a_request_stops_its_script_at_once() {
    let folder = folder();
    fs::write(folder.path().join("toolscript.toml"), "[limits]\nconcurrency = 1\n").expect("a file");
    let mut wire = Wire::start(folder.path(), &[]);
    wire.ask("logging/setLevel", json!({ "level": "info" }));
    let endless = wire.begin("tools/call", call("io.open('f', 'w'):write('kept') print('started') while true do end"));
    assert_eq!(wire.next().expect("a message")["params"]["data"], "started");
    // It has the only permit, so the next one waits for it.
    let waiting = wire.begin("tools/call", call("return io.open('f'):read('*a')"));
    wire.notify("notifications/cancelled", json!({ "requestId": endless, "reason": "enough" }));
    assert_eq!(wire.answer(waiting)["result"]["structuredContent"]["result"], "kept");
    wire.close();
    let (status, rest) = wire.finish();
    assert_eq!(status.code(), Some(0));
    assert!(rest.iter().all(|message| message["id"] != endless), "a cancelled request has no answer: {rest:?}");
}

#[test]
fn more_runs_than_allowed_are_refused_at_once() {
    let folder = folder();
    fs::write(folder.path().join("toolscript.toml"), "[limits]\nconcurrency = 1\nqueue = 0\n").expect("a file");
    let mut wire = Wire::start(folder.path(), &[]);
    wire.ask("logging/setLevel", json!({ "level": "info" }));
    wire.begin("tools/call", call("print('started') while true do end"));
    assert_eq!(wire.next().expect("a message")["params"]["data"], "started");
    let refused = json!({ "code": -32000, "message": "busy: 1 scripts are running and 0 are waiting; try again later" });
    assert_eq!(wire.ask("tools/call", call("return 1"))["error"], refused);
}

#[test]
fn the_end_of_the_input_or_a_signal_ends_running_scripts_and_exits_well() {
    for ending in ["end", "TERM", "INT"] {
        let folder = folder();
        let mut wire = Wire::start(folder.path(), &["--timeout", "600"]);
        wire.ask("logging/setLevel", json!({ "level": "info" }));
        for number in 0..3 {
            wire.begin(
                "tools/call",
                call(&format!(
                    "local f = io.open('f{number}', 'w') f:write('1') f:write('2') f:flush() print('started') while true do end"
                )),
            );
        }
        let mut started = 0;
        while started < 3 {
            started += wire.next().expect("a message")["params"]["data"].as_str().expect("a text").lines().count();
        }
        let begun = Instant::now();
        if ending == "end" {
            wire.close();
        } else {
            let process = wire.process().to_string();
            assert!(Command::new("kill").args([&format!("-{ending}"), &process]).status().expect("kill").success());
        }
        let (status, _) = wire.finish();
        assert_eq!(status.code(), Some(0), "{ending}");
        // The runs would have ten minutes; the library's own patience is five seconds.
        assert!(begun.elapsed().as_secs() < 4, "{ending}: {:?}", begun.elapsed());
        assert_eq!(fs::read_to_string(folder.path().join("toolscript-files/f2")).expect("the file"), "12");
    }
    let folder = folder();
    let mut silent = Wire::start_silently(folder.path(), &[]);
    silent.close();
    assert_eq!(silent.finish().0.code(), Some(0));
}

#[test]
fn a_client_that_does_not_read_is_left_at_the_end() {
    let folder = folder();
    let mut wire = Wire::start(folder.path(), &[]);
    let gate = wire.gate();
    let not_reading = gate.lock().expect("not poisoned");
    for _ in 0..20 {
        wire.begin("tools/call", call("return ('x'):rep(100000)"));
    }
    wire.begin("tools/call", call("io.open('done', 'w'):close() while true do end"));
    while !folder.path().join("toolscript-files/done").exists() {
        std::thread::yield_now();
    }
    wire.close();
    let begun = Instant::now();
    let status = wire.wait();
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
    assert_eq!(status.code(), Some(0));
    drop(not_reading);
}

#[test]
fn a_first_message_that_is_none_is_told_in_one_line() {
    let folder = folder();
    let mut wire = Wire::start_silently(folder.path(), &[]);
    wire.notify("notifications/cancelled", json!({ "requestId": 1 }));
    let (status, said) = wire.finish();
    assert_eq!((status.code(), said), (Some(1), vec![]));
}

#[test]
fn in_the_newest_revision_a_level_is_of_one_request() {
    let folder = folder();
    let mut wire = Wire::start_silently(folder.path(), &[]);
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} });
    assert!(wire.ask("server/discover", json!({ "_meta": meta }))["result"]["supportedVersions"].is_array());
    assert_eq!(wire.ask("logging/setLevel", json!({ "level": "info", "_meta": meta }))["error"]["code"], -32601);
    let mut params = call("print('said')");
    params["_meta"] = meta.clone();
    wire.ask("tools/call", params.clone());
    assert_eq!(wire.notifications, Vec::<Value>::new());
    params["_meta"]["io.modelcontextprotocol/logLevel"] = json!("info");
    wire.ask("tools/call", params);
    assert_eq!(texts(&wire.notifications), ["said"]);
}

#[test]
fn few_requests_may_listen_at_once() {
    let folder = folder();
    let mut wire = Wire::start_silently(folder.path(), &[]);
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} });
    wire.ask("server/discover", json!({ "_meta": meta }));
    for _ in 0..17 {
        wire.begin("subscriptions/listen", json!({ "_meta": meta, "notifications": { "resourcesListChanged": true } }));
    }
    // All are acknowledged, and whichever comes last is refused.
    let (mut acknowledged, mut refused) = (0, Vec::new());
    while acknowledged < 17 || refused.is_empty() {
        let message = wire.next().expect("a message");
        match message.get("error") {
            Some(error) => refused.push(error["message"].clone()),
            None => acknowledged += usize::from(message["method"] == "notifications/subscriptions/acknowledged"),
        }
    }
    assert_eq!(refused, ["at most 16 requests may listen at once"]);
}

#[test]
fn hostile_lines_are_answered_or_ignored_and_the_server_goes_on() {
    let folder = folder();
    let mut wire = Wire::start(folder.path(), &[]);
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for line in [
        "not json at all".to_owned(),
        "{\"jsonrpc\":\"2.0\",\"id\":".to_owned(),
        "[{\"jsonrpc\":\"2.0\",\"id\":70,\"method\":\"ping\"},{\"jsonrpc\":\"2.0\",\"id\":71,\"method\":\"ping\"}]".to_owned(),
        "{\"jsonrpc\":\"2.0\",\"id\":99999999999999999999999999,\"method\":\"ping\"}".to_owned(),
        "{\"jsonrpc\":\"1.0\",\"id\":72,\"method\":\"ping\"}".to_owned(),
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}".to_owned(),
        "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":[]}".to_owned(),
        "\u{0}\u{1}\u{feff}".to_owned(),
        String::new(),
        deep.clone(),
        format!("{{\"jsonrpc\":\"2.0\",\"id\":73,\"method\":\"tools/call\",\"params\":{deep}}}"),
        format!("{{\"jsonrpc\":\"2.0\",\"id\":74,\"method\":\"ping\",\"params\":\"{}\"}}", "x".repeat(20 << 20)),
    ] {
        wire.raw(line.as_bytes());
        wire.raw(b"\n");
    }
    wire.raw(b"\xff\xfe\n");
    assert_eq!(wire.run("return 'alive'")["structuredContent"]["result"], "alive");
    // What was answered are errors.
    assert!(wire.notifications.iter().all(|message| message.get("error").is_some()), "{:?}", wire.notifications);
    let status = fs::read_to_string(format!("/proc/{}/status", wire.process())).expect("status");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a line").trim().trim_end_matches(" kB");
    assert!(peak.parse::<u64>().expect("a number") < 200 * 1024, "{peak} KiB");
}

#[test]
fn files_are_resources_in_pages() {
    let folder = folder();
    let mut wire = Wire::start(folder.path(), &[]);
    assert_eq!(wire.ask("resources/list", json!({}))["result"]["resources"], json!([]));
    wire.run("for i = 1, 250 do io.open(('d%d/f%03d.txt'):format(i % 3, i), 'w'):write(i):close() end");
    symlink("/etc/passwd", folder.path().join("toolscript-files/link")).expect("a link");
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
    let wrong = wire.ask("resources/list", json!({ "cursor": "x" }));
    assert_eq!(wrong["error"]["message"], "Invalid params: `cursor` is not one that this server gave");
}

#[test]
fn a_resource_is_read_as_text_or_bytes_or_refused() {
    let folder = folder();
    let mut wire = Wire::start(folder.path(), &[]);
    wire.run(
        "io.open('a b.json', 'w'):write('{}'):close() io.open('i.png', 'w'):write('\\x89PNG\\0'):close()
        io.open('big', 'w'):write(('x'):rep(2^20 + 1)):close() io.open('notes', 'w'):write('plain') io.open('bytes', 'w'):write('\\xff')",
    );
    symlink("/etc/passwd", folder.path().join("toolscript-files/link")).expect("a link");
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
fn a_client_hears_of_files_that_changed() {
    let folder = folder();
    let mut wire = Wire::start(folder.path(), &[]);
    // Another way to write the same address.
    wire.ask("resources/subscribe", json!({ "uri": "io:///%61" }));
    let long = wire.ask("resources/subscribe", json!({ "uri": "x".repeat(20_000) }));
    assert_eq!(long["error"]["message"], "Invalid params: `uri` is too long, or not one of a file");
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
