//! Attacks on the host through functions. Each test shows that the script ran.

use crate::support::api_server::{ApiServer, directory_with, message, result, run, toolscript};
use serde_json::json;
use std::{fs, time::Instant};

#[test]
fn arguments_that_grow_when_encoded_are_rejected() {
    let api = ApiServer::start();
    let directory = api.directory("features", "features.json", "");
    for (script, expected) in [
        ("sdk.parts{ a = table.create(100000, 0) }", "features.parts: body: the form has more than 1000 parts or 8388608 bytes"),
        (
            "sdk.parts{ [('a'):rep(500000)] = table.create(900, 0) }",
            "features.parts: body: the form has more than 1000 parts or 8388608 bytes",
        ),
        ("sdk.form{ [('a'):rep(500000)] = table.create(2000, 0) }", "features.form: body: the form is larger than 8388608 bytes"),
        (
            "sdk.query{ deep = { [('a'):rep(500000)] = table.create(2000, 0) } }",
            "features.query: deep is longer than 60000 bytes when encoded",
        ),
        ("sdk.query{ reserved = ('a'):rep(100000) }", "features.query: reserved is longer than 60000 bytes when encoded"),
    ] {
        assert_eq!(message(&directory, script), format!("script:1: {expected}"), "{script}");
    }
    let error = message(&directory, "sdk.shape(table.create(1000000, { [''] = 0 }))");
    assert!(error.starts_with("script:1: features.shape: body: too many values: "), "{error}");
    assert_eq!(api.paths(), Vec::<String>::new());
}

#[test]
fn the_number_of_concurrent_calls_does_not_overflow() {
    let api = ApiServer::start();
    let directory = api.directory("features", "features.json", "");
    let script = "local n = 65536 local entry = table.create(n + 1, 1) entry[1] = sdk.query return pcall(sdk.all, table.create(n, entry))";
    assert_eq!(result(&directory, script), json!([false, "too many calls or arguments at once"]));
    let many = "local call = { sdk.query } return pcall(sdk.all, table.create(100000, call))";
    let error = &run(&directory, many)["error"];
    let message = "1,000 function calls were made, the limit; if this is a loop over pages, check that the cursor ends";
    assert_eq!((&error["kind"], &error["message"]), (&json!("calls"), &json!(message)));
}

#[test]
fn a_value_for_a_recursive_schema_is_validated_in_bounded_time() {
    let api = ApiServer::start();
    let directory = directory_with(&format!("[apis.trap]\nspec = \"trap.json\"\nbase_url = \"{}\"\nallow_private = true\n", api.url));
    let branch =
        |needed: &str| json!({ "type": "object", "required": [needed], "properties": { "n": { "$ref": "#/components/schemas/Trap" } } });
    let schema = json!({ "anyOf": [branch("y"), branch("z"), { "type": "null" }] });
    let body = json!({ "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Trap" } } } });
    let spec = json!({
        "openapi": "3.1.0",
        "paths": { "/trap": { "post": { "operationId": "spring", "requestBody": body } } },
        "components": { "schemas": { "Trap": schema } },
    });
    fs::write(directory.path().join("trap.json"), spec.to_string()).expect("the file is written");
    let started = Instant::now();
    let expected = "script:1: trap.spring: body: the value does not match its schema";
    assert_eq!(message(&directory, "local value = {} for _ = 1, 60 do value = { n = value } end sdk.spring(value)"), expected);
    assert!(started.elapsed().as_secs() < 20);
}

