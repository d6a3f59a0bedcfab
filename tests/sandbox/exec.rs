//! Scripts and commands in a sandbox: output, exit codes, and the interface for agent frameworks.

use super::sandbox;
use crate::support::{IoDir, wait_for};
use std::{
    fs,
    sync::{Arc, Mutex},
    time::Duration,
};
use toolscript::{
    CancellationToken, ErrorKind,
    engine::Listener,
    sandbox::{Backend, ExecOptions},
};

/// Collects log lines.
#[derive(Default)]
struct LineCollector(Mutex<Vec<String>>);

impl Listener for LineCollector {
    fn line(&self, line: &str) {
        self.0.lock().expect("not poisoned").push(line.to_owned());
    }
}

#[tokio::test]
async fn a_script_returns_output_and_the_exit_code_of_the_command_line() {
    let dir = IoDir::new();
    let sandbox = sandbox(&dir);
    let options = ExecOptions::default().with_arguments(["20", "22"]);
    let done = sandbox.exec("local a, b = ... print('adding') return { sum = a + b }", options).await;
    assert_eq!((done.output.as_str(), done.exit_code, done.truncated), ("adding\n{\"sum\":42}\n", 0, false));
    assert!(done.run.expect("it ran").outcome.result.is_ok());

    for (script, output, exit_code) in [
        ("print(1)", "1\n", 0),
        ("print(1) error('no')", "1\nerror: runtime: script:1: no\n  at [C] function error\n  at script:1\n", 1),
        ("local =", "error: syntax: script:1: Expected identifier when parsing variable name, got '='\n", 1),
        ("return print", "error: result: result is a function: it can't be written as JSON\n", 1),
        ("return { 0/0 }", "[null]\nnote: result[1]: NaN became null\n", 0),
    ] {
        let done = sandbox.exec(script, ExecOptions::default()).await;
        assert_eq!(done.exit_code, exit_code, "{}", done.output);
        assert_eq!(done.output, output);
    }
    let long = sandbox.exec("for i = 1, 100 do print(('x'):rep(20000)) end", ExecOptions::default()).await;
    assert_eq!((long.exit_code, long.truncated), (0, true));
    assert!(long.output.len() <= 1 << 20);
}

#[tokio::test]
async fn a_script_is_stopped_by_its_timeout_or_by_cancellation() {
    let dir = IoDir::new();
    let sandbox = sandbox(&dir);
    let lines = Arc::new(LineCollector::default());
    let stopped = sandbox.exec("while true do end", ExecOptions::default().with_timeout(Duration::from_millis(100))).await;
    assert_eq!((stopped.exit_code, stopped.output.starts_with("error: timeout: ")), (3, true), "{}", stopped.output);

    // The listener receives lines while the script runs.
    let cancellation = CancellationToken::new();
    let options = ExecOptions::default().with_listener(lines.clone()).with_cancellation(cancellation.clone());
    let cancel = async {
        wait_for(|| lines.0.lock().expect("not poisoned").len() == 2).await;
        cancellation.cancel();
    };
    let script = "io.open('f', 'w'):write('x') print('one') print('two') while true do end";
    let (stopped, ()) = tokio::join!(sandbox.exec(script, options), cancel);
    assert_eq!((stopped.exit_code, stopped.output.starts_with("one\ntwo\nerror: cancelled: ")), (130, true), "{}", stopped.output);
    let outcome = stopped.run.expect("it ran").outcome;
    assert_eq!(outcome.result.expect_err("stopped").kind, ErrorKind::Cancelled);
    assert_eq!(outcome.files_touched[0].name, "f");
}

