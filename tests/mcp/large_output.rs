//! Results, logs and files that are too large for the context of a model.

use crate::support::{
    server_process::{temp_directory, temp_directory_with_config},
    wire::Wire,
};
use serde_json::{Value, json};
use std::fs;

/// Returns the names of the saved outputs in a directory.
fn saved(directory: &tempfile::TempDir) -> Vec<String> {
    let Ok(entries) = fs::read_dir(directory.path().join("toolscript-files/outputs")) else { return Vec::new() };
    let mut names: Vec<String> = entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8")).collect();
    names.sort();
    names
}

#[test]
fn a_large_result_is_saved_and_its_head_and_tail_are_shown() {
    let directory = temp_directory_with_config("[limits]\ninline = 20\n[server]\nresource_links = true\n");
    let mut wire = Wire::start(directory.path(), &[]);
    let result = wire.run("local t = {} for n = 1, 20 do t[n] = n end return t");
    let names = saved(&directory);
    let [name] = &names[..] else { panic!("{names:?}") };
    assert!(name.starts_with("result-") && name.ends_with(".json") && name.len() == "result-01234567.json".len(), "{name}");
    let file = format!("outputs/{name}");
    let all = "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]";
    assert_eq!(fs::read_to_string(directory.path().join("toolscript-files").join(&file)).expect("the file"), all);
    let shown = format!("[1,2,3,4,5\n[… 32 of 52 bytes omitted; the whole result is in {file} …]\n,18,19,20]");
    let outcome = json!({
        "result": shown,
        "logs": [],
        "files_touched": [],
        "truncated": ["result"],
        "outputs": { "result": file },
    });
    assert_eq!(result["structuredContent"], outcome);
    assert_eq!(result["isError"], false);
    let text = json!({ "result": shown, "truncated": ["result"], "outputs": { "result": file } });
    assert_eq!(serde_json::from_str::<Value>(result["content"][0]["text"].as_str().expect("a text")).expect("JSON"), text);
    assert_eq!(result["content"][1]["uri"], format!("io:///{file}"));
    // The next script reads the whole.
    let sum = format!("local sum = 0 for _, n in json.decode(io.open('{file}'):read('a')) do sum += n end return sum");
    assert_eq!(wire.run(&sum)["structuredContent"]["result"], 210);
}

#[test]
fn a_large_string_is_saved_as_text_and_large_logs_as_lines() {
    let directory = temp_directory_with_config("[limits]\ninline = 60\n");
    let mut wire = Wire::start(directory.path(), &[]);
    let result = wire.run("for n = 1, 12 do print('line ' .. n) end return ('first line\\n'):rep(9) .. 'the end'");
    let outcome = &result["structuredContent"];
    let (log, text) = (outcome["outputs"]["logs"].as_str().expect("a file"), outcome["outputs"]["result"].as_str().expect("a file"));
    assert!(log.starts_with("outputs/logs-") && log.ends_with(".txt") && text.starts_with("outputs/result-") && text.ends_with(".txt"));
    let read = |name: &str| fs::read_to_string(directory.path().join("toolscript-files").join(name)).expect("the file");
    assert_eq!(read(text), "first line\n".repeat(9) + "the end");
    assert_eq!(read(log).lines().count(), 12);
    let note = format!("[… 43 of 86 bytes omitted, 12 lines in all; the whole log is in {log} …]");
    assert_eq!(outcome["logs"], json!(["line 1", "line 2", "line 3", note, "line 10", "line 11", "line 12"]));
    let note = format!("[… 67 of 106 bytes omitted; the whole result is in {text} …]");
    assert_eq!(outcome["result"], format!("first line\nfirst line\n{note}\nfirst line\nthe end").as_str());
    assert_eq!(outcome["truncated"], json!(["result", "logs"]));
    // The logs of a failed run, too.
    let failed = wire.run("for n = 1, 12 do print('line ' .. n) end error('bad')");
    assert_eq!(failed["content"][0]["text"], "Script execution error: script:1: bad");
    assert_eq!(failed["structuredContent"]["logs"].as_array().map(Vec::len), Some(7));
}

#[test]
fn without_a_file_a_large_result_is_truncated_and_flagged() {
    let shown = |note: &str| json!({ "result": format!("aaaaaaaaaa\n{note}\naaaaaaaaaa"), "logs": [], "files_touched": [], "truncated": ["result"] });
    let directory = temp_directory_with_config("[limits]\ninline = 20\n");
    let mut wire = Wire::start(directory.path(), &["--no-io"]);
    assert_eq!(wire.run("return ('a'):rep(50)")["structuredContent"], shown("[… 30 of 50 bytes omitted …]"));

    let directory = temp_directory_with_config("[limits]\ninline = 20\n[io]\ntenant_bytes = 1040\n");
    let mut wire = Wire::start(directory.path(), &[]);
    let note = "[… 30 of 50 bytes omitted; the whole result was not saved: ";
    let result = wire.run("return ('a'):rep(50)")["structuredContent"].clone();
    let text = result["result"].as_str().expect("a text");
    assert!(text.contains(note) && text.contains("disk quota exceeded"), "{text}");
    assert_eq!((&result["truncated"], result.get("outputs")), (&json!(["result"]), None));
    assert_eq!(saved(&directory), [""; 0]);
}