#[test]
fn no_argument_sets_a_frozen_parameter_indirectly() {
    let api = ApiServer::start();
    let directory = directory_with(&format!(
        "[apis.bank]\nspec = \"bank.yaml\"\nbase_url = \"{}\"\nallow_private = true\nauth = \"owners-key\"\nfrozen_params = {{ tenant = 7 }}\n",
        api.url
    ));
    let spec = "
openapi: 3.1.0
info: { title: Bank, version: '1' }
security: [{ key: [] }]
components:
  securitySchemes: { key: { type: apiKey, in: query, name: api_key } }
  schemas: { Payment: { type: object, properties: { tenant: { type: integer }, amount: { type: number } }, required: [tenant, amount] } }
paths:
  /pay:
    post:
      operationId: pay
      parameters:
        - { name: tenant, in: query, schema: { type: integer } }
        - { name: filter, in: query, schema: { type: object } }
        - { name: Host, in: header, schema: { type: string } }
        - { name: Transfer-Encoding, in: header, schema: { type: string } }
      requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/Payment' } } } }
  /many:
    post:
      operationId: pay_many
      requestBody: { content: { application/json: { schema: { type: array, items: { allOf: [{ $ref: '#/components/schemas/Payment' }] } } } } }
  /form:
    post:
      operationId: pay_by_form
      requestBody:
        content:
          application/x-www-form-urlencoded:
            schema: { type: object, properties: { filter: { type: object } } }
            encoding: { filter: { style: form, explode: true } }
  /path/{location}:
    get:
      operationId: find
      parameters: [{ name: location, in: path, required: true, style: matrix, explode: true, schema: { type: object } }]
";
    fs::write(directory.path().join("bank.yaml"), spec).expect("the file is written");
    let pay = |arguments: &str| run(&directory, &format!("return (sdk.pay({arguments}))"));
    for (arguments, error) in [
        ("{ filter = { tenant = 1 } }, { amount = 1 }", "filter.tenant is not allowed, because it would set another parameter"),
        ("{ filter = { api_key = 'mine' } }, { amount = 1 }", "filter.api_key is not allowed, because it would set another parameter"),
        ("{ filter = { TENANT = 1 } }, { amount = 1 }", "filter.TENANT is not allowed, because it would set another parameter"),
        ("{ filter = { ['tenant[]'] = 1 } }, { amount = 1 }", "filter.tenant[] is not allowed, because it would set another parameter"),
        ("{ filter = { ['api.key'] = 'mine' } }, { amount = 1 }", "filter.api.key is not allowed, because it would set another parameter"),
        ("nil, { amount = 1, tenant = 1 }", "body: there is no field 'tenant'"),
        ("nil, { amount = 1, Tenant = 1 }", "body: there is no field 'Tenant'"),
        ("{ tenant = 1 }, { amount = 1 }", "there is no parameter 'tenant'; available: filter; the body is the second argument"),
        ("{ host = 'evil.example' }, { amount = 1 }", "there is no parameter 'host'; available: filter; the body is the second argument"),
    ] {
        assert_eq!(pay(arguments)["error"]["message"], format!("script:1: bank.pay: {error}"), "{arguments}");
    }
    for (call, error) in [
        ("pay_by_form{ filter = { tenant = 1 } }", "pay_by_form: body.filter.tenant is not allowed, because it would set another field"),
        ("pay_many{ { amount = 1, tenant = 1 } }", "pay_many: body: there is no field 'tenant'"),
        ("find{ location = { tenant = 1 } }", "find: location.tenant is not allowed, because it would set another parameter"),
    ] {
        assert_eq!(message(&directory, &format!("sdk.{call}")), format!("script:1: bank.{error}"));
    }
    assert_eq!(api.paths(), Vec::<String>::new());
    assert_eq!(result(&directory, "return (sdk.pay_many{ { amount = 1 } }).body"), "[{\"amount\":1,\"tenant\":7}]");
    let sent = pay("{ filter = { colour = 'red' } }, { amount = 2.5 }")["result"].clone();
    assert_eq!(sent["path"], "/pay?tenant=7&colour=red&api_key=[redacted]", "{sent}");
    assert_eq!(sent["body"], "{\"amount\":2.5,\"tenant\":7}");
    let docs = result(&directory, "return sdk.docs('pay')");
    let signature = docs.as_str().and_then(|docs| docs.lines().next()).expect("a line").to_owned();
    assert!(signature.starts_with("sdk.bank.pay(params: { filter: { [string]: any }? }?, body: { amount: number }?)"), "{signature}");
}

