//! `toolscript run`: output, exit codes, signals and pipes.

use super::{run, run_in, text, toolscript};
use serde_json::{Value, json};
use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    process::{Command, Stdio},
};
use tempfile::TempDir;

#[test]
fn json_prints_the_outcome_and_nothing_else() {
    let output = run(&["run", "-e", "print('hi') return {1, 2, x = nil}", "--json"]);
    assert_eq!(text(&output.stdout), "{\"result\":[1,2],\"logs\":[\"hi\"],\"files_touched\":[]}\n");
    assert_eq!(text(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn log_lines_are_printed_before_the_result() {
    let output = run(&["run", "-e", "print('a', 1) print('\\27[31m') return { sum = 3 }"]);
    assert_eq!(text(&output.stdout), "a\t1\n\u{1b}[31m\n{\"sum\":3}\n");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(text(&run(&["run", "-e", "print('only this')"]).stdout), "only this\n");
}

#[test]
fn a_script_is_read_from_a_file_or_standard_input() {
    let directory = TempDir::new().expect("a directory");
    fs::write(directory.path().join("sum.luau"), "local a, b = ... return a + b").expect("a script");
    let output = toolscript(&directory, &["run", "sum.luau", "--", "40", "2"]).output().expect("output");
    assert_eq!((text(&output.stdout), output.status.code()), ("42\n", Some(0)));

    let mut child =
        toolscript(&directory, &["run", "-", "--json"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a process");
    child.stdin.take().expect("a pipe").write_all(b"return 'piped'").expect("written");
    let output = child.wait_with_output().expect("an exit status");
    assert_eq!(text(&output.stdout), "{\"result\":\"piped\",\"logs\":[],\"files_touched\":[]}\n");
}

#[test]
fn exit_codes_distinguish_script_errors_from_limits() {
    for (arguments, code, message) in [
        (&["run", "-e", "x ="][..], 1, "error: syntax: script:1: Expected identifier when parsing expression, got <eof>\n"),
        (&["run", "-e", "error('boom')"], 1, "error: runtime: script:1: boom\n  at [C] function error\n  at script:1\n"),
        (&["run", "-e", "return print"], 1, "error: result: result is a function: it can't be written as JSON\n"),
        (&["run", "-e", "while true do end", "--fuel", "1000000"], 3, "error: fuel: the script used up its fuel (1000000)\n"),
        (
            &["run", "-e", "pcall(function() while true do end end)", "--timeout", "0.2"],
            3,
            "error: timeout: the script ran longer than 0.2 s\n",
        ),
        (
            &["run", "-e", "local s = 'x' while true do s = s .. s end", "--memory-limit", "16"],
            3,
            "error: memory: not enough memory\n  at script:1\n",
        ),
    ] {
        let output = run(arguments);
        assert_eq!((text(&output.stderr), output.status.code()), (message, Some(code)), "{arguments:?}");
        assert_eq!(text(&output.stdout), "");
    }
}

#[test]
fn the_receipt_is_one_json_line_on_standard_error() {
    let output = run(&["run", "-e", "print('x') return 1", "--json", "--receipt"]);
    let receipt: Value = serde_json::from_slice(&output.stderr).expect("one JSON value");
    assert_eq!(text(&output.stderr).lines().count(), 1);
    assert_eq!((&receipt["host_calls"]["count"], &receipt["log_bytes"], &receipt["result_bytes"]), (&json!(1), &json!(25), &json!(1)));
    assert!(receipt["fuel"].as_u64().is_some_and(|fuel| fuel > 1000));
    assert!(receipt["memory_peak"].as_u64().is_some_and(|bytes| bytes > 1 << 20));
    assert!(receipt.get("stopped_by").is_none());
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let directory = TempDir::new().expect("a directory");
    let mut child = toolscript(&directory, &["run", "-e", "for i = 1, 10000 do print(i) end return 1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a process");
    let mut first = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut first).expect("a line");
    assert_eq!(first, "1\n");
    let output = child.wait_with_output().expect("an exit status");
    assert_eq!((text(&output.stderr), output.status.code()), ("", Some(0)));
}

#[cfg(target_os = "linux")]
#[test]
fn a_failure_to_write_the_output_is_an_error() {
    let directory = TempDir::new().expect("a directory");
    for arguments in [&["run", "-e", "return 1", "--json"][..], &["run", "-e", "return 1"], &["run", "-e", "print(1)"]] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("a device");
        let output = toolscript(&directory, arguments).stdout(full).output().expect("output");
        let message = "error: can't write to standard output: No space left on device (os error 28)\n";
        assert_eq!((text(&output.stderr), output.status.code()), (message, Some(1)));
    }
}

#[cfg(unix)]
#[test]
fn a_signal_stops_the_script_and_reports_its_output() {
    let directory = TempDir::new().expect("a directory");
    for signal in ["INT", "TERM"] {
        let mut child = toolscript(&directory, &["run", "-e", "print('started') while true do end"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("a process");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        assert_eq!(lines.next().expect("a line").expect("text"), "started");
        assert!(Command::new("kill").arg(format!("-{signal}")).arg(child.id().to_string()).status().expect("kill").success());
        let status = child.wait().expect("an exit status");
        let mut error = String::new();
        child.stderr.take().expect("a pipe").read_to_string(&mut error).expect("text");
        assert_eq!((error.as_str(), status.code()), ("error: cancelled: the run was cancelled\n", Some(130)));
    }
}

#[test]
fn changed_files_are_printed_after_the_result() {
    let directory = TempDir::new().expect("a directory");
    let script = "io.open('a/b/c.txt', 'w'):write('x'):close() io.open('log', 'a'):write('1\\n2\\n'):close()
        io.open('t', 'w'):close() os.remove('t') print('said') return 7";
    assert_eq!(run_in(&directory, &["run", "-e", script]), "said\n7\nwrite a/b/c.txt (1 byte)\nappend log (4 bytes)\nremove t\n");
    assert_eq!(fs::read_to_string(directory.path().join("toolscript-files/a/b/c.txt")).expect("the file"), "x");
    let odd = "io.open('two\\nlines', 'w'):close() error('after')";
    let output = toolscript(&directory, &["run", "-e", odd]).output().expect("output");
    assert_eq!((text(&output.stdout), output.status.code()), ("write two\\nlines (0 bytes)\n", Some(1)));
}

#[test]
fn an_incomplete_file_is_reported() {
    let directory = TempDir::new().expect("a directory");
    let script = "local large = ('x'):rep(1e7) local f = io.open('f', 'w') f:write('1') f:write('2') return #large:upper()";
    let output = toolscript(&directory, &["run", "-e", script, "--fuel", "50000000"]).output().expect("output");
    assert_eq!(text(&output.stdout), "write f (1 byte), incomplete: the script was stopped before all buffered data was written\n");
}
