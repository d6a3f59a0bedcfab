//! `toolscript run`: output, exit codes, signals and pipes.

use super::{run, run_in, text, toolscript};
use crate::support::server_process::program;
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
fn a_pipe_gets_the_result_alone() {
    let output = run(&["run", "-e", "print('a', 1) print('\\27[31m') io.open('f', 'w'):close() return { sum = 3 }"]);
    assert_eq!(text(&output.stdout), "{\"sum\":3}\n");
    assert_eq!(text(&output.stderr), "a\t1\n\u{1b}[31m\nwrite f (0 bytes)\n");
    assert_eq!(output.status.code(), Some(0));
    let output = run(&["run", "-e", "print('only this')"]);
    assert_eq!((text(&output.stdout), text(&output.stderr)), ("", "only this\n"));
}

#[test]
fn a_script_is_read_from_a_file_or_standard_input() {
    let directory = TempDir::new().expect("a directory");
    fs::write(directory.path().join("sum.luau"), "local a, b = ... return a + b").expect("a script");
    let output = toolscript(&directory, &["run", "sum.luau", "40", "2"]).output().expect("output");
    assert_eq!((text(&output.stdout), output.status.code()), ("42\n", Some(0)));

    let mut child =
        toolscript(&directory, &["run", "--json", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a process");
    child.stdin.take().expect("a pipe").write_all(b"return 'piped'").expect("written");
    let output = child.wait_with_output().expect("an exit status");
    assert_eq!(text(&output.stdout), "{\"result\":\"piped\",\"logs\":[],\"files_touched\":[]}\n");
}

#[test]
fn words_after_the_file_belong_to_the_script_unless_they_are_options_of_run() {
    let directory = TempDir::new().expect("a directory");
    fs::write(directory.path().join("all.luau"), "return {...}").expect("a script");
    for (arguments, result) in [
        (&["all.luau", "a", "-b", "--c=d", "--", "e", "--", "--json"][..], r#"["a","-b","--c=d","e","--","--json"]"#),
        (&["all.luau", "--", "--json", "a"], r#"["--json","a"]"#),
        (&["--timeout", "20", "--fuel=9000000000", "all.luau", "20", "-5"], r#"["20","-5"]"#),
        (&["all.luau", "a", "--timeout", "20", "b"], r#"["a","b"]"#),
        (&["all.luau", "a", "--json"], r#"{"result":["a"],"logs":[],"files_touched":[]}"#),
        (&["-e", "return {...}", "a", "-b"], r#"["a","-b"]"#),
        (&["-ereturn {...}", "-"], r#"["-"]"#),
        (&["-e", "return {...}", "--", "--x"], r#"["--x"]"#),
        (&["all.luau", "--name", "x", "-v"], r#"["--name","x","-v"]"#),
        (&["all.luau", "-1", "-0.5", "-e", "-h", "-"], r#"["-1","-0.5","-e","-h","-"]"#),
        (&["--no-io", "all.luau", "--jsonx", "--fuell=1", "-", ""], r#"["--jsonx","--fuell=1","-",""]"#),
    ] {
        let output = toolscript(&directory, &[&["run"], arguments].concat()).output().expect("output");
        assert_eq!((text(&output.stdout), text(&output.stderr)), (format!("{result}\n").as_str(), ""), "{arguments:?}");
    }
    let mut child =
        toolscript(&directory, &["run", "-", "a", "-1"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a process");
    child.stdin.take().expect("a pipe").write_all(b"return {...}").expect("the script is sent");
    assert_eq!(text(&child.wait_with_output().expect("output").stdout), "[\"a\",\"-1\"]\n");
}

#[test]
fn exit_codes_distinguish_script_errors_from_limits() {
    for (arguments, code, message) in [
        (
            &["run", "-e", "x ="][..],
            1,
            "error: script:1:4: Expected identifier when parsing expression, got <eof>\n  1 | x =\n    |    ^\n",
        ),
        (
            &["run", "-e", "error('boom')"],
            1,
            "error: script:1: boom\n  1 | error('boom')\n    | ^^^^^^^^^^^^^\n  at [C] function error\n  at script:1\n",
        ),
        (&["run", "-e", "error('boom', 0)"], 1, "error: runtime: boom\n  at [C] function error\n  at script:1\n"),
        (&["run", "-e", "return print"], 1, "error: result: result is a function: it can't be written as JSON\n"),
        (
            &["run", "-e", "while true do end", "--fuel", "1000000"],
            3,
            "error: fuel: the script used up its fuel (1000000)
note: the fuel limit is 1,000,000; raise it with --fuel or [limits] fuel in toolscript.toml\n",
        ),
        (
            &["run", "-e", "pcall(function() while true do end end)", "--timeout", "0.2"],
            3,
            "error: timeout: the script ran longer than 0.2 s
note: the time limit is 0.2 s; raise it with --timeout or [limits] timeout in toolscript.toml\n",
        ),
        (
            &["run", "-e", "local s = 'x' while true do s = s .. s end", "--memory-limit", "16"],
            3,
            "error: memory: not enough memory\n  at script:1
note: the memory limit is 16 MiB; raise it with --memory-limit or [limits] memory in toolscript.toml\n",
        ),
    ] {
        let output = run(arguments);
        assert_eq!((text(&output.stderr), output.status.code()), (message, Some(code)), "{arguments:?}");
        assert_eq!(text(&output.stdout), "");
    }
}

#[test]
fn an_error_names_the_file_and_shows_the_line() {
    let directory = TempDir::new().expect("a directory");
    fs::write(directory.path().join("report.luau"), "function f()\n\terror('no rows')\nend\n\nf()\n").expect("a script");
    let output = toolscript(&directory, &["run", "report.luau"]).output().expect("output");
    let message = "error: report.luau:2: no rows\n  2 | \terror('no rows')\n    | \t^^^^^^^^^^^^^^^^\n  at [C] function error
  at report.luau:2 function f\n  at report.luau:5\n";
    assert_eq!((text(&output.stdout), text(&output.stderr)), ("", message));

    fs::write(directory.path().join("report.luau"), "local x = 1\nif x == 1 the\nend\n").expect("a script");
    let output = toolscript(&directory, &["run", "report.luau"]).output().expect("output");
    let message =
        "error: report.luau:2:11: Expected 'then' when parsing if statement, got 'the'\n  2 | if x == 1 the\n    |           ^^^\n";
    assert_eq!((text(&output.stdout), text(&output.stderr)), ("", message));
    for (script, message) in [
        // The token occurs more than once.
        ("local y = = 3", "1:11: Expected identifier when parsing expression, got '='\n  1 | local y = = 3\n    |           ^\n"),
        // A byte order mark, a character of two bytes, and one of two columns.
        (
            "\u{feff}local s = 'ü漢' s s",
            "1:16: Incomplete statement: expected assignment or a function call\n  1 | local s = 'ü漢' s s\n    |                 ^\n",
        ),
        ("local s = 'ü", "1:11: Malformed string; did you forget to finish it?\n  1 | local s = 'ü\n    |           ^\n"),
        ("x = 'ü\0'", "1:7: unexpected NUL byte at column 7; write \\0 in a string instead\n"),
    ] {
        fs::write(directory.path().join("report.luau"), script).expect("a script");
        let output = toolscript(&directory, &["run", "report.luau"]).output().expect("output");
        assert!(text(&output.stderr).starts_with(&format!("error: report.luau:{message}")), "{}", text(&output.stderr));
    }
    fs::write(directory.path().join("report.luau"), "local x = 1\nif x == 1 the\nend\n").expect("a script");
    // The outcome for programs is unchanged.
    let output = toolscript(&directory, &["run", "--json", "report.luau"]).output().expect("output");
    let message = "script:2: Expected 'then' when parsing if statement, got 'the'";
    let outcome: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((outcome["error"]["message"].as_str(), text(&output.stderr)), (Some(message), ""));
}

#[test]
fn an_error_of_a_limit_names_the_key_that_raises_it() {
    let directory = TempDir::new().expect("a directory");
    let limits = "[limits]\nresult = 3\nlogs = 50\nscript = 100\n[io]\nmax_bytes = 2048\nmax_files = 1\n";
    fs::write(directory.path().join("toolscript.toml"), limits).expect("a configuration");
    for (script, notes) in [
        ("return 1234", "note: the result limit is 3 bytes; raise it with [limits] result in toolscript.toml\n"),
        ("print(('x'):rep(60))", "note: the log is truncated at 50 bytes; raise it with [limits] logs in toolscript.toml\n"),
        (
            "io.open('a', 'w'):write(('x'):rep(3000))",
            "write a (0 bytes)\nnote: the limit on written bytes is 2 KiB; raise it with [io] max_bytes in toolscript.toml\n",
        ),
        (
            "io.open('b', 'w') io.open('c', 'w')",
            "write b (0 bytes)\nnote: the limit on created files is 1; raise it with [io] max_files in toolscript.toml\n",
        ),
    ] {
        let output = toolscript(&directory, &["run", "-e", script]).output().expect("output");
        assert!(text(&output.stderr).ends_with(notes), "{script}: {}", text(&output.stderr));
    }
    let long = format!("return 1{}", " ".repeat(100));
    let message = "error: the script is 108 bytes; at most 100 are allowed; raise the limit with [limits] script in toolscript.toml\n";
    assert_eq!(run_in(&directory, &["run", "-e", &long]), message);
}

#[cfg(target_os = "linux")]
#[test]
fn json_is_indented_and_coloured_on_a_terminal() {
    use crate::support::terminal::run_on_terminal;
    let directory = TempDir::new().expect("a directory");
    let script = "print('said \\27[31m') return { list = { 1, 'two' } }";
    let run = |arguments: &[&str], variable: (&str, &str)| {
        let mut command = toolscript(&directory, &[&["run"], arguments].concat());
        // Each of these variables changes the choice of colours. CI allows them on any terminal.
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI"] {
            command.env_remove(name);
        }
        run_on_terminal(command.env("TERM", "xterm").env(variable.0, variable.1)).0
    };
    let plain = "said \\u{1b}[31m\n{\n  \"list\": [\n    1,\n    \"two\"\n  ]\n}\n";
    assert_eq!(run(&["-e", script], ("NO_COLOR", "1")), plain);
    assert_eq!(run(&["-e", script], ("TERM", "dumb")), plain);
    let key = "\u{1b}[1m\u{1b}[34m\"list\"\u{1b}[0m";
    let coloured = format!("said \\u{{1b}}[31m\n{{\n  {key}: [\n    \u{1b}[33m1\u{1b}[0m,\n    \u{1b}[32m\"two\"\u{1b}[0m\n  ]\n}}\n");
    assert_eq!(run(&["-e", script], ("X", "")), coloured);
    assert_eq!(run(&["--json", "-e", "return {1}"], ("X", "")), "{\"result\":[1],\"logs\":[],\"files_touched\":[]}\n");
    assert_eq!(
        run(&["-e", "error('x', 0)"], ("X", "")),
        "\u{1b}[1m\u{1b}[31merror\u{1b}[0m: runtime: x\n  at [C] function error\n  at script:1\n"
    );
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
    // The reader of the log stops after one line, and nobody reads the result.
    let mut child = toolscript(&directory, &["run", "-e", "for i = 1, 10000 do print(i) end return 1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a process");
    drop(child.stdout.take());
    let mut first = String::new();
    BufReader::new(child.stderr.take().expect("a pipe")).read_line(&mut first).expect("a line");
    assert_eq!((first.as_str(), child.wait().expect("an exit status").code()), ("1\n", Some(0)));
}

#[cfg(target_os = "linux")]
#[test]
fn a_failure_to_write_the_output_is_an_error() {
    let directory = TempDir::new().expect("a directory");
    for arguments in [&["run", "-e", "return 1", "--json"][..], &["run", "-e", "return 1"]] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("a device");
        let output = toolscript(&directory, arguments).stdout(full).output().expect("output");
        let message = "error: can't write to standard output: No space left on device (os error 28)\n";
        assert_eq!((text(&output.stderr), output.status.code()), (message, Some(1)));
    }
    // The log goes to standard error, which can't report its own failure.
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("a device");
    let output = toolscript(&directory, &["run", "-e", "print(1)"]).stderr(full).output().expect("output");
    assert_eq!((text(&output.stdout), output.status.code()), ("", Some(1)));
}

#[cfg(unix)]
#[test]
fn a_signal_stops_the_script_and_reports_its_output() {
    let directory = TempDir::new().expect("a directory");
    for signal in ["INT", "TERM"] {
        let mut child = program()
            .args(["run", "-e", "print('started') while true do end"])
            .current_dir(&directory)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("a process");
        let mut stderr = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut started = String::new();
        stderr.read_line(&mut started).expect("a line");
        assert_eq!(started, "started\n");
        assert!(Command::new("kill").arg(format!("-{signal}")).arg(child.id().to_string()).status().expect("kill").success());
        let status = child.wait().expect("an exit status");
        let mut error = String::new();
        stderr.read_to_string(&mut error).expect("text");
        assert_eq!((error.as_str(), status.code()), ("error: cancelled: the run was cancelled\n", Some(130)));
    }
}

#[test]
fn changed_files_are_printed_after_the_log() {
    let directory = TempDir::new().expect("a directory");
    let script = "io.open('a/b/c.txt', 'w'):write('x'):close() io.open('log', 'a'):write('1\\n2\\n'):close()
        io.open('t', 'w'):close() os.remove('t') print('said') return 7";
    assert_eq!(run_in(&directory, &["run", "-e", script]), "7\nsaid\nwrite a/b/c.txt (1 byte)\nappend log (4 bytes)\nremove t\n");
    assert_eq!(fs::read_to_string(directory.path().join("toolscript-files/a/b/c.txt")).expect("the file"), "x");
    let odd = "io.open('two\\nlines', 'w'):close() error('after', 0)";
    let output = toolscript(&directory, &["run", "-e", odd]).output().expect("output");
    let message = "error: runtime: after\n  at [C] function error\n  at script:1\nwrite two\\nlines (0 bytes)\n";
    assert_eq!((text(&output.stdout), text(&output.stderr), output.status.code()), ("", message, Some(1)));
}

#[test]
fn an_incomplete_file_is_reported() {
    let directory = TempDir::new().expect("a directory");
    let script = "local large = ('x'):rep(1e7) local f = io.open('f', 'w') f:write('1') f:write('2') return #large:upper()";
    let output = toolscript(&directory, &["run", "-e", script, "--fuel", "50000000"]).output().expect("output");
    let message = "error: fuel: the script used up its fuel (50000000)
write f (1 byte), incomplete: the script was stopped before all buffered data was written
note: the fuel limit is 50,000,000; raise it with --fuel or [limits] fuel in toolscript.toml\n";
    assert_eq!((text(&output.stdout), text(&output.stderr)), ("", message));
}
