//! Functions of an embedder, called by scripts.

use crate::support::outcome;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::sync::Notify;
use toolscript::{
    CancellationToken, Engine, ErrorKind, Functions, Limits, RawValue, RunOptions, Script,
    engine::EngineError,
    functions::{
        Attachment, BoxFuture, FunctionCall, FunctionError, FunctionProvider, FunctionResponse, FunctionValue, InvalidFunctionName,
        JsonValue,
    },
};

#[derive(Deserialize)]
struct Query {
    #[serde(default)]
    city: String,
}

#[derive(Serialize)]
struct Weather {
    degrees: i32,
    wind: Option<f64>,
}

fn functions() -> Functions {
    Functions::new()
        .with_function("weather.today", |query: Query| match query.city.as_str() {
            "" => Ok(Weather { degrees: 0, wind: None }),
            "Oslo" => Ok(Weather { degrees: -3, wind: Some(4.5) }),
            other => Err(format!("there is no weather in {other}")),
        })
        .and_then(|functions| functions.with_function("add", |(a, b): (i64, i64)| Ok::<_, String>(a + b)))
        .and_then(|functions| functions.with_function("echo", |value: Value| Ok::<_, String>(value)))
        .and_then(|functions| functions.with_function("nothing", |(): ()| Ok::<_, String>(())))
        .and_then(|functions| {
            functions.with_function("sum", |bytes: Vec<u8>| Ok::<_, String>(bytes.iter().map(|byte| u32::from(*byte)).sum::<u32>()))
        })
        .expect("functions")
}

fn options() -> RunOptions {
    RunOptions::default().with_functions(functions())
}

async fn run_with(source: &str, options: RunOptions) -> Value {
    outcome(&crate::support::run_with(source, options).await)
}

async fn result(source: &str) -> Value {
    let outcome = run_with(source, options()).await;
    assert!(outcome["error"].is_null(), "{outcome}");
    outcome["result"].clone()
}

#[tokio::test]
async fn a_script_calls_functions_by_name() {
    assert_eq!(result("return sdk.weather.today{ city = 'Oslo' }").await, json!({ "degrees": -3, "wind": 4.5 }));
    assert_eq!(result("return sdk.weather.today{}").await, json!({ "degrees": 0 }));
    assert_eq!(result("return sdk.weather.today({}).wind == nil").await, json!(true));
    assert_eq!(result("return sdk.add(40, 2)").await, json!(42));
    assert_eq!(result("return sdk.nothing() == nil").await, json!(true));
    assert_eq!(result("return sdk.echo({ 1, { x = 'ä\\0' } })").await, json!([1, { "x": "ä\u{0}" }]));
    assert_eq!(result("return sdk.sum(buffer.fromstring('\\1\\2\\255'))").await, json!(258));
    // The table can also be indexed step by step.
    assert_eq!(result("local s = sdk local w = s['weather'] local t = w.today return t{ city = 'Oslo' }.degrees").await, json!(-3));
    let names =
        "local names = {} for name, value in sdk do table.insert(names, name .. ' ' .. type(value)) end table.sort(names) return names";
    assert_eq!(result(names).await, json!(["add function", "echo function", "nothing function", "sum function", "weather table"]));
    let frozen =
        "return pcall(function() sdk.x = 1 end), pcall(function() sdk.weather.x = 1 end), getmetatable(sdk), getmetatable(sdk.weather)";
    let locked = "The metatable is locked";
    assert_eq!(result(frozen).await, json!([false, false, locked, locked]));
}

