//! Errors of functions: the data that they carry, and their use as text.

use crate::support::{outcome, run_with};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use toolscript::{
    Functions, RawValue, RunOptions,
    functions::{FunctionError, FunctionValue},
};

fn body(json: &str) -> FunctionValue {
    RawValue::from_string(json.into()).expect("JSON").into()
}

/// Returns an error of each kind by its name.
fn fail(kind: String) -> Result<u32, FunctionError> {
    Err(match kind.as_str() {
        "status" => FunctionError::from("404 Not Found")
            .with_status(404)
            .with_headers(BTreeMap::from([("x-id".into(), "7".into())]))
            .with_body(body(r#"{"code":"gone","at":[1,2]}"#))
            .with_retry_after(1.5),
        "bytes" => FunctionError::from("broken").with_body(FunctionValue::Bytes(vec![0xff, 0])),
        "null" => FunctionError::from("broken").with_body(body("null")),
        "deep" => FunctionError::from("broken").with_status(500).with_body(body(&format!("{}{}", "[".repeat(500), "]".repeat(500)))),
        "huge" => FunctionError::from("broken").with_status(500).with_body(FunctionValue::Bytes(vec![0; 9 << 20])),
        "long" => FunctionError::from("x".repeat(100_000)),
        other => other.into(),
    })
}

fn options() -> RunOptions {
    let functions = Functions::new().with_function("api.fail", fail).expect("a function");
    let functions = functions.with_function("api.ok", |value: Value| Ok::<_, String>(value)).expect("a function");
    RunOptions::default().with_functions(functions)
}

async fn result(source: &str) -> Value {
    let outcome = outcome(&run_with(source, options()).await);
    assert!(outcome["error"].is_null(), "{outcome}");
    outcome["result"].clone()
}

/// Evaluates an expression with the error of `api.fail("status")` in `err`.
async fn with_error(expression: &str) -> Value {
    result(&format!("local _, err = pcall(function() sdk.api.fail('status') end) return {expression}")).await
}

#[tokio::test]
async fn an_error_has_data() {
    let data = "err.name, err.status, err.body.code, err.body.at[2], err.headers['x-id'], err.retry_after, type(err), err.other";
    assert_eq!(with_error(data).await, json!(["api.fail", 404, "gone", 2, "7", 1.5, "table", null]));
    let plain =
        "local _, err = pcall(sdk.api.fail, 'broken') return err.name, err.message, err.status, err.body, err.headers, err.retry_after";
    assert_eq!(result(plain).await, json!(["api.fail", "api.fail: broken", null, null, null, null]));
    assert_eq!(result("local _, err = pcall(sdk.api.fail, 'bytes') return err.body == '\\255\\0'").await, json!(true));
    assert_eq!(result("local _, err = pcall(sdk.api.fail, 'null') return err.body").await, Value::Null);
}

#[tokio::test]
async fn an_error_is_also_its_message() {
    let message = "script:1: api.fail: 404 Not Found";
    assert_eq!(with_error("tostring(err), err.message, err .. '', '' .. err, ('%s'):format(err)").await, json!(vec![message; 5]));
    assert_eq!(with_error("err, { err }, json.decode(json.encode(err))").await, json!([message, [message], message]));
    assert_eq!(with_error("`{err}!`, 1 .. err .. 2 .. err").await, json!([format!("{message}!"), format!("1{message}2{message}")]));
    let methods = "err:find('404'), err:match('%d%d%d'), err:gsub('script:1: ', ''), err:upper():sub(1, 6), err:len(), err:split(':')[1]";
    assert_eq!(with_error(methods).await, json!([21, "404", "api.fail: 404 Not Found", "SCRIPT", message.len(), "script"]));
    let functions = "string.find(err, '404', 1, true), string.sub(err, 1, 6), string.rep(err, 2), string.byte(err), tonumber(string.match(err, '%d%d+'))";
    assert_eq!(with_error(functions).await, json!([21, "script", format!("{message}{message}"), 115, 404]));
    assert_eq!(
        with_error("table.concat({ 'a', err, 1 }, ', '), table.concat({ err })").await,
        json!([format!("a, {message}, 1"), message])
    );
    let words = "local words = {} for word in err:gmatch('%a+') do table.insert(words, word) end return words";
    let script = format!("local _, err = pcall(function() sdk.api.fail('status') end) {words}");
    assert_eq!(result(&script).await, json!(["script", "api", "fail", "Not", "Found"]));
    assert_eq!(result("local _, err = pcall(sdk.api.fail, 'x') print(err, {err}) return #err:rep(3)").await, json!(33));
    let concatenated = "pcall(function() return err .. nil end)";
    assert_eq!(with_error(concatenated).await, json!([false, "script:1: attempt to concatenate string with nil"]));
}

#[tokio::test]
async fn an_error_is_read_only() {
    let script = "local kept = {} for _, change in {
            function() err.status = 1 end, function() rawset(err, 'status', 1) end, function() setmetatable(err, nil) end,
            function() table.clear(err) end, function() table.clone(err) end, function() err.message = {} end,
        } do table.insert(kept, (pcall(change))) end
        return kept, err.status, getmetatable(err)";
    let script = format!("local _, err = pcall(sdk.api.fail, 'status') {script}");
    assert_eq!(result(&script).await, json!([[false, false, false, false, false, false], 404, "The metatable is locked"]));
}

#[tokio::test]
async fn an_uncaught_error_is_reported_as_its_message() {
    let error = async |source: &str| outcome(&run_with(source, options()).await)["error"].clone();
    let message = "script:1: api.fail: 404 Not Found";
    let traceback = "[C] function api.fail\nscript:1";
    let expected = json!({ "kind": "runtime", "message": message, "traceback": traceback });
    assert_eq!(error("sdk.api.fail('status')").await, expected);
    assert_eq!(error("local _, err = pcall(function() sdk.api.fail('status') end) error(err)").await["message"], message);
    assert_eq!(error("local _, err = pcall(function() sdk.api.fail('status') end) error(err, 0)").await["message"], message);
    assert_eq!(error("assert(pcall(function() sdk.api.fail('status') end))").await["message"], format!("script:1: {message}"));
    let rethrown = "local _, err = pcall(function() sdk.api.fail('status') end) error('load: ' .. err)";
    assert_eq!(error(rethrown).await["message"], format!("script:1: load: {message}"));
    assert_eq!(error("coroutine.wrap(function() sdk.api.fail('status') end)()").await["message"], message);
    let kept = "local _, err = pcall(function() local _, inner = pcall(sdk.api.fail, 'status') error(inner) end) return err.status";
    assert_eq!(result(kept).await, json!(404));
    let traceback = "local _, text = xpcall(function() sdk.api.fail('status') end, debug.traceback) return text:match('^[^\\n]*')";
    assert_eq!(result(traceback).await, json!(message));
}

#[tokio::test]
async fn hostile_data_of_an_error_is_bounded() {
    let deep = "local _, err = pcall(sdk.api.fail, 'deep') return type(err.body), #err.body, err.status";
    assert_eq!(result(deep).await, json!(["string", 1000, 500]));
    let huge = "local _, err = pcall(sdk.api.fail, 'huge') return err.body, err.status, err.message";
    assert_eq!(result(huge).await, json!([null, null, "api.fail: broken"]), "data that exceeds the limit is dropped");
    assert_eq!(result("local _, err = pcall(sdk.api.fail, 'long') return #err.message").await, json!(8 << 10));
    let many = "for _ = 1, 200 do local ok, err = pcall(sdk.api.fail, 'deep') assert(not ok and err.status == 500) end return 1";
    assert_eq!(result(many).await, json!(1), "the memory of an error is released");
}

#[tokio::test]
async fn responses_contain_the_details() {
    assert_eq!(result("return sdk.response(sdk.api.ok, { a = 1 })").await, json!({ "ok": true, "body": { "a": 1 } }));
    assert_eq!(result("return sdk.response(sdk.api.ok).body").await, Value::Null);
    let failed =
        json!({ "ok": false, "status": 404, "headers": { "x-id": "7" }, "body": { "code": "gone", "at": [1, 2] }, "retry_after": 1.5 });
    assert_eq!(result("return sdk.response(sdk.api.fail, 'status')").await, failed);
    let error = async |source: &str| outcome(&run_with(source, options()).await)["error"]["message"].clone();
    assert_eq!(error("sdk.response(sdk.api.fail, 'broken')").await, "script:1: api.fail: broken", "an error without a status is raised");
    let misused = "script:1: the first argument must be an sdk function that is not called, such as sdk.response(sdk.f, {id = 1})";
    for call in [
        "sdk.response()",
        "sdk.response(print)",
        "sdk.response(sdk.api.ok(1))",
        "sdk.response(sdk.response)",
        "sdk.response(function() end)",
    ] {
        assert_eq!(error(call).await, misused, "{call}");
    }
}

#[tokio::test]
async fn concurrent_calls_have_no_holes() {
    let calls = "{ { sdk.api.ok, 1 }, { sdk.api.fail, 'status' }, { sdk.api.ok }, { sdk.api.fail, 'broken' }, { sdk.api.ok, false } }";
    let script =
        format!("local all = sdk.all({calls}, {{ errors = 'return' }}) return #all, all[2].error.status, all[3] == json.null, all");
    let all = json!([1, { "error": "api.fail: 404 Not Found" }, null, { "error": "api.fail: broken" }, false]);
    assert_eq!(result(&script).await, json!([5, 404, true, all]));
    let raised = format!("local _, err = pcall(function() return sdk.all({calls}) end) return err, err.status, err.name");
    assert_eq!(result(&raised).await, json!(["script:1: call 2: api.fail: 404 Not Found", 404, "api.fail"]));
    assert_eq!(result("return select('#', sdk.all({ { sdk.api.ok, 1 } }))").await, json!(1));
}
