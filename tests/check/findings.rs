//! What the check finds, and what it leaves alone.

use super::{api, check, found};
use crate::support::{engine, outcome};
use serde_json::json;
use std::{collections::BTreeSet, fs, path::Path, sync::Arc};
use toolscript::{
    Engine, RunOptions, Script,
    engine::{CheckMode, Definitions, FunctionNames, NotChecked},
    sdk::Sdk,
};

#[tokio::test]
async fn unknown_globals_and_members_have_the_nearest_name_or_a_hint() {
    let script =
        "prnt(1)\nlocal t = tabel.concat({})\nlocal a = string.fromat('%d', 1)\nlocal b = ('x'):trim()\nlocal c = math.tointeger(1)
local d = io.opne('x')\nfor line in io.open('x'):line() do end\nio.write('x')\nlocal e = json.parse('1')\nreturn totl, os.getenv('HOME')";
    let expected = [
        "1:1: unknown global 'prnt' (did you mean 'print'?)",
        "2:11: unknown global 'tabel' (did you mean 'table'?)",
        "3:18: string has no 'fromat' (did you mean 'format'?)",
        "4:17: string has no 'trim'; use s:match(\"^%s*(.-)%s*$\")",
        "5:16: math has no 'tointeger'; numbers have no integer type; use math.floor or math.round",
        "6:14: io has no 'opne' (did you mean 'open'?)",
        "7:26: there is no field 'line' (did you mean 'lines'?)",
        "8:4: io.write is not available; use print, or io.open",
        "9:16: json has no 'parse'; use json.decode",
        "10:8: unknown global 'totl'",
        "10:17: os has no 'getenv'; there are no environment variables; the arguments of the script are in ...",
    ];
    assert_eq!(found(script, None).await, expected);
}

#[tokio::test]
async fn calls_of_functions_are_checked_with_all_their_literals() {
    let sdk = api("closed", "tests/check/closed.yaml").await;
    for (call, expected) in [
        (
            "sdk.closed.get_orders{}",
            "1:12: there is no function 'closed.get_orders'; did you mean closed.get_order, closed.list_orders, closed.put_order?",
        ),
        ("sdk.close.get_order{ order_id = 1 }", "1:5: there is no function 'close'; did you mean closed?"),
        ("sdk.closed:get_order{ order_id = 1 }", "1:12: closed.get_order: call it with a dot: sdk.closed.get_order(...)"),
        ("sdk.closed.get_order{}", "1:21: closed.get_order: the parameter 'order_id' is missing"),
        ("sdk.get_order()", "1:1: closed.get_order: the parameter 'order_id' is missing"),
        (
            "sdk.closed.get_order(7)",
            "1:22: closed.get_order: the first argument must be a table of parameters, such as {order_id = …}; available: order_id",
        ),
        ("sdk.closed.get_order{ order_id = 'seven' }", "1:34: closed.get_order: order_id: \"seven\" is not of type \"integer\""),
        ("sdk.closed.get_order({ order_id = 1 }, { x = 1 })", "1:40: closed.get_order: the function takes no body"),
        (
            "sdk.closed.list_orders{ statu = 'open' }",
            "1:25: closed.list_orders: there is no parameter 'statu' (did you mean 'status'?); available: status, ids, page_size",
        ),
        (
            "sdk.closed.list_orders{ status = 'opn' }",
            "1:34: closed.list_orders: status: \"opn\" is not one of \"open\" or \"paid\" (did you mean 'open'?)",
        ),
        ("sdk.closed.list_orders{ ids = 'x' }", "1:31: closed.list_orders: ids: \"x\" is not of type \"array\""),
        ("sdk.closed.list_orders{ ids = { 1, true } }", "1:36: closed.list_orders: ids[2]: true is not of type \"integer\""),
        ("sdk.closed.create_order()", "1:1: closed.create_order: the body is missing"),
        (
            "sdk.closed.create_order{ customer = 'a', items = {}, urgnt = true }",
            "1:54: closed.create_order: body: there is no field 'urgnt' (did you mean 'urgent'?); available: customer, items, labels, urgent",
        ),
        (
            "sdk.closed.create_order{ items = { { sku = 'a' }, { sku = 1 } } }",
            "1:24: closed.create_order: body: the field 'customer' is missing",
        ),
        (
            "sdk.closed.create_order{ customer = 'a', items = { { sku = 1 } } }",
            "1:60: closed.create_order: body.items[1].sku: a number is not of type \"string\"",
        ),
        (
            "sdk.closed.create_order{ customer = 'a', items = { sku = 'x' } }",
            "1:50: closed.create_order: body.items: a table with named fields is not a list; write {{…}} for a list of one table",
        ),
        ("sdk.closed.get_order{ order_id = 1.5 }", "1:34: closed.get_order: order_id: a number is not of type \"integer\""),
        ("sdk.closed.list_orders{ page_size = 15 }", "1:37: closed.list_orders: page_size: the number is not one of 10, 20 or -1"),
        (
            "local status = 'opn' sdk.closed.list_orders{ status = status }",
            "1:16: closed.list_orders: status: \"opn\" is not one of \"open\" or \"paid\" (did you mean 'open'?)",
        ),
        ("sdk.closed.ping{ now = true }", "1:16: closed.ping: the function takes no arguments"),
        ("sdk.all{ { sdk.closed.get_order, { id = 1 } } }", "1:36: closed.get_order: there is no parameter 'id'; available: order_id"),
        ("sdk.response(sdk.closed.get_order, {})", "1:36: closed.get_order: the parameter 'order_id' is missing"),
    ] {
        let errors = found(call, Some(&sdk)).await;
        assert!(errors.iter().any(|error| error == expected), "{call}: {errors:#?}");
    }
}