#[test]
fn the_default_limit_is_24_kib_and_0_is_no_limit() {
    let directory = temp_directory();
    let mut wire = Wire::start(directory.path(), &[]);
    // The quotes count.
    let whole = wire.run("return ('a'):rep(24 * 1024 - 2)")["structuredContent"].clone();
    assert_eq!((whole["result"].as_str().map(str::len), whole.get("truncated")), (Some(24 * 1024 - 2), None));
    let larger = wire.run("return ('a'):rep(24 * 1024 - 1)")["structuredContent"].clone();
    assert_eq!(larger["truncated"], json!(["result"]));
    // Escape sequences count too, so that the text of a response is bounded.
    let escaped = wire.run("for n = 1, 1000 do print(('\\1'):rep(100)) end return ('\"'):rep(100000)");
    let sizes = (escaped["content"][0]["text"].as_str().expect("a text").len(), escaped["structuredContent"].to_string().len());
    assert!(sizes.0 < 50 << 10 && sizes.1 < 50 << 10, "{sizes:?}");

    let directory = temp_directory_with_config("[limits]\ninline = 0\n");
    let mut wire = Wire::start(directory.path(), &[]);
    let result = wire.run("print(('b'):rep(100000)) return ('a'):rep(1000000)")["structuredContent"].clone();
    assert_eq!((result["result"].as_str().map(str::len), result["logs"][0].as_str().map(str::len)), (Some(1_000_000), Some(100_000)));
    assert_eq!(result.get("truncated"), None);
}

#[test]
fn a_long_list_of_files_is_saved_and_its_first_files_are_shown() {
    let directory = temp_directory_with_config("[limits]\ninline = 100\n");
    let mut wire = Wire::start(directory.path(), &[]);
    let result = wire.run("for n = 10, 29 do io.open('f' .. n, 'w'):write(n):close() end return 1");
    let outcome = &result["structuredContent"];
    let shown = json!([{ "name": "f10", "op": "write", "bytes": 2 }, { "name": "f11", "op": "write", "bytes": 2 }]);
    assert_eq!((&outcome["files_touched"], &outcome["files_touched_count"]), (&shown, &json!(20)), "{outcome}");
    assert_eq!(outcome["truncated"], json!(["files_touched"]));
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().expect("a text")).expect("JSON");
    assert_eq!((&text["files_touched"], &text["files_touched_count"]), (&shown, &json!(20)));
    let file = outcome["outputs"]["files_touched"].as_str().expect("a file");
    assert!(file.starts_with("outputs/files_touched-") && file.ends_with(".json"), "{file}");
    let all = fs::read_to_string(directory.path().join("toolscript-files").join(file)).expect("the file");
    let all: Vec<Value> = serde_json::from_str(&all).expect("JSON");
    assert_eq!((all.len(), &all[19]), (20, &json!({ "name": "f29", "op": "write", "bytes": 2 })));
    // A short list is complete.
    let outcome = wire.run("io.open('f10', 'w'):close()")["structuredContent"].clone();
    assert_eq!((outcome.get("files_touched_count"), outcome.get("truncated")), (None, None));
}

#[test]
fn the_newest_100_outputs_are_kept() {
    let directory = temp_directory_with_config("[limits]\ninline = 20\n");
    let outputs = directory.path().join("toolscript-files/outputs");
    fs::create_dir_all(&outputs).expect("a directory");
    let hour = std::time::Duration::from_secs(3600);
    let write = |name: &str, age: u32| {
        fs::write(outputs.join(name), "old").expect("a file");
        let file = fs::File::options().write(true).open(outputs.join(name)).expect("a file");
        file.set_modified(std::time::SystemTime::now() - hour * (age + 1)).expect("a time");
    };
    (0..105).for_each(|age| write(&format!("logs-{age:08x}.txt"), age));
    // Files with other names, and directories, are never removed.
    let others = ["logs-0000000.txt", "logs-000000000.txt", "logs-0000ABCD.txt", "notes.txt", "result-00000001.csv"];
    others.iter().for_each(|name| write(name, 1000));
    fs::create_dir(outputs.join("result-00000001.txt")).expect("a directory");

    let mut wire = Wire::start(directory.path(), &[]);
    let outcome = wire.run("for n = 1, 20 do print(n) end return ('a'):rep(50)")["structuredContent"].clone();
    let names = saved(&directory);
    assert_eq!(names.len(), 100 + others.len() + 1, "{names:?}");
    for key in ["logs", "result"] {
        let name = outcome["outputs"][key].as_str().and_then(|file| file.strip_prefix("outputs/")).expect("a file");
        assert!(names.iter().any(|known| known == name), "{name}");
    }
    let is_kept = |name: &str| names.iter().any(|known| known == name);
    assert!(others.iter().all(|name| is_kept(name)) && is_kept("result-00000001.txt"), "{names:?}");
    let oldest = (0..105).filter(|age| is_kept(&format!("logs-{age:08x}.txt"))).max();
    assert_eq!(oldest, Some(97));
}

