//! Hostile scripts that exhaust CPU, memory or the parser. Each is stopped or gets an error, and the engine keeps working.

use crate::support::{Fixture, engine, limited, outcome, run, run_with};
use std::time::Duration;
use toolscript::{ErrorKind, RunOptions, Script, engine::RunRejected};

#[tokio::test]
async fn hostile_scripts_end_as_their_header_expects() {
    let mut failures = Vec::new();
    for fixture in Fixture::all("stopped") {
        let run = engine().run(&fixture.script(), fixture.options()).await.expect("the run is accepted");
        // The first line proves that the attack ran.
        let started = run.outcome.logs.first().is_some_and(|line| line == "started");
        let expected = fixture.setting("error").expect("an expected error");
        let message = fixture.setting("message").unwrap_or_default();
        let as_expected = run.outcome.result.as_ref().is_err_and(|error| error.kind.name() == expected && error.message.contains(message));
        if !started || !as_expected {
            failures.push(format!("{}: expected {expected} {message:?}, got {}", fixture.name(), outcome(&run)));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert_eq!(run("return 'alive'").await.outcome.result.expect("a result").get(), "\"alive\"");
}

#[tokio::test]
async fn a_stack_overflow_can_be_caught() {
    for recursion in
        ["return 1 + again()", "return (string.gsub('a', 'a', again))", "table.sort({ 2, 1 }, again)", "coroutine.wrap(again)()"]
    {
        let source = format!("local function again() {recursion} end local ok, message = pcall(again) return ok, message");
        let (ok, message): (bool, String) = run(&source).await.outcome.decode().expect("a result");
        assert!(!ok);
        assert!(message.contains("stack overflow"), "{recursion}: {message}");
    }
}

#[tokio::test]
async fn the_parser_limits_nesting_before_the_stack_overflows() {
    let deep = 100_000;
    let close = |open: &str, middle: &str, end: &str| format!("{}{middle}{}", open.repeat(deep), end.repeat(deep));
    for (name, source) in [
        ("parentheses", format!("return {}", close("(", "1", ")"))),
        ("tables", format!("return {}", close("{", "", "}"))),
        ("ifs", close("if x then ", "", " end")),
        ("functions", close("function f() ", "", " end")),
        ("blocks", close("do ", "", " end")),
        ("unary operators", format!("return {}x", "not ".repeat(deep))),
        ("right-associative operators", format!("return x{}", "^x".repeat(deep))),
        ("concatenations", format!("return x{}", "..x".repeat(deep))),
        ("types", format!("local x: {} = nil", close("{", "number", "}"))),
        ("function types", format!("local x: {}() -> () = nil", "() -> ".repeat(deep))),
        ("calls", format!("return f{}", "(f".repeat(deep))),
        ("interpolated strings", format!("return {}", "`{".repeat(deep))),
        ("indexing", format!("return a{}", ".b".repeat(deep))),
        ("additions", format!("return 1{}", "+1".repeat(deep))),
        ("else-ifs", format!("if x then {} end", "elseif x then ".repeat(deep))),
        ("ifs in expressions", format!("return {}1", "if x then 1 else ".repeat(deep))),
    ] {
        let run = run_with(&source, limited(|limits| limits.script = 4 << 20)).await;
        let error = run.outcome.result.expect_err(name);
        assert_eq!(error.kind, ErrorKind::Syntax, "{name}: {}", error.message);
        assert!(error.message.starts_with("script:1: Exceeded allowed recursion depth"), "{name}: {}", error.message);
    }
}

#[tokio::test]
async fn inlining_does_not_overflow_the_compiler() {
    use std::fmt::Write as _;
    let mut source = String::from("local function f0() return 1 end\n");
    for index in 1..=6 {
        let (open, close) = ("if true then ".repeat(390), " end".repeat(390));
        writeln!(source, "local function f{index}() {open} return f{}() {close} end", index - 1).expect("a string");
    }
    source.push_str("return f6()");
    assert_eq!(run(&source).await.outcome.result.expect("it compiles").get(), "1");
}

#[tokio::test]
async fn a_script_that_returns_after_its_deadline_fails_with_a_timeout() {
    let options = limited(|limits| {
        limits.memory = 1 << 30;
        limits.timeout = Duration::from_millis(5);
        limits.fuel = Some(u64::MAX);
    });
    let error = run_with("local block = buffer.create(2 ^ 29)", options).await.outcome.result.expect_err("a stop");
    assert_eq!(error.kind, ErrorKind::Timeout);
}

#[tokio::test]
async fn long_scripts_compile_or_fail_with_an_error() {
    let numbers: String = (0..100_000).map(|number| format!("{number}.5,")).collect();
    for (name, source, expected) in [
        ("statements", format!("{} return x", "x = 1 ".repeat(100_000)), Ok("1")),
        ("constants", format!("return #{{{numbers}}}"), Ok("100000")),
        (
            "locals",
            "local x = print() ".repeat(1_000),
            Err("script:1: Out of local registers when trying to allocate x: exceeded limit 200"),
        ),
        ("names", format!("{} = 1 return 2", "x".repeat(500_000)), Ok("2")),
    ] {
        let run = run_with(&source, limited(|limits| limits.script = 4 << 20)).await;
        let actual = run.outcome.result.as_ref().map(|json| json.get()).map_err(|error| error.message.as_str());
        assert_eq!(actual, expected, "{name}");
    }
}

#[tokio::test]
async fn a_script_over_its_limit_is_rejected() {
    let source = format!("return '{}'", "x".repeat(10 << 20));
    let error = engine().run(&Script::new(source.clone()), RunOptions::default()).await.expect_err("a rejection");
    assert_eq!(error, RunRejected::ScriptTooLarge { size: source.len(), limit: 1 << 20 });
    assert_eq!(error.to_string(), "the script is 10485769 bytes; at most 1048576 are allowed");
}

#[tokio::test]
async fn running_out_of_memory_while_compiling_is_a_memory_error() {
    // Each statement costs the parser and the compiler far more memory than its text.
    let source = "a={{},{},{},{},{},{},{}}".repeat(160_000);
    let run = run_with(
        &source,
        limited(|limits| {
            limits.script = 8 << 20;
            limits.memory = 24 << 20;
        }),
    )
    .await;
    let error = run.outcome.result.expect_err("a memory error");
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Memory, "not enough memory"));
    assert!(run.receipt.memory_peak > 20 << 20, "{:?}", run.receipt);
}

