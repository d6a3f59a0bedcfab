//! Messages of errors: hints for syntax of other languages, and the names of operands in unusual scripts.

use crate::support::{limited, outcome, run, run_with};
use serde_json::json;
use std::fmt::Write as _;

async fn message(script: &str) -> String {
    outcome(&run(script).await)["error"]["message"].as_str().unwrap_or("no error").to_owned()
}

const INCOMPLETE: &str = "Incomplete statement: expected assignment or a function call";

#[tokio::test]
async fn syntax_of_other_languages_gets_a_hint() {
    let unexpected = |token: &str| format!("Expected identifier when parsing expression, got '{token}'");
    for (script, error, hint) in [
        ("goto done", INCOMPLETE.into(), "Luau has no goto; use continue, break or a function"),
        (
            "for i = 1, 2 do if i then goto continue end ::continue:: end",
            INCOMPLETE.into(),
            "Luau has no goto; use continue, break or a function",
        ),
        ("::top::", unexpected("::"), "Luau has no labels; use continue, break or a function"),
        ("local x = f() --[[\n]]\n::top::", unexpected("::"), "Luau has no labels; use continue, break or a function"),
        ("x = 1 << 4", unexpected("<"), "use bit32.lshift(a, b)"),
        ("x = y << 4", "Expected type, got '4'".into(), "use bit32.lshift(a, b)"),
        ("x = f(y << z)", "Expected '>' (to close '<' at column 10), got ')'".into(), "use bit32.lshift(a, b)"),
        ("x = y >> 4", unexpected(">"), "use bit32.rshift(a, b)"),
        ("x = y & z", unexpected("&"), "use bit32.band(a, b)"),
        ("x = f(y | 3)", "Expected ')' (to close '(' at column 6), got '|'".into(), "use bit32.bor(a, b)"),
        ("x = y ~ z", unexpected("~"), "use bit32.bxor(a, b)"),
        ("x = ~z", unexpected("~"), "use bit32.bnot(a)"),
        ("i++", INCOMPLETE.into(), "use += 1"),
        ("t.i++", INCOMPLETE.into(), "use += 1"),
        ("x = i++", unexpected("+"), "use += 1"),
        ("i--", INCOMPLETE.into(), "-- starts a comment; use -= 1"),
        ("local f <close> = g()", unexpected("<"), "Luau has no <close>; leave it out, and close the value at the end"),
        ("local f <const> = 1", unexpected("<"), "Luau has no <const>; leave it out"),
        ("// comment", unexpected("//"), "comments start with --"),
        ("local x = 1 // two words", INCOMPLETE.into(), "comments start with --"),
        ("/* comment */", unexpected("/"), "comments start with --"),
        ("# comment", unexpected("#"), "comments start with --"),
        ("x = a ? b : c", unexpected("?"), "use if condition then a else b"),
        ("x = a === b", unexpected("="), "use =="),
        ("x = 2 ** 3", unexpected("*"), "use ^ for powers"),
        ("if a then elif b then end", INCOMPLETE.into(), "use elseif"),
        ("let x = 1", INCOMPLETE.into(), "use local"),
        ("def f()", INCOMPLETE.into(), "use function"),
    ] {
        let line = 1 + script.matches('\n').count();
        assert_eq!(message(script).await, format!("script:{line}: {error}; {hint}"), "{script}");
    }
}

#[tokio::test]
async fn else_if_without_a_second_end_gets_a_hint() {
    let script = "if a then\n  print(1)\nelse if b then\n  print(2)\nend";
    assert_eq!(message(script).await, "script:5: Expected 'end' (to close 'else' at line 3), got <eof>; use elseif, or one more end");
    let script = "function f()\n  if a then\n    print(1)\n  else if b then\n    print(2)\n  end\nend";
    assert_eq!(
        message(script).await,
        "script:7: Expected 'end' (to close 'function' at line 1), got <eof>; did you forget to close 'then' at line 4?; use elseif, or one more end"
    );
    let script = "if a then\n  print(1)\nelse\n  if b then\n    print(2)\nend";
    assert_eq!(
        message(script).await,
        "script:6: Expected 'end' (to close 'else' at line 3), got <eof>; did you forget to close 'then' at line 4?"
    );
}

#[tokio::test]
async fn other_syntax_errors_have_no_hint() {
    for (script, error) in [
        ("if a != b then end", "Unexpected '!='; did you mean '~='?"),
        ("if a && b then end", "Unexpected '&&'; did you mean 'and'?"),
        ("if !a then end", "Unexpected '!'; did you mean 'not'?"),
        // The tokens of other languages are in strings and comments.
        ("local s = 'goto x & y << 1' local t = = 1", "Expected identifier when parsing expression, got '='"),
        ("--[[ goto x ]] local t = = 1 -- x++ & y", "Expected identifier when parsing expression, got '='"),
        ("local x = y :: any :: number", "Expected identifier when parsing expression, got '::'"),
        ("goto.x", INCOMPLETE),
        ("x = f<<number>>(1) 5", "Expected identifier when parsing expression, got '5'"),
    ] {
        assert_eq!(message(script).await, format!("script:1: {error}"), "{script}");
    }
}

#[tokio::test]
async fn a_script_may_have_more_constants_than_a_function_has_registers() {
    let mut script = String::new();
    for index in 0..300 {
        let _ = writeln!(script, "local c{index} = {index}");
    }
    assert_eq!(outcome(&run(&format!("{script}return c0 + c299")).await)["result"], json!(299));
    // Without the names of locals, other names are still known.
    assert_eq!(message(&format!("{script}missing()")).await, "script:301: attempt to call a nil value (global 'missing')");
}

#[tokio::test]
async fn naming_operands_in_a_large_function_is_metered() {
    let mut script = String::from("print('started') local function f(x)\n");
    for index in 0..20_000 {
        let _ = writeln!(script, "x.a = {index}");
    }
    script.push_str("return x.missing.y end while true do pcall(f, {}) end");
    let run = outcome(&run_with(&script, limited(|limits| limits.fuel = Some(2_000_000_000))).await);
    assert_eq!(run["error"]["kind"], "fuel");
    assert_eq!(run["logs"], json!(["started"]));
}