#[test]
fn read_file_returns_pages_of_the_same_size() {
    let directory = temp_directory_with_config("[limits]\ninline = 10\n");
    let mut wire = Wire::start(directory.path(), &[]);
    wire.run("io.open('f', 'w'):write('one\\ntwo\\nthree\\n'):close()");
    let mut read = |offset: u64| {
        let params = json!({ "name": "read_file", "arguments": { "path": "f", "offset": offset } });
        wire.ask("tools/call", params)["result"].clone()
    };
    let page = read(1);
    assert_eq!(page["content"][0]["text"], "     1\tone\n     2\ttwo\n(2 of 3 lines; continue with offset 3)");
    assert_eq!(page["structuredContent"]["truncated_by"], "bytes");
    assert_eq!(read(3)["content"][0]["text"], "     3\tthree\n");
}

#[test]
fn a_response_is_limited_and_its_logs_and_files_are_still_reported() {
    let directory = temp_directory_with_config("[limits]\ninline = 0\nresponse = 524288\n");
    let mut wire = Wire::start(directory.path(), &[]);
    // The result with its quotes, once as JSON and once as text with escaped quotes, and an empty list of files.
    let largest = (524_288 - 2 * 2 - 2) / 2 - 2;
    let whole = wire.run(&format!("return ('a'):rep({largest})"));
    assert_eq!(whole["structuredContent"]["result"].as_str().map(str::len), Some(largest));
    assert!((524_288..526_000).contains(&whole.to_string().len()), "{}", whole.to_string().len());

    let failed = wire.run(&format!("print('before') io.open('kept.txt', 'w'):write('kept'):close() return ('a'):rep({largest} + 1)"));
    let message = "the response would have 524404 bytes; at most 524288 are allowed: return less, write it to a file, or raise [limits] \
                   response";
    let outcome = json!({
        "error": { "kind": "result", "message": message },
        "logs": ["before"],
        "files_touched": [{ "name": "kept.txt", "op": "write", "bytes": 4 }],
    });
    assert_eq!((&failed["structuredContent"], &failed["isError"]), (&outcome, &json!(true)));
    assert_eq!(failed["content"][0]["text"], format!("Script execution error: {message}"));
}

#[test]
fn a_log_that_does_not_fit_into_a_response_is_saved_and_the_result_is_kept() {
    let directory = temp_directory_with_config("[limits]\ninline = 0\nresponse = 524288\n");
    let mut wire = Wire::start(directory.path(), &[]);
    // Each character takes six bytes as JSON, and seven in the text.
    let response = wire.run("for n = 1, 9 do print(('\\1'):rep(100000)) end return ('a'):rep(100000)");
    let outcome = &response["structuredContent"];
    assert_eq!((outcome["result"].as_str().map(str::len), &outcome["truncated"]), (Some(100_000), &json!(["logs"])));
    let file = outcome["outputs"]["logs"].as_str().expect("a file");
    let log = fs::read_to_string(directory.path().join("toolscript-files").join(file)).expect("the file");
    assert!(log == vec!["\u{1}".repeat(100_000); 9].join("\n"));
    assert!(response.to_string().len() < 524_288, "{}", response.to_string().len());
    // Both the result and the log are too large.
    let failed = wire.run("for n = 1, 9 do print(('\\1'):rep(100000)) end return ('a'):rep(200000)");
    assert_eq!(failed["structuredContent"]["error"]["kind"], "result");
    assert_eq!(failed["structuredContent"]["truncated"], json!(["logs"]));
}

#[test]
fn a_large_inline_limit_does_not_exceed_that_of_a_response() {
    let directory = temp_directory_with_config("[limits]\ninline = 1048576\nresponse = 524288\n");
    let mut wire = Wire::start(directory.path(), &[]);
    let response = wire.run("for n = 1, 9 do print(('\\1'):rep(100000)) end return ('\"'):rep(500000)");
    assert_eq!(response["structuredContent"]["truncated"], json!(["result", "logs"]));
    assert_eq!(response["isError"], false);
    assert!(response.to_string().len() < 524_288, "{}", response.to_string().len());
    assert_eq!(saved(&directory).len(), 2);
}