#[tokio::test]
async fn a_memory_error_can_be_caught_and_the_script_continues() {
    let source = "local ok, message = pcall(string.rep, 'x', 2 ^ 29) return ok, message, #string.rep('x', 1000)";
    assert_eq!(run(source).await.outcome.result.expect("a result").get(), "[false,\"not enough memory\",1000]");
}

#[tokio::test]
async fn forty_mebibytes_of_live_data_and_a_gibibyte_of_garbage_fit() {
    let source = "
        local live = {}
        for i = 1, 40 * 64 do
            live[i] = string.rep(string.char(i % 256), 16 * 1024) .. i
        end
        local churned = 0
        while churned < 2 ^ 30 do
            local garbage = {}
            for i = 1, 100 do
                garbage[i] = { tostring(i), i }
            end
            local text = string.rep('x', 4096) .. churned
            churned += #text + 100 * 100
        end
        return #live";
    let run = run_with(source, limited(|limits| limits.timeout = Duration::from_secs(120))).await;
    assert_eq!(run.outcome.result.expect("it fits").get(), "2560");
    assert!(run.receipt.memory_peak > 42 << 20, "{:?}", run.receipt);
}

#[tokio::test]
async fn forty_mebibytes_of_small_tables_and_garbage_fit() {
    let source = "
        local live = {}
        for i = 1, 330000 do
            live[i] = { i, i + 1 }
        end
        local churned = 0
        while churned < 2 ^ 28 do
            local garbage = { churned, churned, { churned } }
            churned += 160
        end
        return #live";
    let run = run_with(source, limited(|limits| limits.timeout = Duration::from_secs(120))).await;
    assert_eq!(run.outcome.result.expect("it fits").get(), "330000");
}
