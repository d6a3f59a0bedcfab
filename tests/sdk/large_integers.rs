//! Integers beyond 2^53, which the numbers of scripts cannot hold.

use crate::support::api_server::{ApiServer, directory_with, message, result, toolscript};
use serde_json::json;
use std::fs;
use tempfile::TempDir;

const SPECIFICATION: &str = "
openapi: 3.0.3
info: { title: Ledger, version: '1' }
components:
  schemas:
    Id: { type: integer, format: int64 }
    Entry:
      type: object
      required: [id]
      properties:
        id: { $ref: '#/components/schemas/Id' }
        parents: { type: array, items: { $ref: '#/components/schemas/Id' } }
        code: { type: string }
        either: { oneOf: [{ type: string }, { type: integer }] }
        account: { type: integer, format: int64, nullable: true }
        amount: { type: number }
paths:
  /answer/large:
    get:
      operationId: last
      responses: { '200': { description: ok, content: { application/json: { schema: { $ref: '#/components/schemas/Entry' } } } } }
  /entries/{id}:
    post:
      operationId: save
      parameters:
        - { name: id, in: path, required: true, schema: { $ref: '#/components/schemas/Id' } }
        - { name: after, in: query, schema: { type: integer, maximum: 9223372036854775807 } }
      requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/Entry' } } } }
";

fn ledger(api: &ApiServer, options: &str) -> TempDir {
    let section = format!("[apis.ledger]\nspec = \"ledger.yaml\"\nbase_url = \"{}/v1\"\nallow_private = true\n{options}", api.url);
    let directory = directory_with(&section);
    fs::write(directory.path().join("ledger.yaml"), SPECIFICATION).expect("the file is written");
    directory
}

#[test]
fn an_integer_beyond_2_53_goes_through_a_script_unchanged() {
    let api = ApiServer::start();
    let directory = ledger(&api, "");
    let script = "
        local last = (sdk.last())
        local sent = (sdk.save({ id = last.id, after = last.id }, { id = last.id, parents = { '1', 2, last.id }, account = last.parents[1] }))
        return last, sent.path, sent.body";
    let last = json!({ "id": "1234567890123456789", "parents": ["9007199254740993", 9_007_199_254_740_992_u64] });
    let body = r#"{"account":9007199254740993,"id":1234567890123456789,"parents":[1,2,1234567890123456789]}"#;
    assert_eq!(result(&directory, script), json!([last, "/v1/entries/1234567890123456789?after=1234567890123456789", body]));
    let kept =
        "return (sdk.save({ id = 1 }, { id = '18446744073709551615', code = '7', either = '8', account = json.null, amount = '9' })).body";
    assert_eq!(result(&directory, kept), r#"{"account":null,"amount":9,"code":"7","either":"8","id":18446744073709551615}"#);
}

#[test]
fn an_integer_that_lost_digits_or_is_no_integer_is_not_sent() {
    let api = ApiServer::start();
    let directory = ledger(&api, "");
    let lost = "has lost digits, because numbers are exact up to 2^53 only; pass the integer as a string";
    for (arguments, expected) in [
        ("{ id = 1234567890123456789 }, { id = 1 }", format!("id: 1234567890123456800 {lost}")),
        ("{ id = 1 }, { id = 1, parents = { 1, 1234567890123456789 } }", format!("body.parents[2]: 1234567890123456800 {lost}")),
        ("{ id = '12x' }, { id = 1 }", "id: \"12x\" is not of type \"integer\"".into()),
        ("{ id = '007' }, { id = 1 }", "id: \"007\" is not of type \"integer\"".into()),
        ("{ id = '18446744073709551616' }, { id = 1 }", "id: \"18446744073709551616\" is not of type \"integer\"".into()),
        (
            "{ id = 1, after = '9223372036854775808' }, { id = 1 }",
            "after: 9223372036854775808 is greater than the maximum of 9223372036854775807".into(),
        ),
    ] {
        assert_eq!(message(&directory, &format!("sdk.save({arguments})")), format!("script:1: ledger.save: {expected}"), "{arguments}");
    }
    assert_eq!(api.paths(), Vec::<String>::new());
    // A computed time in nanoseconds is exact, and so is a frozen parameter.
    assert_eq!(result(&directory, "return (sdk.save({ id = 1700000001 * 1e9 }, { id = 1 })).path"), "/v1/entries/1700000001000000000");
    let frozen = ledger(&api, "frozen_params = { after = 1234567890123456789 }\n");
    assert_eq!(result(&frozen, "return (sdk.save({ id = 1 }, { id = 1 })).path"), "/v1/entries/1?after=1234567890123456789");
}

#[test]
fn docs_and_types_show_that_a_large_integer_is_a_string() {
    let api = ApiServer::start();
    let directory = ledger(&api, "");
    let docs = toolscript(directory.path(), &["docs", "save"]).output().expect("it runs").stdout;
    let docs = String::from_utf8(docs).expect("UTF-8");
    for line in [
        "An integer of 64 bits (number | string) is a string of digits beyond 2^53. Pass it as either.",
        "export type LedgerId = number | string",
    ] {
        assert!(docs.lines().any(|found| found == line), "{docs}");
    }
    assert!(docs.contains("account: (number | string)?") && docs.contains("amount: number?"), "{docs}");
}
