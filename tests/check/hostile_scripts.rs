//! Scripts that attack the checker.

use super::{api, check};
use crate::support::engine;
use std::{
    fmt::Write as _,
    time::{Duration, Instant},
};
use toolscript::{
    ErrorKind, Limits, RunOptions, Script,
    engine::{CheckMode, Definitions, FunctionNames, NotChecked},
};

/// The time of a check on a machine that is busy with other tests.
const BOUND: Duration = Duration::from_secs(5);

/// Scripts that are large, deep or intricate, by what they do.
fn attacks() -> Vec<(&'static str, String)> {
    let chain: String = (0..20_000).fold("local v0 = sdk\n".into(), |mut text, number| {
        let _ = writeln!(text, "do local v{} = v{number}.x end", number + 1);
        text
    });
    let aliases: String = (0..150).fold("local a0 = sdk\n".into(), |mut text, number| {
        let _ = writeln!(text, "local a{} = a{number}.x", number + 1);
        text
    });
    let names: String = (0..60_000).map(|number| format!("x{number}()\n")).collect();
    let catching: String =
        (0..4000).map(|number| format!("function f{number}(g) return pcall(g) end f{number}(f{})\n", (number + 1) % 4000)).collect();
    vec![
        ("deep parentheses", "(".repeat(100_000)),
        ("deep tables", "return ".to_owned() + &"{".repeat(100_000)),
        ("nested functions", "local f = ".to_owned() + &"function() return ".repeat(390) + "1" + &" end".repeat(390)),
        ("a long chain of members", "return a".to_owned() + &".b".repeat(200_000)),
        ("a long sum", "return 1".to_owned() + &" + 1".repeat(200_000)),
        ("a long list", format!("return {{ {} }}", "x, ".repeat(200_000))),
        ("a long string", format!("return '{}'", "x".repeat(1 << 19))),
        ("many unknown names", names),
        ("variables of variables", aliases),
        ("many variables", chain),
        ("functions that catch errors of each other", catching),
        ("deep types", format!("local x: {}number{} = 1", "{ a: ".repeat(100_000), " }".repeat(100_000))),
        ("a huge union", format!("type T = {} return 1", (0..50_000).map(|n| format!("'{n}'")).collect::<Vec<_>>().join(" | "))),
        ("recursive types", "type A<T> = { a: A<A<T>>, b: B<T> } type B<T> = A<B<T>> local x: A<B<A<number>>> = nil return x".into()),
        ("type functions", "type function f(t) while true do end return t end local x: f<number> = 1 return x".into()),
        ("NUL bytes", "return \0\0\0 x".into()),
        ("text that is not UTF-8", String::from("return '\u{fffd}' .. undefined_name")),
        ("misspelt names beside a long one", format!("return {}", "y".repeat(500_000))),
    ]
}

#[tokio::test]
async fn attacks_on_the_checker_end_in_bounded_time() {
    let sdk = api("store", "tests/first_try/store.yaml").await;
    for (name, script) in attacks() {
        let started = Instant::now();
        let checked = check(&script, Some(&sdk)).await;
        assert!(started.elapsed() < BOUND, "{name}: {:?}", started.elapsed());
        if let Ok(mistakes) = &checked {
            assert!(mistakes.len() <= 50 && mistakes.iter().all(|mistake| mistake.message.len() <= 510), "{name}");
        }
        // The run goes on as if nothing had happened.
        let options = RunOptions::default()
            .with_limits(toolscript::Limits::default().with_timeout(Duration::from_secs(2)))
            .with_check(CheckMode::Errors);
        engine().run(&Script::new(script), options).await.unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    let run =
        engine().run(&Script::new("local x = 1 return x"), RunOptions::default().with_check(CheckMode::Errors)).await.expect("it runs");
    assert_eq!(run.outcome.decode::<i32>().expect("a result"), 1);
}

/// The checker has less time and memory than a run. Without them, the script is not checked, and runs.
#[tokio::test]
async fn a_checker_that_is_stopped_does_not_fail_the_run() {
    // A large script, whose syntax tree needs more than 64 MiB.
    let memory = format!("local a local b = {{{}}} return missing == nil", "-a,".repeat(1 << 20));
    // The distance to every known name is computed for each unknown one.
    let assigned: String = (0..20_000).map(|number| format!("name_{number} = 1\n")).collect();
    let calls: String = (0..390).map(|number| format!("if name_1 == 2 then nam_{number}_() end\n")).collect();
    let time = format!("{assigned}{calls}return missing == nil");
    for (name, script) in [("memory", memory), ("time", time)] {
        let script = Script::new(script);
        let checked = engine().check(&script, &Definitions::default()).await;
        assert_eq!(checked, Err(NotChecked::Stopped), "{name}");
        let options = RunOptions::default().with_limits(Limits::default().with_script(4 << 20)).with_check(CheckMode::Errors);
        let run = engine().run(&script, options).await.expect("it is accepted");
        let kind = run.outcome.result.as_ref().err().map(|error| error.kind);
        assert!(matches!(kind, None | Some(ErrorKind::Memory)), "{name}: {run:?}");
    }
}

#[tokio::test]
async fn hostile_definitions_are_an_error_or_ignored() {
    let script = Script::new("return sdk.f({ a = 1, b = { c = 'x' } }).q.r.s");
    for types in [
        "declare sdk: {".to_owned(),
        "type A = A declare sdk: A".into(),
        "type A = B type B = A declare sdk: { f: A }".into(),
        "type T = T | T & T declare sdk: { f: (arguments: T) -> T }".into(),
        (0..60).fold(String::from("type T0 = string\n"), |mut text, n| {
            let _ = writeln!(text, "type T{} = T{n} | T{n}", n + 1);
            text
        }) + "declare sdk: { f: (arguments: T60) -> T60 }",
        format!("declare sdk: {{ f: (arguments: {}number{}) -> () }}", "{ a: ".repeat(5000), " }".repeat(5000)),
    ] {
        let started = Instant::now();
        let checked = engine().check(&script, &Definitions::with_types(types.clone(), FunctionNames::new(["f"], []))).await;
        assert!(started.elapsed() < BOUND, "{types:.80}");
        assert!(
            checked.is_ok() || matches!(&checked, Err(NotChecked::Script(reason)) if reason == "the definitions have a syntax error"),
            "{checked:?}"
        );
    }
}
