//! `toolscript.toml`: limits, io, and errors.

use super::{rejected, run_in, text, toolscript};
use std::fs;
use tempfile::TempDir;

#[test]
fn flags_override_the_limits_of_the_configuration() {
    let directory = TempDir::new().expect("a directory");
    fs::write(directory.path().join("toolscript.toml"), "[limits]\nfuel = 1_000_000\nlogs = 50\n").expect("a file");
    let output = toolscript(&directory, &["run", "-e", "while true do end"]).output().expect("output");
    assert_eq!(text(&output.stderr), "error: fuel: the script used up its fuel (1000000)\n");
    let output = toolscript(&directory, &["run", "-e", "while true do end", "--fuel", "2000000"]).output().expect("output");
    assert_eq!(text(&output.stderr), "error: fuel: the script used up its fuel (2000000)\n");
    let output = toolscript(&directory, &["run", "-e", "print(('x'):rep(60))"]).output().expect("output");
    assert_eq!((text(&output.stdout), text(&output.stderr)), ("xxxxxxxxxxxxxxxxxxxxxxxxxx\n", "note: truncated at the limit: logs\n"));

    fs::write(directory.path().join("other.toml"), "[limits]\nresult = 3\n").expect("a file");
    let output = toolscript(&directory, &["run", "-e", "return 1234", "--config", "other.toml"]).output().expect("output");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn an_invalid_configuration_is_rejected_with_its_position() {
    let directory = TempDir::new().expect("a directory");
    for (config, message) in [
        (
            "[limits]\n\ntimeot = 3\n",
            "line 3: unknown field `timeot`, expected one of `timeout`, `fuel`, `memory`, `script`, `logs`, `result`, `inline`, `api_calls`, `concurrency`, `queue`, `tenant_concurrency`, `tenant_queue`, `tenant_per_minute`",
        ),
        (
            "[limit]\n",
            "line 1: unknown field `limit`, expected one of `limits`, `io`, `server`, `auth`, `apis`, `mcp_servers`, `frozen_params`",
        ),
        ("[limits]\ntimeout = \"long\"\n", "line 2: invalid type: string \"long\", expected f64"),
        ("[limits]\nmemory = 5\n", "[limits]: memory must be between 4 MiB and 4096 MiB"),
        ("[limits]\ntimeout = -1\n", "[limits]: timeout must be more than 0 and at most 86400 seconds"),
        (
            "[io]\ndirectory = \"x\"\n",
            "line 2: unknown field `directory`, expected one of `dir`, `max_bytes`, `max_files`, `enabled`, `errors`, `tenant_bytes`",
        ),
        ("[io]\nmax_bytes = \"50 MiB\"\n", "line 2: invalid type: string \"50 MiB\", expected u64"),
        ("[io]\nmax_bytes = -1\n", "line 2: invalid value: integer `-1`, expected u64"),
        ("[io]\nerrors = \"ignore\"\n", "line 2: unknown variant `ignore`, expected `raise` or `return`"),
        ("[io]\nenabled = \"yes\"\n", "line 2: invalid type: string \"yes\", expected a boolean"),
        ("[output]\ndir = \"x\"\n", "[output] was replaced by [io], with dir, max_bytes, max_files, enabled and errors"),
        ("[server]\nlisten = 8080\n", "line 2: invalid type: integer `8080`, expected a string"),
        ("[server]\ntransport = \"ws\"\n", "line 2: unknown variant `ws`, expected `stdio` or `http`"),
        ("[server]\ndrain = -1\n", "[server]: drain must be at least 0 and at most 86400 seconds"),
        ("[server]\nheader_timeout = 0\n", "[server]: header_timeout must be more than 0 and at most 86400 seconds"),
        ("[server]\nconnections = 0\n", "[server]: connections must be more than 0"),
        ("[server]\npublic_url = \"tools\"\n", "line 2: relative URL without a base: \"tools\""),
        (
            "[auth]\nissuer = \"https://a\"\n",
            "line 2: unknown field `issuer`, expected one of `authority`, `audience`, `jwks_uri`, `scope`",
        ),
        ("limits = \n", "line 1: string values must be quoted, expected literal string"),
    ] {
        fs::write(directory.path().join("toolscript.toml"), config).expect("a file");
        let output = toolscript(&directory, &["run", "-e", "return 1"]).output().expect("output");
        rejected(&output, &format!("configuration toolscript.toml: {message}"));
    }
    for dir in ["../x", "a/../x", "/tmp/../x"] {
        fs::write(directory.path().join("toolscript.toml"), format!("[io]\ndir = \"{dir}\"\n")).expect("a file");
        // The path is rejected even if it is not used.
        for flags in [&[][..], &["--no-io"], &["--io-dir", "files"]] {
            let output = toolscript(&directory, &[&["run", "-e", "return 1"], flags].concat()).output().expect("output");
            rejected(&output, "configuration toolscript.toml: [io] dir: the path contains '..'; name the directory itself");
        }
    }
    let output = toolscript(&directory, &["run", "-e", "return 1", "--config", "nowhere.toml"]).output().expect("output");
    rejected(&output, "can't read the configuration nowhere.toml: No such file or directory (os error 2)");
}

#[test]
fn the_io_directory_comes_from_the_command_line_the_configuration_or_the_default() {
    let directory = TempDir::new().expect("a directory");
    let (script, exists) = ("io.open('x', 'w'):write('x')", |path: &str| directory.path().join(path).exists());
    run_in(&directory, &["run", "-e", script]);
    assert!(exists("toolscript-files/x"));
    fs::write(directory.path().join("toolscript.toml"), "[io]\ndir = \"configured/deep\"\nmax_bytes = 3\nmax_files = 1\n").expect("a file");
    run_in(&directory, &["run", "-e", script]);
    assert!(exists("configured/deep/x"));
    run_in(&directory, &["run", "-e", script, "--io-dir", "named"]);
    assert!(exists("named/x"));
    let over = "return (select(2, pcall(function() io.open('y', 'w'):write('1234') end))), (select(2, pcall(io.open, 'z', 'w')))";
    let expected = "[\"script:1: I/O write limit exceeded (3 bytes)\",\"too many files created (max 1)\"]\nwrite y (0 bytes)\n";
    assert_eq!(run_in(&directory, &["run", "-e", over]), expected);
    let output = toolscript(&directory, &["run", "-e", "", "--io-dir", "toolscript.toml"]).output().expect("output");
    rejected(&output, "--io-dir toolscript.toml: it can't be opened as a directory: Not a directory (os error 20)");
    let absolute = directory.path().join("absolute");
    run_in(&directory, &["run", "-e", script, "--io-dir", absolute.to_str().expect("a path")]);
    assert!(exists("absolute/x"));
}

#[test]
fn io_can_be_disabled_and_errors_can_be_returned() {
    let directory = TempDir::new().expect("a directory");
    let script = "return io == nil, file == nil, os.remove == nil";
    assert_eq!(run_in(&directory, &["run", "-e", script, "--no-io"]), "[true,true,true]\n");
    assert_eq!(run_in(&directory, &["run", "-e", script]), "[false,false,false]\n");
    fs::write(directory.path().join("toolscript.toml"), "[io]\nenabled = false\n").expect("a file");
    assert_eq!(run_in(&directory, &["run", "-e", script]), "[true,true,true]\n");
    assert_eq!(run_in(&directory, &["run", "-e", script, "--io-dir", "x"]), "[false,false,false]\n");
    fs::write(directory.path().join("other.toml"), "[io]\nerrors = \"return\"\n").expect("a file");
    let missing = "local _, message, number = io.open('x') return message, number";
    assert_eq!(run_in(&directory, &["run", "-e", missing, "--config", "other.toml"]), "[\"x: No such file or directory\",2]\n");
}