#[tokio::test]
async fn a_script_starts_in_its_working_directory() {
    let dir = IoDir::new();
    let sandbox = sandbox(&dir).with_working_directory("desk").expect("a directory");
    let script = "io.open('a', 'w'):write('1'):close() io.open('~/b', 'w'):write('2'):close() return io.list(), io.list('~'), io.list('.')";
    let done = sandbox.exec(script, ExecOptions::default()).await;
    assert_eq!(done.output, "[[\"a\"],[\"b\",\"desk\"],[\"a\"]]\n");
    let touched: Vec<String> = done.run.expect("it ran").outcome.files_touched.into_iter().map(|file| file.name).collect();
    assert_eq!(touched, ["b", "desk/a"]);

    let options = ExecOptions::default().with_working_directory("drawer");
    assert_eq!(sandbox.exec("return io.list()", options.clone()).await.output, "[]\n");
    sandbox.exec("io.open('c', 'w'):close()", options.clone()).await;
    assert!(dir.path().join("desk/drawer/c").exists());
    let escaped = sandbox.exec("io.open('../a')", options.clone()).await;
    assert_eq!(escaped.output.lines().next(), Some("error: runtime: script:1: path cannot contain '..' traversal"));
    let rejected = sandbox.exec("return 1", options.with_working_directory("../..")).await;
    assert_eq!(
        (rejected.output.as_str(), rejected.exit_code),
        ("error: invalid working directory: path cannot contain '..' traversal\n", 2)
    );
    // Without a working directory, `~` has no special meaning.
    dir.result::<()>("io.open('~/x', 'w'):close()").await;
    assert!(dir.path().join("~/x").exists());
}

#[tokio::test]
async fn only_luau_commands_are_supported() {
    let dir = IoDir::new();
    let sandbox = sandbox(&dir);
    fs::create_dir_all(dir.path()).expect("a directory");
    fs::write(dir.path().join("my script.luau"), "print(...)").expect("a file");
    for (command, output, exit_code) in [
        ("luau 'my script.luau' one 'two three'", "one\ttwo three\n", 0),
        ("luau -e 'print(\"hello\")'", "hello\n", 0),
        ("luau -e 'print(...)' -- -x", "-x\n", 0),
        ("luau - a <<'END'\nprint(\"it's\", ...)\nEND\n", "it's\ta\n", 0),
        ("luau none.luau", "error: can't read the script: none.luau: No such file or directory\n", 2),
        ("luau /etc/passwd", "error: can't read the script: path must be relative\n", 2),
    ] {
        let done = sandbox.execute(command).await;
        assert_eq!((done.output.as_str(), done.exit_code), (output, exit_code), "{command}");
    }
    for command in ["ls", "luau", "luau -", "luau -e", "luau 'x", "bash -c 'luau -e 1'", "luau x | cat"] {
        let rejected = sandbox.execute(command).await;
        assert_eq!((rejected.exit_code, rejected.run.is_none(), rejected.output.starts_with("error: ")), (2, true, true), "{command}");
    }
    let large = sandbox.execute(&format!("luau -e '{}'", " ".repeat((1 << 20) + 1))).await;
    assert_eq!((large.output.as_str(), large.exit_code), ("error: the script is 1048577 bytes; at most 1048576 are allowed\n", 2));
}

/// Returns a sandbox as a framework uses it, through the trait.
fn backend(dir: &IoDir) -> Box<dyn Backend> {
    Box::new(sandbox(dir))
}

#[tokio::test]
async fn a_backend_executes_commands_and_returns_the_exit_code() {
    let dir = IoDir::new();
    let backend = backend(&dir);
    let hello = backend.execute("luau -e 'print(\"hello\")'").await;
    assert_eq!((hello.output.trim(), hello.exit_code, hello.truncated), ("hello", 0, false));
    let error = backend.execute("luau -e 'error(\"error\", 0)'").await;
    assert!(error.output.contains("error: runtime: error"), "errors are reported in the output: {}", error.output);
    assert_eq!(error.exit_code, 1);
    assert_eq!(backend.execute("exit 42").await.exit_code, 2, "there is no shell");
}

#[tokio::test]
async fn the_id_of_a_backend_is_unique_and_never_changes() {
    let dir = IoDir::new();
    let (one, other) = (sandbox(&dir), sandbox(&dir));
    assert_ne!(one.id(), other.id());
    assert_eq!(one.clone().id(), one.id());
    assert_eq!(one.clone().with_working_directory("x").expect("a directory").id(), one.id());
    let (word, number) = one.id().split_once('-').expect("two parts");
    assert!(word == "toolscript" && number.len() == 16 && number.bytes().all(|digit| digit.is_ascii_hexdigit()), "{}", one.id());
    assert_eq!(one.with_id("agent-7").id(), "agent-7");
}

