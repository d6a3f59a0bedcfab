//! `toolscript check`, `run --no-check` and `[check]`.

use crate::support::api_server::toolscript;
use serde_json::{Value, json};
use std::{fs, process::Output};
use tempfile::TempDir;

const SHOP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/shop.yaml");

fn directory(files: &[(&str, &str)]) -> TempDir {
    let directory = TempDir::new().expect("a directory");
    for (name, text) in files {
        fs::write(directory.path().join(name), text).expect("a file");
    }
    directory
}

fn run(directory: &TempDir, arguments: &[&str]) -> Output {
    toolscript(directory.path(), arguments).output().expect("it runs")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn mistakes_are_shown_with_their_source_lines() {
    let script = "local pet = sdk.shop.get_pet{ petid = 1 }\nprint(pet.nmae, string.trim('x'))\n";
    let directory = directory(&[("a.luau", script), ("b.luau", "return 1\n")]);
    let output = run(&directory, &["check", "--api", SHOP, "a.luau", "b.luau"]);
    assert_eq!(
        stderr(&output),
        "error: a.luau:1:29: shop.get_pet: the parameter 'pet_id' is missing
  1 | local pet = sdk.shop.get_pet{ petid = 1 }
    |                             ^^^^^^^^^^^^^
error: a.luau:1:31: shop.get_pet: there is no parameter 'petid' (did you mean 'pet_id'?); available: pet_id
  1 | local pet = sdk.shop.get_pet{ petid = 1 }
    |                               ^^^^^
note: a.luau:2:11: there is no field 'nmae' (did you mean 'name'?); the response schema does not declare it
  2 | print(pet.nmae, string.trim('x'))
    |           ^^^^
error: a.luau:2:24: string has no 'trim'; use s:match(\"^%s*(.-)%s*$\")
  2 | print(pet.nmae, string.trim('x'))
    |                        ^^^^
"
    );
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    let right = run(&directory, &["check", "--api", SHOP, "b.luau"]);
    assert_eq!((right.status.code(), stderr(&right).as_str()), (Some(0), ""));
}

#[test]
fn json_has_one_object_for_each_file() {
    let directory = directory(&[("a.luau", "prnt(1)"), ("b.luau", "local x = 1\nif x ~= 1 the\n"), ("c.luau", "return 1")]);
    let output = run(&directory, &["check", "--json", "a.luau", "b.luau", "c.luau"]);
    let lines: Vec<Value> = String::from_utf8_lossy(&output.stdout).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let mistake = json!({ "severity": "error", "line": 1, "column": 1, "message": "unknown global 'prnt' (did you mean 'print'?)" });
    let syntax = json!({ "kind": "syntax", "message": "script:2: Expected 'then' when parsing if statement, got 'the'", "column": 11 });
    assert_eq!(
        lines,
        [
            json!({ "file": "a.luau", "diagnostics": [mistake] }),
            json!({ "file": "b.luau", "error": syntax, "diagnostics": [] }),
            json!({ "file": "c.luau", "diagnostics": [] }),
        ]
    );
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_syntax_error_has_its_hint() {
    let directory = directory(&[("a.luau", "local x = 1\nif x != 1 then end\n")]);
    let output = run(&directory, &["check", "a.luau"]);
    assert!(stderr(&output).starts_with("error: a.luau:2:6: ") && stderr(&output).contains("~="), "{}", stderr(&output));
}

#[test]
fn a_missing_file_is_a_usage_error() {
    let output = run(&directory(&[]), &["check", "missing.luau"]);
    assert_eq!(stderr(&output), "error: can't read the script missing.luau: No such file or directory (os error 2)\n");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn run_checks_first_unless_it_is_told_not_to() {
    let directory = directory(&[("a.luau", "io.open('made.txt', 'w'):write('x'):close()\nprint(string.trim('x'))")]);
    let rejected = run(&directory, &["run", "a.luau"]);
    assert!(!directory.path().join("toolscript-files").exists());
    assert!(stderr(&rejected).ends_with("note: nothing was executed; --no-check runs the script nevertheless\n"), "{}", stderr(&rejected));
    assert_eq!(rejected.status.code(), Some(1));
    let ran = run(&directory, &["run", "--no-check", "a.luau"]);
    assert!(directory.path().join("toolscript-files/made.txt").exists());
    assert!(stderr(&ran).starts_with("error: a.luau:2: attempt to call a nil value (field 'trim')"), "{}", stderr(&ran));
}

#[test]
fn the_configuration_sets_the_mode() {
    let script = ("a.luau", "local function unused() return missing() end\nreturn 1");
    for (mode, code, text) in [
        ("off", 0, ""),
        ("warn", 0, "error: a.luau:1:32: unknown global 'missing'\n"),
        ("errors", 1, "error: a.luau:1:32: unknown global 'missing'\n"),
    ] {
        let directory = directory(&[script, ("toolscript.toml", &format!("[check]\nmode = \"{mode}\"\n"))]);
        let output = run(&directory, &["run", "a.luau"]);
        assert!(stderr(&output).starts_with(text) && (mode != "off" || stderr(&output).is_empty()), "{mode}: {}", stderr(&output));
        assert_eq!(output.status.code(), Some(code), "{mode}");
    }
}

/// The definitions for editors are definitions for the checker, too.
#[test]
fn the_definitions_of_types_are_valid() {
    let directory = directory(&[]);
    assert_eq!(run(&directory, &["types", "--api", SHOP, "-o", "sdk.d.luau"]).status.code(), Some(0));
    let types = fs::read_to_string(directory.path().join("sdk.d.luau")).expect("definitions");
    let script = toolscript::Script::new("return sdk.shop.get_pet{ pet_id = 'x' }");
    let definitions = toolscript::engine::Definitions::with_types(types, toolscript::engine::FunctionNames::new(["shop.get_pet"], []));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let found = runtime.block_on(crate::support::engine().check(&script, &definitions)).expect("the definitions are valid");
    let messages: Vec<&str> = found.iter().map(|mistake| mistake.message.as_str()).collect();
    assert_eq!(messages, ["shop.get_pet: pet_id: \"x\" is not of type \"number\""]);
}