#[tokio::test]
async fn arguments_that_the_host_accepts_are_right() {
    let sdk = api("closed", "tests/check/closed.yaml").await;
    for script in [
        "sdk.closed.get_order{ orderId = 1 }",
        "sdk.closed.getOrder{ order_id = '9007199254740993' }",
        "sdk.closed.list_orders()",
        "sdk.closed.list_orders({})",
        "sdk.closed.list_orders(nil)",
        "sdk.closed.list_orders{ ids = {}, page_size = -1 }",
        "sdk.closed.list_orders{ page_size = '20', ids = { 2.0, -3, 1e3 } }",
        "sdk.closed.mixed_body{ kind = 'x', own = 1, other = 2 }",
        "sdk.closed.ping({})",
        "local function f(...) return sdk.closed.get_order(...) end f({ order_id = 1 })",
        "local params = {} params.order_id = 1 sdk.closed.get_order(params)",
        "sdk.closed.get_order{ [(\"order_id\")] = 1 }",
        "local key = 'order_id' sdk.closed.get_order{ [key] = 1 }",
        "sdk.closed.create_order({}, { customer = 'a', items = {}, labels = { any = 'x' } })",
        "sdk.closed.put_order({ order_id = 1 }, { note = 'x', total = 1 })",
        "local name = 'get_order' sdk.closed[name]({})",
    ] {
        assert_eq!(found(script, Some(&sdk)).await, Vec::<String>::new(), "{script}");
    }
}

