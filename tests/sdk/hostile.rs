//! Scripts that try to break the host through functions, each shown to have run.

use crate::support::api_server::{ApiServer, folder_with, message, result, run, toolscript};
use serde_json::json;
use std::{fs, time::Instant};

#[test]
fn arguments_that_would_grow_are_refused() {
    let api = ApiServer::start();
    let folder = api.folder("features", "features.json", "");
    for (script, expected) in [
        ("sdk.parts{ a = table.create(100000, 0) }", "features.parts: body: it has more than 1000 parts, or 8388608 bytes"),
        ("sdk.parts{ [('a'):rep(500000)] = table.create(900, 0) }", "features.parts: body: it has more than 1000 parts, or 8388608 bytes"),
        (
            "sdk.form{ [('a'):rep(500000)] = table.create(2000, 0) }",
            "features.form: body: it is longer than 8388608 bytes when it is written",
        ),
        (
            "sdk.query{ deep = { [('a'):rep(500000)] = table.create(2000, 0) } }",
            "features.query: deep is longer than 60000 bytes when it is written",
        ),
        ("sdk.query{ reserved = ('a'):rep(100000) }", "features.query: reserved is longer than 60000 bytes when it is written"),
    ] {
        assert_eq!(message(&folder, script), format!("script:1: {expected}"), "{script}");
    }
    let heavy = message(&folder, "sdk.shape(table.create(1000000, { [''] = 0 }))");
    assert!(heavy.starts_with("script:1: features.shape: the body: it has too many values: "), "{heavy}");
    assert_eq!(api.paths(), Vec::<String>::new());
}

#[test]
fn too_many_calls_at_once_do_not_wrap_around() {
    let api = ApiServer::start();
    let folder = api.folder("features", "features.json", "");
    let script = "local n = 65536 local entry = table.create(n + 1, 1) entry[1] = sdk.query return pcall(sdk.all, table.create(n, entry))";
    assert_eq!(result(&folder, script), json!([false, "too many calls or arguments at once"]));
    let many = "local call = { sdk.query } return pcall(sdk.all, table.create(100000, call))";
    assert_eq!(result(&folder, many), json!([false, "too many function calls (max 100)"]));
}

#[test]
fn a_value_that_takes_long_to_check_does_not() {
    let api = ApiServer::start();
    let folder = folder_with(&format!("[apis.trap]\nspec = \"trap.json\"\nbase_url = \"{}\"\nallow_private = true\n", api.url));
    let branch =
        |needed: &str| json!({ "type": "object", "required": [needed], "properties": { "n": { "$ref": "#/components/schemas/Trap" } } });
    let schema = json!({ "anyOf": [branch("y"), branch("z"), { "type": "null" }] });
    let body = json!({ "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Trap" } } } });
    let spec = json!({
        "openapi": "3.1.0",
        "paths": { "/trap": { "post": { "operationId": "spring", "requestBody": body } } },
        "components": { "schemas": { "Trap": schema } },
    });
    fs::write(folder.path().join("trap.json"), spec.to_string()).expect("a file");
    let started = Instant::now();
    let expected = "script:1: trap.spring: body: it does not fit its schema";
    assert_eq!(message(&folder, "local value = {} for _ = 1, 60 do value = { n = value } end sdk.spring(value)"), expected);
    assert!(started.elapsed().as_secs() < 20);
}