#[tokio::test]
async fn a_backend_reads_writes_and_edits() {
    let dir = IoDir::new();
    let backend = backend(&dir);
    assert_eq!(backend.write("/test.txt", "hello world").await.expect("written").name, "/test.txt");
    assert_eq!(backend.read("/test.txt", 0, 2000).await.as_deref(), Ok("     1\thello world"));
    assert_eq!(backend.write("/test.txt", "again").await.expect_err("exists").to_string(), "test.txt: File exists");
    assert_eq!(backend.read("/none", 0, 2000).await.expect_err("missing").to_string(), "none: No such file or directory");

    backend.write("/edit-test.txt", "foo bar baz").await.expect("written");
    let edited = backend.edit("/edit-test.txt", "bar", "qux", false).await.expect("edited");
    assert_eq!((edited.name.as_str(), edited.count), ("/edit-test.txt", 1));
    assert_eq!(backend.read("/edit-test.txt", 0, 2000).await.as_deref(), Ok("     1\tfoo qux baz"));
    assert!(backend.edit("/edit-test.txt", "none", "x", false).await.is_err());
    backend.edit("/edit-test.txt", "o", "0", true).await.expect("edited");
    assert_eq!(backend.read_raw("/edit-test.txt").await.as_deref(), Ok(&b"f00 qux baz"[..]));

    backend.write("/hello.luau", "print('hello', ...)").await.expect("written");
    assert_eq!(backend.execute("luau /hello.luau you").await.output, "hello\tyou\n");
    assert_eq!(backend.execute("luau hello.luau").await.output, "hello\n");
    let infos = backend.ls("/").await.expect("listed");
    let names: Vec<&str> = infos.iter().map(|info| info.name.as_str()).collect();
    assert_eq!(names, ["edit-test.txt", "hello.luau", "test.txt"]);
}

#[tokio::test]
async fn a_backend_counts_lines_from_0_and_resolves_absolute_paths_in_the_io_directory() {
    let dir = IoDir::new();
    let backend: Box<dyn Backend> = Box::new(sandbox(&dir).with_working_directory("desk").expect("a directory"));
    backend.write("/a/lines", "one\ntwo\nthree\n").await.expect("written");
    backend.write("here", "three").await.expect("written");
    assert_eq!(backend.read("/a/lines", 1, 1).await.as_deref(), Ok("     2\ttwo\n(1 of 3 lines; continue with offset 2)"));
    assert_eq!(backend.read("/a/lines", 2, 1).await.as_deref(), Ok("     3\tthree\n"));
    let past = backend.read("/a/lines", 3, 1).await.expect_err("past the end");
    assert_eq!(past.to_string(), "a/lines: the offset is past the end; the file has 3 lines");
    backend.write("/empty", "").await.expect("written");
    assert_eq!(backend.read("/empty", 0, 10).await.as_deref(), Ok("(the file is empty)"));
    fs::write(dir.path().join("binary"), b"\0").expect("a file");
    assert_eq!(backend.read("/binary", 0, 10).await.expect_err("not text").to_string(), "/binary: not a text file");

    let found = backend.grep("three", "/", None).await.expect("found");
    let lines: Vec<(&str, u64)> = found.matches.iter().map(|found| (found.name.as_str(), found.line)).collect();
    assert_eq!(lines, [("/a/lines", 3), ("/desk/here", 1)]);
    assert_eq!(backend.grep("three", "/a", Some("*.txt")).await.expect("found").matches, []);
    let found = backend.glob("**/*", "/").await.expect("found");
    let names: Vec<&str> = found.entries.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, ["/a", "/a/lines", "/binary", "/desk", "/desk/here", "/empty"]);
    for path in ["/", ".", "/desk"] {
        assert_eq!(backend.glob("/a/*", path).await.expect("found").entries[0].name, "/a/lines");
    }
    assert_eq!(backend.grep("three", "/", Some("/*")).await.expect("found").matches, [], "only files at the top are searched");
    // Names in results can be used as paths.
    assert!(backend.read(names[4], 0, 10).await.is_ok());
    for path in ["//a", "/../x", "/a/../../x"] {
        assert!(backend.read(path, 0, 1).await.is_err() && backend.write(path, "x").await.is_err(), "{path}");
    }
    assert!(!dir.outside().join("x").exists());
}