#[tokio::test]
async fn fields_that_a_closed_response_does_not_have_are_errors() {
    let sdk = api("closed", "tests/check/closed.yaml").await;
    let message = "there is no field 'totl' (did you mean 'total'?)";
    for (script, position) in [
        ("return sdk.closed.get_order{ order_id = 1 }.totl", "1:45"),
        ("local order = sdk.closed.get_order{ order_id = 1 }\nprint(order.totl)", "2:13"),
        ("local sum = 0\nfor _, order in sdk.closed.list_orders() do\n    sum += order.totl\nend", "3:18"),
        ("for _, order in ipairs(sdk.closed.list_orders{}) do print(order['totl']) end", "1:59"),
        ("local all = sdk.closed.list_orders() or {}\ntable.sort(all, function(a, b) return a.totl < b.total end)", "2:41"),
        ("local shop = sdk.closed\nlocal first = shop.list_orders()[1]\nreturn { first.totl }", "3:16"),
        ("local all = sdk.closed.list_orders()\nfor i = 1, #all do print(all[i].totl) end", "2:33"),
        ("local function load(id) return sdk.closed.get_order{ order_id = id } end\nreturn load(1).totl", "2:16"),
        ("local order = assert(sdk.closed.get_order{ order_id = 1 })\nif order.totl == 5 then return 1 end", "2:10"),
        ("local own = {}\nfor i, order in sdk.closed.list_orders() do own[i] = order.totl table.insert(own, 1) end", "2:60"),
    ] {
        assert_eq!(found(script, Some(&sdk)).await, [format!("{position}: {message}")], "{script}");
    }
    let nested = "local o = sdk.closed.get_order{ order_id = 1 }\nreturn o.address.zip, o.extra.anything";
    let note = "note: 2:31: there is no field 'anything'; the response schema does not declare it";
    assert_eq!(found(nested, Some(&sdk)).await, ["2:18: there is no field 'zip'", note]);
}

#[tokio::test]
async fn what_a_script_may_have_reasons_for_is_no_error() {
    let sdk = api("closed", "tests/check/closed.yaml").await;
    for script in [
        // It asks whether something exists.
        "if DEBUG then print(1) end return io.popen or loadstring or type(load) == 'nil'",
        "local unpack = table.unpick or table.unpack return unpack({ 1 })",
        "if string.trim then return string.trim('x') end",
        "local o = sdk.closed.get_order{ order_id = 1 } if o.nickname then print(o.nickname) end return o.title or o.name",
        // It creates what it uses.
        "total = 1 function helper() return total end return helper()",
        "local o = sdk.closed.get_order{ order_id = 1 } o.score = 2 return o.score",
        "local o = sdk.closed.get_order{ order_id = 1 } for k, v in { score = 1 } do o[k] = v end return o.score",
        "local o = setmetatable(sdk.closed.get_order{ order_id = 1 }, { __index = { score = 1 } }) return o.score",
        "local o = sdk.closed.get_order{ order_id = 1 } o = { anything = 1 } return o.anything",
        "setfenv(1, { anything = 1 }) return anything",
        // It tests the value later.
        "local trim = string.trim if not trim then trim = function(s) return s end end return trim('x')",
        "local config = CONFIG local other = config if other then return other.x end",
        "local function show(v) return v or '-' end return show(OPTIONS), show(sdk.closed.get_order{ order_id = 1 }.nickname)",
        "if rawget(_G, 'jit') then jit.on() end if _G.utf9 then return utf9.x end",
        "pcall(os.getenv, 'HOME') return (pcall(loadstring, 'return 1'))",
        // It is not evaluated.
        "local now = os.clock or socket.gettime return (table.unpack or unpackx)({ now() })",
        // It changes the elements of a list.
        "local o = sdk.closed.list_orders() for i = 1, #o do o[i] = { key = o[i].id } end return o[1].key",
        "local o = sdk.closed.list_orders() o[#o + 1] = { label = 'x' } for _, v in o do print(v.label) end",
        "local o = sdk.closed.list_orders() table.insert(o, { label = 'x' }) return o[1].label",
        "local o = sdk.closed.list_orders() local t = { o = o } t.o[1] = { label = 'x' } return o[1].label",
        "local names = io.list() for i, name in names do names[i] = { name = name } end return names[1].name, names[1].name:upper()",
        // Other functions have the names of libraries.
        "function pairs(t) return next, { { label = 1 } } end for k, v in pairs(sdk.closed.list_orders()) do print(v.label) end",
        "_G.setmetatable(sdk.closed.get_order{ order_id = 1 }, { __index = { score = 1 } }) local o = sdk.closed.get_order{ order_id = 1 } return o.score",
        // A field of a string or a file handle is nil. A response may have other types than its schema.
        "local kind = ('text').kind local file = io.open('f', 'w') local name = file.name file:close() return kind == name",
        "local o = sdk.closed.get_order{ order_id = 1 } return o.status.first",
        // Functions that are not operations take other arguments.
        "return sdk.search('orders', 5)",
        "return sdk.closed.list_orders({}, nil, nil)",
        // The type is not certain.
        "local ok, o = pcall(sdk.closed.get_order, { order_id = 1 }) return o.status, o.message",
        "local o = sdk.closed.put_order({ order_id = 1 }, { note = 'x' }) return o.job",
        "local function f(o) return o.anything end return f(sdk.closed.get_order{ order_id = 1 })",
        "local o: any = json.decode('{}') return o.anything",
    ] {
        let errors: Vec<String> = found(script, Some(&sdk)).await.into_iter().filter(|found| !found.starts_with("note: ")).collect();
        assert_eq!(errors, Vec::<String>::new(), "{script}");
    }
}