#[test]
fn frozen_parameters_are_not_reached_by_other_ways() {
    let api = ApiServer::start();
    let folder = folder_with(&format!(
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
  /path/{place}:
    get:
      operationId: look
      parameters: [{ name: place, in: path, required: true, style: matrix, explode: true, schema: { type: object } }]
";
    fs::write(folder.path().join("bank.yaml"), spec).expect("a file");
    let pay = |arguments: &str| run(&folder, &format!("return (sdk.pay({arguments}))"));
    for (arguments, refusal) in [
        ("{ filter = { tenant = 1 } }, { amount = 1 }", "filter.tenant would be another parameter"),
        ("{ filter = { api_key = 'mine' } }, { amount = 1 }", "filter.api_key would be another parameter"),
        ("{ filter = { TENANT = 1 } }, { amount = 1 }", "filter.TENANT would be another parameter"),
        ("{ filter = { ['tenant[]'] = 1 } }, { amount = 1 }", "filter.tenant[] would be another parameter"),
        ("{ filter = { ['api.key'] = 'mine' } }, { amount = 1 }", "filter.api.key would be another parameter"),
        ("nil, { amount = 1, tenant = 1 }", "body: there is no field 'tenant'"),
        ("nil, { amount = 1, Tenant = 1 }", "body: there is no field 'Tenant'"),
        ("{ tenant = 1 }, { amount = 1 }", "there is no parameter 'tenant'; it has filter; the body is the second argument"),
        ("{ host = 'evil.example' }, { amount = 1 }", "there is no parameter 'host'; it has filter; the body is the second argument"),
    ] {
        assert_eq!(pay(arguments)["error"]["message"], format!("script:1: bank.pay: {refusal}"), "{arguments}");
    }
    for (call, refusal) in [
        ("pay_by_form{ filter = { tenant = 1 } }", "pay_by_form: body.filter.tenant would be another field"),
        ("pay_many{ { amount = 1, tenant = 1 } }", "pay_many: body: there is no field 'tenant'"),
        ("look{ place = { tenant = 1 } }", "look: place.tenant would be another parameter"),
    ] {
        assert_eq!(message(&folder, &format!("sdk.{call}")), format!("script:1: bank.{refusal}"));
    }
    assert_eq!(api.paths(), Vec::<String>::new());
    assert_eq!(result(&folder, "return (sdk.pay_many{ { amount = 1 } }).body"), "[{\"amount\":1,\"tenant\":7}]");
    let sent = pay("{ filter = { colour = 'red' } }, { amount = 2.5 }")["result"].clone();
    assert_eq!(sent["path"], "/pay?tenant=7&colour=red&api_key=[redacted]", "{sent}");
    assert_eq!(sent["body"], "{\"amount\":2.5,\"tenant\":7}");
    let docs = result(&folder, "return sdk.docs('pay')");
    let signature = docs.as_str().and_then(|docs| docs.lines().next()).expect("a line").to_owned();
    assert!(signature.starts_with("sdk.bank.pay(params: { filter: { [string]: any }? }?, body: { amount: number }?)"), "{signature}");
}

#[test]
fn an_operation_elsewhere_is_shown_no_credential() {
    let (here, elsewhere) = (ApiServer::start(), ApiServer::start());
    let folder = folder_with("[apis.files]\nspec = \"files.yaml\"\nallow_private = true\nauth = \"owners-token\"\n");
    let spec = format!(
        "openapi: 3.1.0\ninfo: {{ title: Files, version: '1' }}\nservers: [{{ url: '{}' }}]\npaths:\n  /a: {{ get: {{ operationId: near }} }}\n  \
         /b: {{ get: {{ operationId: far, servers: [{{ url: 'http://{{host}}/x', variables: {{ host: {{ default: '{}' }} }} }}] }} }}\n",
        here.url,
        elsewhere.url.trim_start_matches("http://")
    );
    fs::write(folder.path().join("files.yaml"), spec).expect("a file");
    assert_eq!(result(&folder, "return (sdk.near()).path, (sdk.far()).path"), json!(["/a", "/x/b"]));
    assert_eq!(here.last("/a")["headers"]["authorization"], "Bearer owners-token");
    assert_eq!(elsewhere.last("/x/b")["headers"].get("authorization"), None);
    // Where the owner says where the API is, that holds for all of it.
    let config = format!("[apis.files]\nspec = \"files.yaml\"\nbase_url = \"{}\"\nallow_private = true\n", here.url);
    fs::write(folder.path().join("toolscript.toml"), config).expect("a file");
    assert_eq!(result(&folder, "return (sdk.far()).path"), "/b");
    assert_eq!(elsewhere.paths().len(), 1);
}

#[test]
fn a_pattern_that_fits_nothing_is_told_and_names_of_the_specification_fit() {
    let api = ApiServer::start();
    let denied = api.folder("shop", "shop.yaml", "deny = [\"removePet\"]\n");
    assert_eq!(result(&denied, "return (pcall(function() return sdk.shop.remove_pet end))"), false);
    let misspelt = api.folder("shop", "shop.yaml", "deny = [\"remove_pets\"]\n");
    let output = toolscript(misspelt.path(), &["run", "-e", "return 1"]).output().expect("it runs");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.ends_with("allow or deny: no function fits 'remove_pets'\n"), "{error}");
    assert_eq!(output.status.code(), Some(2));
}

/// Names that are all the same once they are types, and a schema that refers to itself in many ways.
#[test]
fn documentation_has_an_end() {
    let folder = folder_with("[apis.a]\nspec = \"a.json\"\n");
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
    fs::write(folder.path().join("a.json"), spec.to_string()).expect("a file");
    let started = Instant::now();
    let docs = result(&folder, "return sdk.docs('send')");
    let docs = docs.as_str().expect("a text");
    assert!(docs.len() < 50_000 && docs.ends_with("\n(cut)"), "{}", docs.len());
    assert!(docs.contains("[\"end\"]: string?"), "a word of the language's is no name");
    assert!(started.elapsed().as_secs() < 20);
}

#[test]
fn words_that_were_booleans_once_are_words() {
    let folder = folder_with("[apis.a]\nspec = \"a.yaml\"\n");
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
    fs::write(folder.path().join("a.yaml"), spec).expect("a file");
    let wrong = "script:1: a.list: country: \"DK\" is not one of \"NO\", \"yes\" or \"on\"";
    assert_eq!(message(&folder, "sdk.list{ country = 'DK' }"), wrong);
}