#[tokio::test]
async fn an_error_is_raised_and_names_the_function() {
    let message = async |source: &str| result(&format!("return (select(2, pcall(function() {source} end)))")).await;
    assert_eq!(message("sdk.weather.today{ city = 'Mars' }").await, "script:1: weather.today: there is no weather in Mars");
    assert_eq!(message("sdk.nope()").await, "script:1: there is no function 'nope'");
    assert_eq!(message("sdk.weather.tomorrow()").await, "script:1: there is no function 'weather.tomorrow'");
    let invalid = "script:1: weather.today: invalid arguments: invalid type: integer `7`, expected a string at line 1 column 9";
    assert_eq!(message("sdk.weather.today{ city = 7 }").await, invalid);
    assert_eq!(message("sdk.echo(0/0)").await, "script:1: argument is NaN: it can't be written as JSON");
    assert_eq!(message("sdk.echo(print)").await, "script:1: argument is a function: it can't be written as JSON");
    let outcome = run_with("print('so far') sdk.weather.today{ city = 'Mars' }", options()).await;
    assert_eq!(outcome["error"]["message"], "script:1: weather.today: there is no weather in Mars");
    assert_eq!(outcome["logs"], json!(["so far"]));
}

#[tokio::test]
async fn without_functions_there_is_no_sdk() {
    assert_eq!(run_with("return sdk == nil", RunOptions::default()).await["result"], json!(true));
}

#[tokio::test]
async fn functions_of_an_engine_are_available_in_all_its_runs() {
    let engine = Engine::builder()
        .concurrency(1)
        .function("double", |number: f64| Ok::<_, String>(number * 2.0))
        .async_function("later.double", |number: f64| async move {
            tokio::task::yield_now().await;
            Ok::<_, String>(number * 2.0)
        })
        .build()
        .expect("an engine");
    let run = async |options| {
        engine.run(&Script::new("return sdk.double and sdk.double(4) + sdk.later.double(17)"), options).await.expect("a run")
    };
    assert_eq!(run(RunOptions::default()).await.outcome.decode::<f64>().expect("a result"), 42.0);
    // Functions of a run replace those of the engine.
    assert_eq!(outcome(&run(options()).await)["result"], Value::Null);
}

#[tokio::test]
async fn names_are_checked() {
    let add = |functions: Functions, name: &str| functions.with_function(name, |value: Value| Ok::<_, String>(value));
    let error = |name: &str| add(functions(), name).expect_err("an invalid name").to_string();
    for name in ["", "a.", ".a", "a..b", "1a", "a-b", "a b", "ä", "a\0b"] {
        assert_eq!(error(name), format!("invalid function name '{name}': use letters, digits and underscores, joined by dots"));
    }
    for name in ["all", "docs.x", "response", "search"] {
        assert_eq!(error(name), format!("invalid function name '{name}': sdk.all, sdk.docs, sdk.response and sdk.search are reserved"));
    }
    assert_eq!(error("weather"), "invalid function name 'weather': it conflicts with 'weather.today'");
    assert_eq!(error("weather.today.now"), "invalid function name 'weather.today.now': it conflicts with 'weather.today'");
    assert_eq!(error("add"), "invalid function name 'add': it conflicts with 'add'");
    let _: InvalidFunctionName = add(functions(), "add").expect_err("an invalid name");
    assert!(add(functions(), "weather.tomorrow").is_ok() && add(functions(), "adder").is_ok());
    let engine = Engine::builder().function("a b", |(): ()| Ok::<_, String>(())).build();
    assert!(matches!(engine.map(|_| ()), Err(EngineError::Function(_))));
}

#[tokio::test]
async fn calls_are_counted_and_limited() {
    let limits = Limits::default().with_api_calls(3);
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let functions = Functions::new()
        .with_function("count", move |(): ()| Ok::<_, String>(counted.fetch_add(1, Ordering::Relaxed)))
        .expect("a function");
    let options = RunOptions::default().with_limits(limits).with_functions(functions);
    let script = "print(1) while pcall(sdk.count) do end print('caught') return 'caught'";
    let run = crate::support::run_with(script, options).await;
    let message = "3 function calls were made, the limit; if this is a loop over pages, check that the cursor ends";
    assert_eq!(outcome(&run), json!({ "error": { "kind": "calls", "message": message }, "logs": ["1"], "files_touched": [] }));
    assert_eq!(calls.load(Ordering::Relaxed), 3);
    assert_eq!(run.receipt.stopped_by, Some(ErrorKind::Calls));
    assert_eq!((ErrorKind::Calls.name(), ErrorKind::Calls.exit_code()), ("calls", 3));
    assert_eq!(run.receipt.host_calls.count, 6, "the names, the log line, three calls and a rejected one");
}