#[tokio::test]
async fn a_script_can_test_how_something_fails() {
    let sdk = api("closed", "tests/check/closed.yaml").await;
    for script in [
        "pcall(function() return string.trim('x') end)",
        "pcall(sdk.closed.list_orders, { status = 'unknown' })",
        "local function try() missing() end\nlocal ok = xpcall(try, print)",
        "local function attempt(f)\n    return pcall(f)\nend\nattempt(function() return sdk.closed.get_order{ order_id = 'x' } end)",
        "local co = coroutine.create(function() missing() end) return coroutine.resume(co)",
        "pcall(function() return sdk.closed.cancel_order end)",
        "pcall(sdk.closed.get_order, {})",
        "pcall(sdk.closed.list_orders, { tenant = 'other' })",
        // One of two names, of which the other is right.
        "local ok, v = pcall(function() return sdk.closed.get_orders() end) if not ok then v = sdk.closed.list_orders() end return #v",
        "pcall(sdk.closed.get_order, { order_id = 1, oder_id = 1 })",
        // The function runs under pcall by another name, or is called by one that does.
        "local pcall = pcall return (pcall(function() missing() end))",
        "local try = { run = pcall } try.run(function() missing() end)",
        "local f f = function() missing() end return (pcall(f))",
        "local tests = {} function tests.a() missing() end return (pcall(tests.a))",
        "local object = {} function object:run() missing() end return (pcall(object.run, object))",
        "for _, f in { function() missing() end } do pcall(f) end",
        "local function helper() missing() end return (pcall(function() helper() end))",
        "function helper() missing() end local function other() helper() end return (pcall(other))",
        "local function make() return function() missing() end end return (pcall(make()))",
        "return (pcall(coroutine.wrap(function() missing() end)))",
        // Errors of a batch can be values.
        "return sdk.all({ { sdk.closed.get_order, { order_id = 'x' } } }, { errors = 'return' })",
    ] {
        let notes = found(script, Some(&sdk)).await;
        assert!(notes.len() == 1 && notes[0].starts_with("note: "), "{script}: {notes:?}");
    }
    // Nobody tests a misspelt name.
    for script in [
        "pcall(sdk.closed.list_orders, { statu = 'open' })",
        "pcall(function() return sdk.closed.get_orders{} end)",
        "return sdk.all({ { sdk.closed.list_orders, { statu = 'open' } } }, { errors = 'return' })",
        // The script calls the function outside of `pcall`, too.
        "local function helper(list) table.sort(list, function(a, b) return missing(a, b) end) end helper({ 2, 1 }) pcall(print)",
    ] {
        let errors = found(script, Some(&sdk)).await;
        assert!(errors.len() == 1 && !errors[0].starts_with("note: "), "{script}: {errors:?}");
    }
}

