//! `toolscript run` as a person or a program uses it: the real binary, its output and its exit codes.

use serde_json::{Value, json};
use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    process::{Command, Output, Stdio},
};
use tempfile::TempDir;

fn toolscript(folder: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolscript"));
    command.current_dir(folder).args(arguments).env_remove("TOOLSCRIPT_LOG").stdin(Stdio::null());
    command
}

fn run(arguments: &[&str]) -> Output {
    toolscript(&TempDir::new().expect("a folder"), arguments).output().expect("it runs")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("UTF-8")
}

/// Wrong usage: nothing on standard output, one line on standard error, exit 2.
fn refused(output: &Output, message: &str) {
    assert_eq!(text(&output.stderr), format!("error: {message}\n"));
    assert_eq!(text(&output.stdout), "");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn json_prints_the_outcome_and_nothing_else() {
    let output = run(&["run", "-e", "print('hi') return {1, 2, x = nil}", "--json"]);
    assert_eq!(text(&output.stdout), "{\"result\":[1,2],\"logs\":[\"hi\"],\"files_touched\":[]}\n");
    assert_eq!(text(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn lines_then_the_result_are_printed_for_a_person() {
    let output = run(&["run", "-e", "print('a', 1) print('\\27[31m') return { sum = 3 }"]);
    assert_eq!(text(&output.stdout), "a\t1\n\u{1b}[31m\n{\"sum\":3}\n");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(text(&run(&["run", "-e", "print('only this')"]).stdout), "only this\n");
}

#[test]
fn a_script_comes_from_a_file_or_standard_input() {
    let folder = TempDir::new().expect("a folder");
    fs::write(folder.path().join("sum.luau"), "local a, b = ... return a + b").expect("a script");
    let output = toolscript(&folder, &["run", "sum.luau", "--", "40", "2"]).output().expect("it runs");
    assert_eq!((text(&output.stdout), output.status.code()), ("42\n", Some(0)));

    let mut child = toolscript(&folder, &["run", "-", "--json"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    child.stdin.take().expect("a pipe").write_all(b"return 'piped'").expect("written");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(text(&output.stdout), "{\"result\":\"piped\",\"logs\":[],\"files_touched\":[]}\n");
}

#[test]
fn exit_codes_tell_whose_fault_it_was() {
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
fn wrong_usage_is_one_line_and_exit_2() {
    refused(&run(&["run", "missing.luau"]), "can't read the script missing.luau: No such file or directory (os error 2)");
    refused(&run(&["run", "."]), "can't read the script .: Is a directory (os error 21)");
    refused(
        &run(&["run", "x", "--fule", "1"]),
        "unexpected argument '--fule' found; a similar argument exists: '--fuel' (see 'toolscript --help')",
    );
    refused(
        &run(&["run", "x", "--fuel", "much"]),
        "invalid value 'much' for '--fuel <N>': invalid digit found in string (see 'toolscript --help')",
    );
    refused(
        &run(&["run", "x", "--timeout", "soon"]),
        "invalid value 'soon' for '--timeout <S>': not a number of seconds (see 'toolscript --help')",
    );
    refused(
        &run(&["run", "x", "--memory-limit", "1"]),
        "invalid value '1' for '--memory-limit <MIB>': 1 is not in 4..=4096 (see 'toolscript --help')",
    );
    refused(&run(&["run", "-e", "", "--timeout", "0"]), "timeout must be more than 0 and at most 86400 seconds");
    refused(&run(&["run", "-e", "", "--fuel", "0"]), "fuel must be more than 0");
    refused(&run(&["run", "-e", "", "--io-dir", "../x"]), "--io-dir ../x: the path contains '..'; name the directory itself");
    refused(&run(&["run", "-e", "", "--output-dir", "x"]), "--output-dir was replaced by --io-dir");
    refused(
        &run(&["run", "-e", "", "--io-dir", "x", "--no-io"]),
        "the argument '--io-dir <DIR>' cannot be used with '--no-io' (see 'toolscript --help')",
    );
    refused(&run(&["run"]), "the following required arguments were not provided: <FILE> (see 'toolscript --help')");
    refused(&run(&["jump"]), "unrecognized subcommand 'jump' (see 'toolscript --help')");
}

#[test]
fn a_script_over_the_size_limit_is_refused_before_it_is_read_whole() {
    let folder = TempDir::new().expect("a folder");
    fs::write(folder.path().join("large.luau"), vec![b' '; (1 << 20) + 1]).expect("a script");
    let output = toolscript(&folder, &["run", "large.luau"]).output().expect("it runs");
    refused(&output, "the script large.luau is larger than 1048576 bytes; the limit is [limits] script in toolscript.toml");
    let output = toolscript(&folder, &["run", "/dev/zero"]).output().expect("it runs");
    refused(&output, "the script /dev/zero is larger than 1048576 bytes; the limit is [limits] script in toolscript.toml");
}

#[test]
fn help_and_version_are_not_errors() {
    let output = run(&["--version"]);
    assert_eq!(text(&output.stdout), concat!("toolscript ", env!("CARGO_PKG_VERSION"), "\n"));
    let output = run(&["run", "--help"]);
    assert_eq!(output.status.code(), Some(0));
    for flag in [
        "-e <CODE>",
        "--json",
        "--receipt",
        "--timeout <S>",
        "--fuel <N>",
        "--memory-limit <MIB>",
        "--io-dir <DIR>",
        "--no-io",
        "--config <FILE>",
    ] {
        assert!(text(&output.stdout).contains(flag), "{flag}");
    }
    let output = run(&["serve", "--help"]);
    for flag in ["--transport <TRANSPORT>", "--io-dir <DIR>", "--timeout <S>", "--config <FILE>"] {
        assert!(text(&output.stdout).contains(flag), "{flag}");
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
fn the_configuration_sets_limits_and_flags_win() {
    let folder = TempDir::new().expect("a folder");
    fs::write(folder.path().join("toolscript.toml"), "[limits]\nfuel = 1_000_000\nlogs = 50\n").expect("a file");
    let output = toolscript(&folder, &["run", "-e", "while true do end"]).output().expect("it runs");
    assert_eq!(text(&output.stderr), "error: fuel: the script used up its fuel (1000000)\n");
    let output = toolscript(&folder, &["run", "-e", "while true do end", "--fuel", "2000000"]).output().expect("it runs");
    assert_eq!(text(&output.stderr), "error: fuel: the script used up its fuel (2000000)\n");
    let output = toolscript(&folder, &["run", "-e", "print(('x'):rep(60))"]).output().expect("it runs");
    assert_eq!((text(&output.stdout), text(&output.stderr)), ("xxxxxxxxxxxxxxxxxxxxxxxxxx\n", "note: cut at its limit: logs\n"));

    fs::write(folder.path().join("other.toml"), "[limits]\nresult = 3\n").expect("a file");
    let output = toolscript(&folder, &["run", "-e", "return 1234", "--config", "other.toml"]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_wrong_configuration_is_named() {
    let folder = TempDir::new().expect("a folder");
    for (config, message) in [
        (
            "[limits]\n\ntimeot = 3\n",
            "line 3: unknown field `timeot`, expected one of `timeout`, `fuel`, `memory`, `script`, `logs`, `result`, `api_calls`, `concurrency`, `queue`, `tenant_concurrency`, `tenant_queue`, `tenant_per_minute`",
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
        ("[server]\ndrain = -1\n", "[server]: drain must be a number of seconds, at most 86400"),
        ("[server]\nconnections = 0\n", "[server]: connections must be more than 0"),
        ("[server]\npublic_url = \"tools\"\n", "line 2: relative URL without a base: \"tools\""),
        (
            "[auth]\nissuer = \"https://a\"\n",
            "line 2: unknown field `issuer`, expected one of `authority`, `audience`, `jwks_uri`, `scope`",
        ),
        ("limits = \n", "line 1: string values must be quoted, expected literal string"),
    ] {
        fs::write(folder.path().join("toolscript.toml"), config).expect("a file");
        let output = toolscript(&folder, &["run", "-e", "return 1"]).output().expect("it runs");
        refused(&output, &format!("configuration toolscript.toml: {message}"));
    }
    for dir in ["../x", "a/../x", "/tmp/../x"] {
        fs::write(folder.path().join("toolscript.toml"), format!("[io]\ndir = \"{dir}\"\n")).expect("a file");
        // Also where it is not used.
        for flags in [&[][..], &["--no-io"], &["--io-dir", "files"]] {
            let output = toolscript(&folder, &[&["run", "-e", "return 1"], flags].concat()).output().expect("it runs");
            refused(&output, "configuration toolscript.toml: [io] dir: the path contains '..'; name the directory itself");
        }
    }
    let output = toolscript(&folder, &["run", "-e", "return 1", "--config", "nowhere.toml"]).output().expect("it runs");
    refused(&output, "can't read the configuration nowhere.toml: No such file or directory (os error 2)");
}

#[test]
fn a_reader_that_goes_away_is_not_an_error() {
    let folder = TempDir::new().expect("a folder");
    let mut child = toolscript(&folder, &["run", "-e", "for i = 1, 10000 do print(i) end return 1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut first = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut first).expect("a line");
    assert_eq!(first, "1\n");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((text(&output.stderr), output.status.code()), ("", Some(0)));
}

#[test]
fn nothing_of_the_host_is_in_the_box() {
    let folder = TempDir::new().expect("a folder");
    let script = "
        local seen, texts = {}, {}
        local function look(value)
            table.insert(texts, tostring(value))
            if type(value) == 'table' and not seen[value] then
                seen[value] = true
                for key, member in value do look(key) look(member) end
                look(getmetatable(value))
            elseif type(value) == 'function' and value ~= coroutine.yield and value ~= print then
                table.insert(texts, `{debug.info(value, 'sln')}`)
                for _, argument in { 'PATH', '/etc/passwd', 'CANARY', 0 } do
                    local _, answer = pcall(value, argument)
                    table.insert(texts, tostring(answer))
                end
            end
        end
        local print, error, progress = print, error, progress
        for name, value in getmetatable(getfenv()).__index do
            look(value)
        end
        print(table.concat(texts, ' '))
        return #texts > 500";
    let output =
        toolscript(&folder, &["run", "-e", script, "--json", "--receipt"]).env("CANARY", "sings-in-the-mine").output().expect("it runs");
    let everything = format!("{}{}", text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{everything}");
    assert!(everything.starts_with("{\"result\":true,"), "the script did not look around");
    let home = std::env::var("HOME").expect("a home");
    for secret in ["sings-in-the-mine", folder.path().to_str().expect("a path"), env!("CARGO_MANIFEST_DIR"), &home] {
        assert!(!everything.contains(secret), "{secret}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_result_that_can_not_be_written_is_an_error() {
    let folder = TempDir::new().expect("a folder");
    for arguments in [&["run", "-e", "return 1", "--json"][..], &["run", "-e", "return 1"], &["run", "-e", "print(1)"]] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("a device");
        let output = toolscript(&folder, arguments).stdout(full).output().expect("it runs");
        let message = "error: standard output can't be written to: No space left on device (os error 28)\n";
        assert_eq!((text(&output.stderr), output.status.code()), (message, Some(1)));
    }
}

#[cfg(unix)]
#[test]
fn a_signal_stops_the_script_and_reports_what_it_did() {
    let folder = TempDir::new().expect("a folder");
    for signal in ["INT", "TERM"] {
        let mut child = toolscript(&folder, &["run", "-e", "print('started') while true do end"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        assert_eq!(lines.next().expect("a line").expect("text"), "started");
        assert!(Command::new("kill").arg(format!("-{signal}")).arg(child.id().to_string()).status().expect("kill").success());
        let status = child.wait().expect("it ends");
        let mut error = String::new();
        child.stderr.take().expect("a pipe").read_to_string(&mut error).expect("text");
        assert_eq!((error.as_str(), status.code()), ("error: cancelled: the run was cancelled\n", Some(130)));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_process_stays_small_while_a_script_asks_for_a_gibibyte() {
    let folder = TempDir::new().expect("a folder");
    let script = "local ok, message = pcall(string.rep, 'x', 2 ^ 30) local s = 'x' pcall(function() while true do s = s .. s end end)
        print(message) while true do end";
    let mut child = toolscript(&folder, &["run", "-e", script]).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    assert_eq!(lines.next().expect("a line").expect("text"), "not enough memory");
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).expect("status");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a line");
    let kibibytes: u64 = peak.trim().trim_end_matches(" kB").parse().expect("a number");
    child.kill().expect("it ends");
    child.wait().expect("it ends");
    assert!(kibibytes < 200 * 1024, "{kibibytes} KiB");
}

/// What a run prints, and what it leaves in its folder.
fn run_in(folder: &TempDir, arguments: &[&str]) -> String {
    let output = toolscript(folder, arguments).output().expect("it runs");
    format!("{}{}", text(&output.stdout), text(&output.stderr))
}

#[test]
fn files_are_printed_after_the_result() {
    let folder = TempDir::new().expect("a folder");
    let script = "io.open('a/b/c.txt', 'w'):write('x'):close() io.open('log', 'a'):write('1\\n2\\n'):close()
        io.open('t', 'w'):close() os.remove('t') print('said') return 7";
    assert_eq!(run_in(&folder, &["run", "-e", script]), "said\n7\nwrite a/b/c.txt (1 byte)\nappend log (4 bytes)\nremove t\n");
    assert_eq!(fs::read_to_string(folder.path().join("toolscript-files/a/b/c.txt")).expect("the file"), "x");
    let odd = "io.open('two\\nlines', 'w'):close() error('after')";
    let output = toolscript(&folder, &["run", "-e", odd]).output().expect("it runs");
    assert_eq!((text(&output.stdout), output.status.code()), ("write two\\nlines (0 bytes)\n", Some(1)));
}

#[test]
fn a_file_that_was_cut_is_told() {
    let folder = TempDir::new().expect("a folder");
    let script = "local large = ('x'):rep(1e7) local f = io.open('f', 'w') f:write('1') f:write('2') return #large:upper()";
    let output = toolscript(&folder, &["run", "-e", script, "--fuel", "50000000"]).output().expect("it runs");
    assert_eq!(text(&output.stdout), "write f (1 byte), cut: the script was stopped before all of it was on disk\n");
}

#[test]
fn the_io_dir_comes_from_the_command_line_or_the_configuration_or_is_the_default() {
    let folder = TempDir::new().expect("a folder");
    let (script, exists) = ("io.open('x', 'w'):write('x')", |path: &str| folder.path().join(path).exists());
    run_in(&folder, &["run", "-e", script]);
    assert!(exists("toolscript-files/x"));
    fs::write(folder.path().join("toolscript.toml"), "[io]\ndir = \"configured/deep\"\nmax_bytes = 3\nmax_files = 1\n").expect("a file");
    run_in(&folder, &["run", "-e", script]);
    assert!(exists("configured/deep/x"));
    run_in(&folder, &["run", "-e", script, "--io-dir", "named"]);
    assert!(exists("named/x"));
    let over = "return (select(2, pcall(function() io.open('y', 'w'):write('1234') end))), (select(2, pcall(io.open, 'z', 'w')))";
    let expected = "[\"script:1: I/O write limit exceeded (3 bytes)\",\"too many files created (max 1)\"]\nwrite y (0 bytes)\n";
    assert_eq!(run_in(&folder, &["run", "-e", over]), expected);
    let output = toolscript(&folder, &["run", "-e", "", "--io-dir", "toolscript.toml"]).output().expect("it runs");
    refused(&output, "--io-dir toolscript.toml: it can't be opened as a directory: Not a directory (os error 20)");
    let absolute = folder.path().join("absolute");
    run_in(&folder, &["run", "-e", script, "--io-dir", absolute.to_str().expect("a path")]);
    assert!(exists("absolute/x"));
}

#[test]
fn files_can_be_switched_off_and_their_errors_returned() {
    let folder = TempDir::new().expect("a folder");
    let script = "return io == nil, file == nil, os.remove == nil";
    assert_eq!(run_in(&folder, &["run", "-e", script, "--no-io"]), "[true,true,true]\n");
    assert_eq!(run_in(&folder, &["run", "-e", script]), "[false,false,false]\n");
    fs::write(folder.path().join("toolscript.toml"), "[io]\nenabled = false\n").expect("a file");
    assert_eq!(run_in(&folder, &["run", "-e", script]), "[true,true,true]\n");
    assert_eq!(run_in(&folder, &["run", "-e", script, "--io-dir", "x"]), "[false,false,false]\n");
    fs::write(folder.path().join("other.toml"), "[io]\nerrors = \"return\"\n").expect("a file");
    let missing = "local _, message, number = io.open('x') return message, number";
    assert_eq!(run_in(&folder, &["run", "-e", missing, "--config", "other.toml"]), "[\"x: No such file or directory\",2]\n");
}