/// Sets a flag when it is dropped.
struct SetOnDrop(Arc<AtomicBool>);

impl Drop for SetOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Returns a function that never returns, a notification of its start, and a flag that is set when its future is dropped.
fn endless() -> (Functions, Arc<Notify>, Arc<AtomicBool>) {
    let (started, dropped) = (Arc::new(Notify::new()), Arc::new(AtomicBool::new(false)));
    let (start, drop) = (Arc::clone(&started), Arc::clone(&dropped));
    let functions = Functions::new().with_async_function("endless", move |(): ()| {
        let (start, guard) = (Arc::clone(&start), SetOnDrop(Arc::clone(&drop)));
        async move {
            start.notify_one();
            std::future::pending::<()>().await;
            std::mem::drop(guard);
            Ok::<_, String>(())
        }
    });
    (functions.expect("a function"), started, dropped)
}

#[tokio::test]
async fn a_call_that_never_returns_ends_at_the_deadline() {
    let (functions, _, dropped) = endless();
    let limits = Limits::default().with_timeout(Duration::from_millis(200));
    let outcome =
        run_with("print(1) pcall(sdk.endless) print(2)", RunOptions::default().with_limits(limits).with_functions(functions)).await;
    assert_eq!((&outcome["error"]["kind"], &outcome["logs"]), (&json!("timeout"), &json!(["1"])));
    assert!(dropped.load(Ordering::Relaxed));
}

#[tokio::test]
async fn a_call_ends_when_the_run_is_cancelled() {
    let (functions, started, dropped) = endless();
    let cancellation = CancellationToken::new();
    let options = RunOptions::default().with_functions(functions).with_cancellation(cancellation.clone());
    let cancel = async {
        started.notified().await;
        cancellation.cancel();
    };
    let (run, ()) = tokio::join!(crate::support::run_with("sdk.endless()", options), cancel);
    assert_eq!(run.outcome.result.expect_err("cancelled").kind, ErrorKind::Cancelled);
    assert!(dropped.load(Ordering::Relaxed));
}

/// A provider that is not made of closures.
struct Archive;

impl FunctionProvider for Archive {
    fn names(&self) -> Vec<String> {
        vec!["archive.read".into(), "archive.size".into()]
    }

    fn call(&self, call: FunctionCall) -> BoxFuture<'_, Result<FunctionResponse, FunctionError>> {
        Box::pin(async move {
            let [FunctionValue::Json(size)] = &call.arguments[..] else { return Err("expected one number".into()) };
            let size: usize = serde_json::from_str(size.text.get()).map_err(|error| error.to_string())?;
            let mut response = FunctionResponse::new(FunctionValue::Bytes(vec![0xff; size]));
            response.details = Some(serde_json::value::to_raw_value(&json!({ "status": 200 })).expect("JSON").into());
            Ok(response)
        })
    }
}

#[tokio::test]
async fn bytes_are_returned_and_the_response_size_is_limited() {
    let run = async |source: &str| run_with(source, RunOptions::default().with_functions(Archive)).await;
    let script = "local body = sdk.archive.read(1000) return #body, body:byte(-1), select('#', sdk.archive.read(1))";
    assert_eq!(run(script).await["result"], json!([1000, 255, 1]));
    let script = "local response = sdk.response(sdk.archive.read, 1000) return #response.body, response.status, response.ok";
    assert_eq!(run(script).await["result"], json!([1000, 200, true]));
    assert_eq!(run("return #sdk.archive.read(8000000)").await["result"], json!(8_000_000));
    let message = "script:1: the response is 9000014 bytes; at most 8388608 are allowed at once";
    assert_eq!(run("sdk.archive.read(9000000)").await["error"]["message"], message);
    assert_eq!(
        run("sdk.archive.read(('x'):rep(9000000))").await["error"]["message"],
        "script:1: archive.read: the arguments are more than 8388608 bytes"
    );
    // The memory of a response is released afterwards.
    assert_eq!(run("local n = 0 for _ = 1, 50 do n += #sdk.archive.read(4000000 + _) end return n").await["result"], json!(200_001_275));
}