#[tokio::test]
async fn functions_of_a_program_are_known_by_their_names() {
    let engine = Engine::builder().concurrency(1).function("math.double", |n: f64| Ok::<_, String>(n * 2.0)).build().expect("an engine");
    let options = || RunOptions::default().with_check(CheckMode::Errors);
    let right = engine.run(&Script::new("return sdk.math.double(2)"), options()).await.expect("it runs");
    assert_eq!(right.outcome.decode::<i32>().expect("a result"), 4);
    let wrong = engine.run(&Script::new("print('started') return sdk.math.dobule(2)"), options()).await.expect("it is accepted");
    let message = "script:1:34: there is no function 'math.dobule'; did you mean math.double? (found before the run; nothing was executed)";
    assert_eq!(wrong.outcome.result.as_ref().expect_err("a mistake").message, message);
    assert!(wrong.outcome.logs.is_empty());
}

#[tokio::test]
async fn the_outcome_has_the_mistakes() {
    let script = Script::new("print('started')\nlocal function unused() return missing() end\nreturn 1");
    let rejected = engine().run(&script, RunOptions::default().with_check(CheckMode::Errors)).await.expect("it is accepted");
    let diagnostic = json!({ "severity": "error", "line": 2, "column": 32, "message": "unknown global 'missing'" });
    assert_eq!(
        outcome(&rejected),
        json!({
            "error": {
                "kind": "check",
                "message": "script:2:32: unknown global 'missing' (found before the run; nothing was executed)",
                "diagnostics": [diagnostic],
            },
            "logs": [],
            "files_touched": [],
        })
    );
    let warned = engine().run(&script, RunOptions::default().with_check(CheckMode::Warn)).await.expect("it is accepted");
    assert_eq!(outcome(&warned), json!({ "result": 1, "logs": ["started"], "files_touched": [], "diagnostics": [diagnostic] }));
    let unchecked = engine().run(&script, RunOptions::default()).await.expect("it is accepted");
    assert_eq!(outcome(&unchecked), json!({ "result": 1, "logs": ["started"], "files_touched": [] }));
}

#[tokio::test]
async fn what_a_script_does_not_have_is_unknown() {
    let script = Script::new("return io.list(), env.HOME, sdk.shop");
    let found = engine().check(&script, &Definitions::default().with_io(false)).await.expect("it is checked");
    let messages: Vec<&str> = found.iter().map(|mistake| mistake.message.as_str()).collect();
    let hints = ["unknown global 'io'; files are disabled", "unknown global 'env'", "unknown global 'sdk'; no functions are configured"];
    assert_eq!(messages.iter().map(|message| message.split(" (did").next().expect("a part")).collect::<Vec<_>>(), hints);
    let with_environment = Script::new("return env.HOME").with_environment([("HOME", "x")]);
    assert_eq!(engine().check(&with_environment, &Definitions::default()).await, Ok(Vec::new()));
}

#[tokio::test]
async fn definitions_of_several_providers_are_merged() {
    let (closed, shop) = (api("closed", "tests/check/closed.yaml").await, api("shop", "examples/shop.yaml").await);
    let script = Script::new("sdk.mine(1) sdk.get_pet{} sdk.closed.get_order{} sdk.shop.get_pet{} sdk.shop.get_cat{}");
    let of = |sdk: &Arc<Sdk>| Definitions::for_script(&script, Some(sdk));
    let own = || Definitions::of_names(FunctionNames::new(["get_pet", "mine"], []));
    let messages = async |definitions: Definitions| {
        let found = engine().check(&script, &definitions).await.expect("it is checked");
        found.into_iter().map(|mistake| mistake.message.split(';').next().expect("a part").to_owned()).collect::<Vec<_>>()
    };
    // The function `get_pet` hides the short name of the operation.
    let expected = [
        "closed.get_order: the parameter 'order_id' is missing",
        "shop.get_pet: the parameter 'pet_id' is missing",
        "there is no function 'shop.get_cat'",
    ];
    assert_eq!(messages(own().merge(of(&closed)).merge(of(&shop))).await, expected);
    assert_eq!(messages(of(&closed).merge(own()).merge(of(&shop))).await, expected);
    // Types of the same name may differ, so only names are checked.
    assert_eq!(messages(own().merge(of(&closed)).merge(of(&shop)).merge(of(&shop))).await, ["there is no function 'shop.get_cat'"]);
}