#[test]
fn an_operation_on_another_server_gets_no_credential() {
    let (own, other) = (ApiServer::start(), ApiServer::start());
    let directory = directory_with("[apis.files]\nspec = \"files.yaml\"\nallow_private = true\nauth = \"owners-token\"\n");
    let spec = format!(
        "openapi: 3.1.0\ninfo: {{ title: Files, version: '1' }}\nservers: [{{ url: '{}' }}]\npaths:\n  /a: {{ get: {{ operationId: near }} }}\n  \
         /b: {{ get: {{ operationId: far, servers: [{{ url: 'http://{{host}}/x', variables: {{ host: {{ default: '{}' }} }} }}] }} }}\n",
        own.url,
        other.url.trim_start_matches("http://")
    );
    fs::write(directory.path().join("files.yaml"), spec).expect("the file is written");
    assert_eq!(result(&directory, "return (sdk.near()).path, (sdk.far()).path"), json!(["/a", "/x/b"]));
    assert_eq!(own.last_request("/a")["headers"]["authorization"], "Bearer owners-token");
    assert_eq!(other.last_request("/x/b")["headers"].get("authorization"), None);
    // `base_url` overrides the servers of all operations.
    let config = format!("[apis.files]\nspec = \"files.yaml\"\nbase_url = \"{}\"\nallow_private = true\n", own.url);
    fs::write(directory.path().join("toolscript.toml"), config).expect("the file is written");
    assert_eq!(result(&directory, "return (sdk.far()).path"), "/b");
    assert_eq!(other.paths().len(), 1);
}

#[test]
fn a_pattern_matches_operation_ids_and_an_unused_one_is_reported() {
    let api = ApiServer::start();
    let denied = api.directory("shop", "shop.yaml", "deny = [\"removePet\"]\n");
    assert_eq!(result(&denied, "return (pcall(function() return sdk.shop.remove_pet end))"), false);
    let misspelled = api.directory("shop", "shop.yaml", "deny = [\"remove_pets\"]\n");
    let output = toolscript(misspelled.path(), &["run", "-e", "return 1"]).output().expect("toolscript runs");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.ends_with("allow or deny: no function matches 'remove_pets'\n"), "{error}");
    assert_eq!(output.status.code(), Some(2));
}

/// The schemas have names that all become the same type name, and refer to each other recursively.
#[test]
fn the_size_of_documentation_is_limited() {
    let directory = directory_with("[apis.a]\nspec = \"a.json\"\n");
    let mut schemas = serde_json::Map::new();
    let mut properties = serde_json::Map::new();
    for number in 1..=1500 {
        let name = "!".repeat(number);
        properties.insert(format!("p{number}"), json!({ "$ref": format!("#/components/schemas/{name}") }));
        schemas.insert(name, json!({ "properties": { "end": { "type": "string" }, "all": { "$ref": "#/components/schemas/Many" } } }));
    }
    schemas.insert("Many".into(), json!({ "type": "object", "properties": properties }));
    let body = json!({ "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Many" } } } });
    let spec = json!({
        "openapi": "3.1.0",
        "servers": [{ "url": "https://example.com" }],
        "paths": { "/a": { "post": { "operationId": "send", "requestBody": body, "tags": ["x".repeat(5000), "short"] } } },
        "components": { "schemas": schemas },
    });
    fs::write(directory.path().join("a.json"), spec.to_string()).expect("the file is written");
    let started = Instant::now();
    let docs = result(&directory, "return sdk.docs('send')");
    let docs = docs.as_str().expect("a string");
    assert!(docs.len() < 50_000 && docs.ends_with(" more are not shown; ask for one by its name)"), "{}", docs.len());
    assert!(docs.contains("[\"end\"]: string?"), "a keyword is quoted");
    assert!(started.elapsed().as_secs() < 20);
}

#[test]
fn yes_and_no_are_strings_in_yaml() {
    let directory = directory_with("[apis.a]\nspec = \"a.yaml\"\n");
    let spec = "
openapi: 3.0.0
info: { title: A, version: 1 }
servers: [{ url: 'https://example.com' }]
paths:
  /a:
    get:
      operationId: list
      parameters: [{ name: country, in: query, schema: { type: string, enum: [NO, yes, on] } }]
      responses: { 200: { description: ok } }
";
    fs::write(directory.path().join("a.yaml"), spec).expect("the file is written");
    let error = "script:1: a.list: country: \"DK\" is not one of \"NO\", \"yes\" or \"on\"";
    assert_eq!(message(&directory, "sdk.list{ country = 'DK' }"), error);
}
