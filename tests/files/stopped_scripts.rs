//! Scripts that are stopped: all bytes that they have written are on disk, and files with missing bytes are flagged.

use crate::support::{IoDir, engine, limited, outcome};
use serde_json::json;
use std::{fs, time::Duration};
use toolscript::{ErrorKind, Script};

/// Writes seven bytes and then works until the timeout. Returns the report about the file.
async fn report_of_bytes_written_before(work: &str) -> serde_json::Value {
    let dir = IoDir::new();
    let mut options = limited(|limits| limits.timeout = Duration::from_millis(500));
    options.io = Some(dir.io.clone());
    let source = format!("local f = io.open('seven', 'w') f:write('123') f:write('4567') local other = io.open('other', 'w') {work}");
    let run = engine().run(&Script::new(source), options).await.expect("the run is accepted");
    assert_eq!(run.outcome.result.as_ref().expect_err("stopped").kind, ErrorKind::Timeout, "{work}");
    let mut touched = outcome(&run)["files_touched"].clone();
    assert_eq!(touched[1]["name"], "seven");
    touched[1].take()
}

#[tokio::test]
async fn buffered_bytes_are_on_disk_before_a_script_sleeps() {
    let dir = IoDir::new();
    let mut options = limited(|limits| limits.timeout = Duration::from_millis(200));
    options.io = Some(dir.io.clone());
    let run = engine()
        .run(&Script::new("local f = io.open('f', 'w') for _ = 1, 10 do f:write('x') end sleep(60)"), options)
        .await
        .expect("accepted");
    assert_eq!(run.outcome.result.as_ref().expect_err("stopped").kind, ErrorKind::Timeout);
    assert_eq!(outcome(&run)["files_touched"], json!([{ "name": "f", "op": "write", "bytes": 10 }]));
}

#[tokio::test]
async fn buffered_bytes_are_on_disk_when_a_script_is_stopped_later() {
    for work in [
        "while true do end",
        // Few steps that take long.
        "while true do local s = string.rep('y', 100000) end",
        "local t = table.create(20000, 1) while true do table.sort(t) end",
        "while true do local t = json.decode(json.encode(table.create(2000, 1))) end",
        // Writes to another file, each of which postpones the flush.
        "while true do other:write('x') end",
        "while true do other:write('item ', 1, '\\n') local t = table.create(2000, 1) end",
    ] {
        assert_eq!(report_of_bytes_written_before(work).await, serde_json::json!({ "name": "seven", "op": "write", "bytes": 7 }), "{work}");
    }
}

#[tokio::test]
async fn a_log_of_long_steps_is_written_to_disk_as_it_grows() {
    let dir = IoDir::new();
    let mut options = limited(|limits| limits.timeout = Duration::from_millis(500));
    options.io = Some(dir.io.clone());
    let source = "local f, n = io.open('log', 'w'), 0
        while true do
            n += 1
            f:write('item ', n, '\\n')
            local t = table.create(20000, 1)
            table.sort(t)
            local s = table.concat(t, ',')
            print(n)
        end";
    let run = engine().run(&Script::new(source), options).await.expect("the run is accepted");
    let items = run.outcome.logs.len();
    let lines = fs::read_to_string(dir.path().join("log")).expect("the file").lines().count();
    assert!(items > 3 && lines + 1 >= items, "{lines} lines on disk, {items} items done");
}

#[tokio::test]
async fn a_file_with_missing_bytes_is_reported_with_its_size_on_disk_and_flagged() {
    let dir = IoDir::new().created();
    fs::write(dir.path().join("old"), "old").expect("a file");
    // One call uses up all the fuel, and never reaches the point at which buffers are written.
    let source = "local large = ('x'):rep(1e7)
        local f, g, h = io.open('new', 'w'), io.open('old', 'a'), io.open('done', 'w')
        h:write('done')
        f:write('through')
        g:write(' and new')
        f:write(' and waiting')
        g:write(' and waiting')
        print('stuck')
        return #large:upper()";
    let mut options = limited(|limits| limits.fuel = Some(50_000_000));
    options.io = Some(dir.io.clone());
    let run = engine().run(&Script::new(source), options).await.expect("the run is accepted");
    assert_eq!(run.outcome.logs, ["stuck"]);
    assert_eq!(run.outcome.result.as_ref().expect_err("stopped").kind, ErrorKind::Fuel);
    assert_eq!(
        outcome(&run)["files_touched"],
        serde_json::json!([
            { "name": "done", "op": "write", "bytes": 4 },
            { "name": "new", "op": "write", "bytes": 7, "cut": true },
            { "name": "old", "op": "append", "bytes": 11, "cut": true },
        ])
    );
    assert_eq!(fs::read_to_string(dir.path().join("old")).expect("the file"), "old and new");
}