#[tokio::test]
async fn a_long_list_of_mistakes_is_shortened_and_says_so() {
    let script: String = (0..1000).map(|number| format!("missing_{number}()\n")).collect();
    let mistakes = found(&script, None).await;
    assert_eq!((mistakes.len(), mistakes[0].as_str()), (50, "1:1: unknown global 'missing_0'"));
    assert_eq!(mistakes[49], "50:1: unknown global 'missing_49'; further mistakes are not listed");
}

#[tokio::test]
async fn a_script_with_a_syntax_error_is_not_checked() {
    let error = check("local = 1", None).await;
    assert_eq!(error, Err(NotChecked::Script("line 1: Expected identifier when parsing variable name, got '='".into())));
    let run = engine().run(&Script::new("local = 1"), RunOptions::default().with_check(CheckMode::Errors)).await.expect("it is accepted");
    assert_eq!(run.outcome.result.expect_err("an error").kind, toolscript::ErrorKind::Syntax);
}

/// A script that is only compiled has no effect, and its errors have the positions of the script.
#[tokio::test]
async fn a_script_can_be_compiled_without_running() {
    let error = async |text: &str| engine().compile(&Script::new(text), RunOptions::default()).await.expect("it is accepted");
    assert_eq!(error("error('it ran')").await, None);
    let first = error("local = 1").await.expect("an error");
    assert_eq!((first.message.as_str(), first.column), ("script:1: Expected identifier when parsing variable name, got '='", Some(7)));
    let locals: String = (0..201).map(|number| format!("local v{number} = math.random()\n")).collect();
    let message = error(&locals).await.expect("an error").message;
    assert!(message.starts_with("script:201: Out of local registers"), "{message}");
    for text in ["#!/usr/bin/toolscript\nlocal = 1", "\u{feff}\nlocal = 1"] {
        let second = error(text).await.expect("an error");
        assert_eq!(
            (second.message.as_str(), second.column),
            ("script:2: Expected identifier when parsing variable name, got '='", Some(7))
        );
    }
}

/// The checker knows the globals of the runtime, and no others.
#[test]
fn the_definitions_match_the_snapshot_of_the_globals() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| fs::read_to_string(root.join(path)).expect("a file");
    let mut declared = BTreeSet::new();
    let mut table = String::new();
    let definitions = read("guest/lib/standard.d.luau") + &read("guest/lib/globals.d.luau");
    for line in definitions.lines() {
        if let Some(rest) = line.strip_prefix("declare ") {
            let name = rest.strip_prefix("function ").unwrap_or(rest).split([':', '(']).next().unwrap_or_default();
            table = if rest.ends_with('{') { format!("{name}.") } else { String::new() };
            declared.insert(name.to_owned());
        } else if line == "}" || line.starts_with("export") {
            table.clear();
        } else if let (Some((member, _)), false) = (line.trim().split_once(": "), table.is_empty()) {
            declared.insert(format!("{table}{member}"));
        }
    }
    // Some members of `io` exist to explain why they are not available.
    let unavailable = read("guest/lib/io/unavailable_names.h");
    let snapshot = read("tests/engine/globals.txt");
    let existing: BTreeSet<String> = snapshot
        .lines()
        .filter_map(|line| line.split_once(": "))
        .map(|(name, _)| name.to_owned())
        .filter(|name| !unavailable.contains(&format!("\"{name}\"")))
        .collect();
    declared.remove("env");
    assert_eq!(declared, existing);
}
