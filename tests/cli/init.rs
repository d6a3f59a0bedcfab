//! `toolscript init`: what it writes works as it is, and nothing is overwritten.

use super::{rejected, run_in, text, toolscript};
use std::{fs, io::Write as _, process::Stdio};
use tempfile::TempDir;

fn read(directory: &TempDir, name: &str) -> String {
    fs::read_to_string(directory.path().join(name)).expect("a file")
}

#[test]
fn the_written_files_are_loaded_by_run_and_serve() {
    let directory = TempDir::new().expect("a directory");
    assert_eq!(run_in(&directory, &["init"]), "wrote ./toolscript.toml\nwrote ./example.luau\n");
    let output = toolscript(&directory, &["run", "example.luau", "to", "be", "or", "not", "to", "be"]).output().expect("output");
    assert_eq!(text(&output.stderr), "counted\t6\twords\nwrite counts.json (30 bytes)\n");
    let counts: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(counts, serde_json::json!({ "to": 2, "be": 2, "or": 1, "not": 1 }));
    // The io directory does not contain the configuration.
    assert!(directory.path().join("toolscript-files/counts.json").exists());
    let attack = run_in(&directory, &["run", "-e", "io.open('toolscript.toml', 'w')"]);
    assert!(attack.starts_with("error: script:1: path cannot contain 'toolscript.toml', a reserved name\n"), "{attack}");

    let mut server = toolscript(&directory, &["serve"]);
    let mut server = server.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a server");
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;
    let mut input = server.stdin.take().expect("a pipe");
    writeln!(input, "{request}").expect("a request");
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(server.stdout.as_mut().expect("a pipe")), &mut line).expect("a response");
    drop(input);
    let ended = server.wait_with_output().expect("the server ends");
    assert_eq!((text(&ended.stderr), ended.status.code()), ("", Some(0)));
    assert!(line.contains("\"serverInfo\""), "{line}");
}

/// Every key that is commented out exists, and its value is valid.
#[test]
fn the_values_that_are_commented_out_are_valid() {
    let directory = TempDir::new().expect("a directory");
    run_in(&directory, &["init"]);
    let is_setting = |line: &str| line.starts_with('[') || line.split_once(" = ").is_some_and(|(key, _)| !key.contains(' '));
    let uncommented = |line: &str| line.strip_prefix("# ").filter(|line| is_setting(line)).unwrap_or(line).to_owned();
    let configuration: Vec<String> = read(&directory, "toolscript.toml").lines().map(uncommented).collect();
    let settings: toml::Table = configuration.join("\n").parse().expect("TOML");
    assert_eq!(settings["io"].as_table().expect("a table").len(), 5);
    assert_eq!(settings["limits"].as_table().expect("a table").len(), 3);
    assert!(settings["apis"]["shop"].is_table() && settings["mcp_servers"]["notes"].is_table());
    fs::write(directory.path().join("toolscript.toml"), configuration.join("\n")).expect("a configuration");
    assert_eq!(run_in(&directory, &["files", "ls"]), "");
}

#[test]
fn existing_files_are_replaced_only_on_request() {
    let directory = TempDir::new().expect("a directory");
    fs::write(directory.path().join("example.luau"), "mine").expect("a file");
    rejected(&toolscript(&directory, &["init"]).output().expect("output"), "./example.luau exists; use --force to replace it");
    assert_eq!(read(&directory, "example.luau"), "mine");
    assert!(!directory.path().join("toolscript.toml").exists(), "nothing is written");
    assert_eq!(run_in(&directory, &["init", "--force"]), "wrote ./toolscript.toml\nwrote ./example.luau\n");
    assert!(read(&directory, "example.luau").starts_with("-- Counts words."));
}

#[test]
fn a_missing_directory_is_created() {
    let directory = TempDir::new().expect("a directory");
    assert_eq!(run_in(&directory, &["init", "a/b"]), "wrote a/b/toolscript.toml\nwrote a/b/example.luau\n");
    assert!(read(&directory, "a/b/toolscript.toml").contains("[io]"));
    let output = toolscript(&directory, &["init", "a/b/example.luau/c"]).output().expect("output");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).starts_with("error: can't write a/b/example.luau/c/toolscript.toml: "), "{}", text(&output.stderr));
}

#[cfg(unix)]
#[test]
fn a_dangling_symlink_is_not_overwritten() {
    let directory = TempDir::new().expect("a directory");
    std::os::unix::fs::symlink("elsewhere", directory.path().join("toolscript.toml")).expect("a symlink");
    rejected(&toolscript(&directory, &["init"]).output().expect("output"), "./toolscript.toml exists; use --force to replace it");
    assert!(!directory.path().join("elsewhere").exists());
}