/// Returns its argument with the bytes in it.
struct Mirror;

impl FunctionProvider for Mirror {
    fn names(&self) -> Vec<String> {
        vec!["mirror".into(), "wrong".into()]
    }

    fn call(&self, mut call: FunctionCall) -> BoxFuture<'_, Result<FunctionResponse, FunctionError>> {
        Box::pin(async move {
            if call.name == "wrong" {
                let bytes = |pointer: &str| Attachment { pointer: pointer.into(), bytes: vec![0xff] };
                let json = JsonValue::from(RawValue::from_string("{\"a\":[1]}".into()).expect("JSON"));
                let pointers = ["/a/5/6", "/b/c", "/a/0/x", "nonsense", "/~", "/a/1e3"];
                return Ok(FunctionResponse::new(json.with_attachments(pointers.map(bytes).into())));
            }
            Ok(FunctionResponse::new(call.arguments.remove(0)))
        })
    }
}

#[tokio::test]
async fn bytes_inside_tables_are_passed_in_both_directions() {
    let run = async |source: &str| run_with(source, RunOptions::default().with_functions(Mirror)).await["result"].clone();
    let script = r#"
        local sent = { "\xff", { ["a/b~"] = "\xfe", [7] = buffer.fromstring("\0\xfd") }, "plain" }
        for index = 4, 200 do sent[index] = index end
        sent[201] = "\xfc"
        local got = sdk.mirror(sent)
        return got[1] == sent[1], got[2]["a/b~"] == "\xfe", got[2]["7"] == "\0\xfd", got[3], got[201] == "\xfc", #got
    "#;
    assert_eq!(run(script).await, json!([true, true, true, "plain", true, 201]));
    let script = r#"local all = sdk.all({ { sdk.mirror, { "\xff" } }, { sdk.mirror, "\xfe" } }) return #all[1][1], all[2] == "\xfe""#;
    assert_eq!(run(script).await, json!([1, true]));
    // A location that does not exist in the value of a host is ignored.
    assert_eq!(run("local value = sdk.wrong() return value.a[1], #value.a").await[0], json!(1));
    let error = r#"return (select(2, pcall(sdk.mirror, { ["\xff"] = 1 })))"#;
    assert_eq!(run(error).await, "argument[\"\u{fffd}\"] is not UTF-8: it can't be written as JSON");
    let too_large = "return (select(2, pcall(sdk.mirror, { ('\\xff'):rep(9000000) })))";
    assert_eq!(run(too_large).await, "mirror: the arguments are more than 8388608 bytes");
}

#[tokio::test]
async fn a_closure_receives_bytes_inside_tables_as_numbers() {
    assert_eq!(result(r#"return sdk.echo({ a = { "\xff\0", "text" } })"#).await, json!({ "a": [[255, 0], "text"] }));
    let message = "echo: a table contains more than 1048576 bytes that are not UTF-8; pass a buffer as an argument instead";
    assert_eq!(result(r#"return (select(2, pcall(sdk.echo, { ("\xff"):rep(2000000) })))"#).await, message);
}

#[tokio::test]
async fn responses_count_against_the_memory_limit() {
    let limits = Limits::default().with_memory(16 << 20);
    let options = RunOptions::default().with_limits(limits).with_functions(Archive);
    let outcome = run_with("local all = {} for i = 1, 10 do all[i] = sdk.archive.read(4000000 + i) end return #all", options).await;
    assert_eq!(outcome["error"]["kind"], "memory", "{outcome}");
}
