//! The server over standard input and output: cancellation, shutdown, malformed messages.

use crate::support::{
    server_process::{peak_memory, send_signal, temp_directory, temp_directory_with_config},
    wire::{Wire, call},
};
use serde_json::json;
use std::{fs, time::Instant};

#[test]
fn cancelling_a_request_stops_its_script_at_once() {
    let directory = temp_directory_with_config("[limits]\nconcurrency = 1\n");
    let mut wire = Wire::start(directory.path(), &[]);
    wire.ask("logging/setLevel", json!({ "level": "info" }));
    let endless = wire.begin("tools/call", call("io.open('f', 'w'):write('kept') print('started') while true do end"));
    assert_eq!(wire.next().expect("a message")["params"]["data"], "started");
    // It has the only permit, so the next run waits.
    let waiting = wire.begin("tools/call", call("return io.open('f'):read('*a')"));
    wire.notify("notifications/cancelled", json!({ "requestId": endless, "reason": "enough" }));
    assert_eq!(wire.answer(waiting)["result"]["structuredContent"]["result"], "kept");
    wire.close();
    let (status, rest) = wire.finish();
    assert_eq!(status.code(), Some(0));
    assert!(rest.iter().all(|message| message["id"] != endless), "a cancelled request has no response: {rest:?}");
}

#[test]
fn runs_above_the_limit_are_rejected_at_once() {
    let directory = temp_directory_with_config("[limits]\nconcurrency = 1\nqueue = 0\n");
    let mut wire = Wire::start(directory.path(), &[]);
    wire.ask("logging/setLevel", json!({ "level": "info" }));
    wire.begin("tools/call", call("print('started') while true do end"));
    assert_eq!(wire.next().expect("a message")["params"]["data"], "started");
    let rejected = json!({ "code": -32000, "message": "busy: 1 scripts are running and 0 are waiting; try again later" });
    assert_eq!(wire.ask("tools/call", call("return 1"))["error"], rejected);
}

#[test]
fn end_of_input_or_a_signal_stops_running_scripts_and_exits_with_0() {
    for ending in ["end", "TERM", "INT"] {
        let directory = temp_directory();
        let mut wire = Wire::start(directory.path(), &["--timeout", "600"]);
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
        let ending_started = Instant::now();
        if ending == "end" {
            wire.close();
        } else {
            send_signal(wire.process(), ending);
        }
        let (status, rest) = wire.finish();
        assert_eq!(status.code(), Some(0), "{ending}");
        // A client that closed the input expects nothing more, and some fail on a message then.
        let responses = rest.iter().filter(|message| message.get("id").is_some()).count();
        assert_eq!(responses, if ending == "end" { 0 } else { 3 }, "{ending}: {rest:?}");
        // The timeout of the runs is ten minutes, and rmcp would wait for five seconds.
        assert!(ending_started.elapsed().as_secs() < 4, "{ending}: {:?}", ending_started.elapsed());
        assert_eq!(fs::read_to_string(directory.path().join("toolscript-files/f2")).expect("the file"), "12");
    }
    let directory = temp_directory();
    let mut silent = Wire::start_silently(directory.path(), &[]);
    silent.close();
    assert_eq!(silent.finish().0.code(), Some(0));
}

#[test]
fn the_server_exits_although_its_client_does_not_read() {
    let directory = temp_directory();
    let mut wire = Wire::start(directory.path(), &[]);
    let gate = wire.gate();
    let not_reading = gate.lock().expect("not poisoned");
    for _ in 0..20 {
        wire.begin("tools/call", call("return ('x'):rep(100000)"));
    }
    wire.begin("tools/call", call("io.open('done', 'w'):close() while true do end"));
    while !directory.path().join("toolscript-files/done").exists() {
        std::thread::yield_now();
    }
    wire.close();
    let ending_started = Instant::now();
    let status = wire.wait();
    assert!(ending_started.elapsed().as_secs() < 20, "{:?}", ending_started.elapsed());
    assert_eq!(status.code(), Some(0));
    drop(not_reading);
}

#[test]
fn an_invalid_first_message_ends_the_server_with_an_error() {
    let directory = temp_directory();
    let mut wire = Wire::start_silently(directory.path(), &[]);
    wire.notify("notifications/cancelled", json!({ "requestId": 1 }));
    let (status, messages) = wire.finish();
    assert_eq!((status.code(), messages), (Some(1), vec![]));
}

#[test]
fn the_server_survives_malformed_and_hostile_lines() {
    let directory = temp_directory();
    let mut wire = Wire::start(directory.path(), &[]);
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
    // All responses are errors.
    assert!(wire.notifications.iter().all(|message| message.get("error").is_some()), "{:?}", wire.notifications);
    let peak = peak_memory(wire.process());
    assert!(peak < 200 << 20, "{peak} bytes");
}
