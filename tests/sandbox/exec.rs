//! Scripts and commands in a sandbox: output and exit codes.

use super::sandbox;
use crate::support::{IoDir, wait_for};
use std::{
    fs,
    sync::{Arc, Mutex},
    time::Duration,
};
use toolscript::{CancellationToken, Engine, ErrorKind, Functions, Sandbox, engine::Listener, files::WriteMode, sandbox::ExecOptions};

/// Collects log lines.
#[derive(Default)]
pub struct LineCollector(pub Mutex<Vec<String>>);

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
        ("print(1)", ["1\n", ""], 0),
        ("print(1) error('no')", ["1\n", "error: runtime: script:1: no\n  at [C] function error\n  at script:1\n"], 1),
        ("local =", ["", "error: syntax: script:1: Expected identifier when parsing variable name, got '='\n"], 1),
        ("return print", ["", "error: result: result is a function: it can't be written as JSON\n"], 1),
        ("return { 0/0 }", ["[null]\n", "note: result[1]: NaN became null\n"], 0),
    ] {
        let done = sandbox.exec(script, ExecOptions::default()).await;
        assert_eq!(done.exit_code, exit_code, "{}", done.output);
        assert_eq!(([done.stdout(), done.stderr()], done.output.as_str()), (output, output.concat().as_str()));
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
        assert_eq!((rejected.exit_code, rejected.run.is_none(), rejected.stdout()), (2, true, ""), "{command}");
        assert!(rejected.stderr().starts_with("error: "), "{command}");
    }
    let large = sandbox.execute(&format!("luau -e '{}'", " ".repeat((1 << 20) + 1))).await;
    assert_eq!((large.output.as_str(), large.exit_code), ("error: the script is 1048577 bytes; at most 1048576 are allowed\n", 2));
}

#[tokio::test]
async fn a_command_takes_options() {
    let dir = IoDir::new();
    let sandbox = sandbox(&dir);
    sandbox.write("desk/main.luau", "print(env.NAME, ...)", WriteMode::Create).await.expect("written");
    let options = ExecOptions::default().with_environment([("NAME", "value")]).with_arguments(["last"]).with_working_directory("desk");
    let done = sandbox.execute_with("luau main.luau first", options.clone()).await;
    assert_eq!((done.stdout(), done.stderr()), ("value\tfirst\tlast\n", ""));
    let rejected = sandbox.execute_with("luau main.luau", options.with_working_directory("/desk")).await;
    assert_eq!((rejected.stderr(), rejected.exit_code), ("error: can't read the script: path must be relative\n", 2));
    let options = ExecOptions::default().with_timeout(Duration::from_millis(100));
    let stopped = sandbox.execute_with("luau -e 'print(1) while true do end'", options).await;
    assert_eq!((stopped.stdout(), stopped.stderr(), stopped.exit_code), ("1\n", "error: timeout: the script ran longer than 0.1 s\n", 3));
}

#[tokio::test]
async fn a_script_calls_the_functions_of_its_options_instead_of_those_of_the_engine() {
    let dir = IoDir::new();
    let engine = Engine::builder().function("name", |(): ()| Ok::<_, String>("engine")).build().expect("an engine");
    let sandbox = Sandbox::new(engine, dir.io.clone());
    assert_eq!(sandbox.exec("return sdk.name()", ExecOptions::default()).await.stdout(), "\"engine\"\n");
    let functions = Functions::new().with_function("name", |(): ()| Ok::<_, String>("options")).expect("a name");
    assert_eq!(sandbox.exec("return sdk.name()", ExecOptions::default().with_functions(functions)).await.stdout(), "\"options\"\n");
}
