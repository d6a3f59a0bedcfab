//! The check in the MCP server: `execute_script` and `check_script`.

use crate::support::wire::Wire;
use serde_json::{Value, json};
use std::fs;
use tempfile::TempDir;

fn start(configuration: &str) -> (TempDir, Wire) {
    let directory = TempDir::new().expect("a directory");
    let shop = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/shop.yaml");
    let text = format!("{configuration}\n[apis.shop]\nspec = \"{shop}\"\n");
    fs::write(directory.path().join("toolscript.toml"), text).expect("a configuration");
    let wire = Wire::start(directory.path(), &[]);
    (directory, wire)
}

/// Sends a request and returns its result.
fn ask(wire: &mut Wire, method: &str, params: Value) -> Value {
    wire.ask(method, params)["result"].clone()
}

const SCRIPT: &str =
    "print('started')\nio.open('made.txt', 'w'):write('x'):close()\nlocal pet = sdk.shop.get_pet{ id = 1 }\nreturn pet.nmae, totl";

#[test]
fn a_script_with_mistakes_is_rejected_with_all_of_them() {
    let (directory, mut wire) = start("");
    let response = wire.run(SCRIPT);
    let text = response["content"][0]["text"].as_str().expect("a text");
    assert_eq!(
        text,
        "The script has mistakes, and nothing was executed:
script:3:29: shop.get_pet: the parameter 'pet_id' is missing
script:3:31: shop.get_pet: there is no parameter 'id'; available: pet_id
script:4:18: unknown global 'totl'"
    );
    assert_eq!(response["isError"], json!(true));
    let structure = &response["structuredContent"];
    assert_eq!((&structure["error"]["kind"], &structure["logs"]), (&json!("check"), &json!([])));
    let lines: Vec<&Value> = structure["error"]["diagnostics"].as_array().expect("a list").iter().map(|mistake| &mistake["line"]).collect();
    assert_eq!(lines, [3, 3, 4]);
    assert!(!directory.path().join("toolscript-files").exists());
}

#[test]
fn a_call_can_turn_the_check_off() {
    let (directory, mut wire) = start("");
    let response = ask(&mut wire, "tools/call", json!({ "name": "execute_script", "arguments": { "script": SCRIPT, "check": "off" } }));
    assert_eq!(response["structuredContent"]["logs"], json!(["started"]));
    assert_eq!(response["structuredContent"]["error"]["kind"], json!("runtime"));
    assert!(directory.path().join("toolscript-files/made.txt").exists());
}

#[test]
fn warnings_are_in_the_outcome() {
    let (_directory, mut wire) = start("[check]\nmode = \"warn\"");
    let response = wire.run("local function unused() return missing() end return 1");
    let structure = &response["structuredContent"];
    assert_eq!(structure["result"], json!(1));
    assert_eq!(structure["diagnostics"][0]["message"], json!("unknown global 'missing'"));
}

#[test]
fn check_script_is_offered_if_it_is_configured() {
    let (_directory, mut wire) = start("[check]\ntool = true");
    let tools = ask(&mut wire, "tools/list", json!({}));
    let tool = tools["tools"].as_array().expect("a list").iter().find(|tool| tool["name"] == "check_script").expect("the tool");
    assert_eq!(tool["annotations"]["readOnlyHint"], json!(true));
    let mut call = |script: &str| ask(&mut wire, "tools/call", json!({ "name": "check_script", "arguments": { "script": script } }));
    let response = call(SCRIPT);
    let text = response["content"][0]["text"].as_str().expect("a text");
    assert!(text.contains("\nnote: script:4:12: there is no field 'nmae'") && text.starts_with("script:3:29: "), "{text}");
    assert_eq!(call("return 1")["content"][0]["text"], json!("no mistakes were found"));
    let broken = call("local = 1");
    assert_eq!(broken["structuredContent"]["not_checked"], json!("line 1: Expected identifier when parsing variable name, got '='"));

    let (_directory, mut wire) = start("");
    let tools = ask(&mut wire, "tools/list", json!({}));
    assert!(tools["tools"].as_array().expect("a list").iter().all(|tool| tool["name"] != "check_script"));
}
