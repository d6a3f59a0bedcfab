//! Environment values of a script: the table `env`.

use super::sandbox;
use crate::support::{IoDir, engine, limited, run};
use toolscript::{RunOptions, Script, engine::RunRejected, sandbox::ExecOptions};

async fn exec(script: &str, environment: &[(&str, &str)]) -> String {
    let dir = IoDir::new();
    std::fs::create_dir_all(dir.path()).expect("a directory");
    std::fs::write(dir.path().join("module.luau"), "return function() return env.NAME end").expect("a module");
    let done = sandbox(&dir).exec(script, ExecOptions::default().with_environment(environment.iter().copied())).await;
    assert_eq!(done.stderr(), "", "{script}");
    done.stdout().to_owned()
}

#[tokio::test]
async fn a_script_reads_its_environment_values_and_so_do_its_modules() {
    let values = [("NAME", "value"), ("EMPTY", ""), ("two words", "\u{e9}\0=\n")];
    assert_eq!(
        exec("return env.NAME, env.EMPTY, env['two words'], env.missing", &values).await,
        "[\"value\",\"\",\"\u{e9}\\u0000=\\n\",null]\n"
    );
    assert_eq!(exec("return env", &values[..1]).await, "{\"NAME\":\"value\"}\n");
    assert_eq!(exec("return require('./module')()", &values).await, "\"value\"\n");
    let count =
        "local count = 0 for name, value in env do assert(type(name) == 'string' and type(value) == 'string') count += 1 end return count";
    assert_eq!(exec(count, &values).await, "3\n");
    assert_eq!(exec("return typeof(env), next(env)", &[]).await, "[\"table\",null]\n");
}

#[tokio::test]
async fn environment_values_are_read_only_and_end_with_the_run() {
    let attack =
        "local ok, message = pcall(function() env.NAME = 'other' end) assert(not ok) rawset_ok = pcall(rawset, env, 'NAME', 'other')
        assert(not rawset_ok and table.isfrozen(env)) return env.NAME, message";
    assert_eq!(exec(attack, &[("NAME", "value")]).await, "[\"value\",\"script:1: attempt to modify a readonly table\"]\n");
    assert_eq!(run("return env").await.outcome.result.expect("a result").get(), "null");
}

#[tokio::test]
async fn variables_of_the_process_are_not_environment_values() {
    assert!(std::env::var_os("PATH").is_some());
    assert_eq!(exec("return env.PATH, env.NAME", &[("NAME", "value")]).await, "[null,\"value\"]\n");
}

#[tokio::test]
async fn environment_values_have_a_size_limit() {
    let run = |value: String| async move {
        engine().run(&Script::new("return #env.x").with_environment([("x", value)]), RunOptions::default()).await
    };
    let most = (256 << 10) - 65;
    let accepted = run("x".repeat(most)).await.expect("accepted");
    assert_eq!(accepted.outcome.decode::<usize>().expect("a length"), most);
    let rejected = run("x".repeat(most + 1)).await.expect_err("too large");
    assert_eq!(rejected, RunRejected::EnvironmentTooLarge { size: (256 << 10) + 1, limit: 256 << 10 });
    assert_eq!(rejected.to_string(), "the environment values are 262145 bytes; at most 262144 are allowed");
    // Many small values fit into the smallest memory.
    let many = (0..3000).map(|number| (number.to_string(), String::new()));
    let script = Script::new("return env['2999']").with_environment(many);
    let least = engine().run(&script, limited(|limits| limits.memory = 4 << 20)).await.expect("accepted");
    assert_eq!(least.outcome.result.expect("a result").get(), "\"\"");
}

#[test]
fn debug_output_does_not_show_environment_values() {
    let options = ExecOptions::default().with_environment([("TOKEN", "hunter2")]);
    let shown = format!("{options:?}");
    assert!(shown.contains("TOKEN") && !shown.contains("hunter2"), "{shown}");
}
