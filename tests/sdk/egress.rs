//! What may go out: to which addresses, with which credentials, how much and how long.

use crate::{
    support::api_server::{ApiServer, folder_with, message, outcome, result, run, specification, toolscript},
    support::http_server::HttpServer,
    support::key_server::KeyServer,
    support::wire::{Wire, call},
};
use serde_json::json;
use std::time::Instant;
use tempfile::TempDir;

/// An API somewhere, without leave to be private.
fn somewhere(base: &str) -> TempDir {
    folder_with(&format!("[apis.shop]\nspec = {:?}\nbase_url = {base:?}\n", specification("shop.yaml")))
}

const PRIVATE: &str =
    "script:1: shop.list_pets: the server has a private address, which is refused; its entry may say allow_private = true";

#[test]
fn addresses_of_this_machine_and_its_network_are_refused() {
    let api = ApiServer::start();
    let port = api.url.rsplit_once(':').expect("a port").1.to_owned();
    // By number in every way to write it, and by names that lead here: also one that anyone may register.
    for host in ["127.0.0.1", "127.1", "2130706433", "0x7f000001", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "localhost"] {
        assert_eq!(message(&somewhere(&format!("http://{host}:{port}/v1")), "sdk.list_pets()"), PRIVATE, "{host}");
    }
    for host in ["169.254.169.254", "10.0.0.1", "192.168.1.1", "172.16.0.1", "100.64.0.1", "[fe80::1]", "[fd00::1]"] {
        assert_eq!(message(&somewhere(&format!("http://{host}/v1")), "sdk.list_pets()"), PRIVATE, "{host}");
    }
    assert_eq!(api.paths(), Vec::<String>::new(), "nobody came");
    // The same address, with leave.
    let folder = somewhere(&format!("http://localhost:{port}/v1"));
    let output = toolscript(folder.path(), &["run", "--json", "--allow-private", "shop", "-e", "return #sdk.list_pets()"])
        .output()
        .expect("it runs");
    assert_eq!(outcome(&output)["result"], 2);
}

#[test]
fn a_server_upstream_is_refused_like_an_api() {
    let api = ApiServer::start();
    let folder = folder_with(&format!("[mcp_servers.up]\nurl = {:?}\n", api.url));
    let refusal = "script:1: there is no 'up' now: the server 'up' is down: the server has a private address, which is refused; its entry may say \
                   allow_private = true";
    assert_eq!(message(&folder, "sdk.up.tool()"), refusal);
    assert_eq!(api.paths(), Vec::<String>::new());
}

#[test]
fn no_argument_leads_to_another_server() {
    let api = ApiServer::start();
    let folder = api.folder("features", "features.json", "");
    for value in ["//evil.example", "@evil.example", "..%2f..%2fadmin", "a?b#c", "{many}", "\\\\evil.example\\x", "http://evil.example/"] {
        let script = format!("return (sdk.answer{{ what = {value:?} }}).path");
        let path = result(&folder, &script);
        let path = path.as_str().expect("a path");
        assert!(path.starts_with("/v1/answer/") && path.matches('/').count() == 3 && !path.contains(['?', '#']), "{value}: {path}");
    }
}

#[test]
fn an_answer_has_a_size_and_a_time() {
    let api = ApiServer::start();
    let folder = api.folder("features", "features.json", "");
    let too_large = "script:1: features.answer: the response is too large: at most 8388608 bytes are allowed at once";
    assert_eq!(message(&folder, "sdk.answer{ what = 'endless' }"), too_large);
    assert_eq!(result(&folder, "return #sdk.answer{ what = 'huge' }"), 7 << 20);
    // Those that are made at once share the room.
    let all = "local huge = { sdk.answer, { what = 'huge' } } local _, details = sdk.all({ huge, huge, huge }, { errors = 'return' }) local kept = 0 for i = 1, 3 do kept += if details[i].error then 0 else 1 end return kept";
    assert!(result(&folder, all).as_u64().is_some_and(|kept| kept <= 1));
    let deep = message(&folder, "sdk.answer{ what = 'deep' }");
    assert!(deep.starts_with("script:1: "), "{deep}");
}

#[test]
fn a_call_that_blocks_ends_with_the_script() {
    let api = ApiServer::start();
    let folder = api.folder("features", "features.json", "");
    let mut wire = Wire::start(folder.path(), &[]);
    let mut params = call("print('before') io.open('f', 'w'):write('kept'):close() pcall(sdk.answer, { what = 'silent' }) print('after')");
    params["arguments"]["timeout_ms"] = json!(700);
    let started = Instant::now();
    let answer = wire.ask("tools/call", params);
    let outcome = &answer["result"]["structuredContent"];
    assert_eq!(outcome["error"], json!({ "kind": "timeout", "message": "the script ran longer than 0.7 s" }), "{answer}");
    assert_eq!(outcome["logs"], json!(["before"]));
    assert_eq!(outcome["files_touched"], json!([{ "name": "f", "op": "write", "bytes": 4 }]));
    assert!(started.elapsed().as_secs() < 30);
    api.given_up();
    // One that the client cancels ends as well.
    let id = wire.begin("tools/call", call("sdk.answer{ what = 'silent' }"));
    api.asked("/v1/answer/silent", 2);
    wire.notify("notifications/cancelled", json!({ "requestId": id }));
    api.given_up();
}

#[test]
fn a_server_that_is_not_there_is_told_without_its_address() {
    let folder = somewhere("http://localhost:1/v1");
    let output =
        toolscript(folder.path(), &["run", "--json", "--allow-private", "shop", "-e", "sdk.list_pets()"]).output().expect("it runs");
    assert_eq!(outcome(&output)["error"]["message"], "script:1: shop.list_pets: the server can't be reached");
}

#[test]
fn credentials_are_shown_as_the_specification_says() {
    let api = ApiServer::start();
    for (scheme, shown) in [
        ("bearer: { type: http, scheme: bearer }", ("authorization", "Bearer s3cret:key")),
        ("basic: { type: http, scheme: basic }", ("authorization", "Basic czNjcmV0OmtleQ==")),
        ("oauth: { type: oauth2, flows: {} }", ("authorization", "Bearer s3cret:key")),
        ("header: { type: apiKey, in: header, name: X-Key }", ("x-key", "s3cret:key")),
        ("cookie: { type: apiKey, in: cookie, name: key }", ("cookie", "key=s3cret:key")),
        ("query: { type: apiKey, in: query, name: key }", ("", "/v1/echo?key=s3cret%3Akey")),
        ("", ("authorization", "Bearer s3cret:key")),
    ] {
        let name = scheme.split(':').next().expect("a name");
        let security = if name.is_empty() {
            String::new()
        } else {
            format!("security: [{{ {name}: [] }}]\ncomponents: {{ securitySchemes: {{ {scheme} }} }}\n")
        };
        let text = format!(
            "openapi: 3.1.0\ninfo: {{ title: Echo, version: '1' }}\n{security}paths: {{ /echo: {{ get: {{ operationId: echo }} }}, /open: {{ get: {{ operationId: open, security: [] }} }} }}\n"
        );
        let folder = folder_with(&format!("[apis.echo]\nspec = \"echo.yaml\"\nbase_url = \"{}/v1\"\nallow_private = true\n", api.url));
        std::fs::write(folder.path().join("echo.yaml"), text).expect("a file");
        let script = "print(json.encode((sdk.echo.echo()))) print(json.encode((sdk.open()))) return 1";
        let output = toolscript(folder.path(), &["run", "--json", "--api-auth", "echo:KEY", "-e", script])
            .env("KEY", "s3cret:key")
            .output()
            .expect("it runs");
        let logs = outcome(&output)["logs"].clone();
        // The API sent it back, and it was taken out.
        assert!(!logs.to_string().contains("s3cret") && !logs.to_string().contains("czNjcmV0"), "{logs}");
        assert!(logs[0].as_str().is_some_and(|log| log.contains("[redacted]")), "{name}: {logs}");
        let sent = api.last("/v1/echo");
        let (header, value) = shown;
        let seen = if header.is_empty() { &sent["path"] } else { &sent["headers"][header] };
        assert_eq!(seen, value, "{scheme}");
        // What needs none is shown none.
        if !name.is_empty() {
            assert!(!api.last("/v1/open").to_string().contains("s3cret"), "{name}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tenants_bring_their_own_credentials_and_their_tokens_stay_here() {
    let api = ApiServer::start();
    let keys = KeyServer::start().await;
    let folder = api.folder("shop", "shop.yaml", "auth = \"owners-token\"\n");
    let flags = keys.flags();
    let mut arguments: Vec<&str> = vec!["--io-dir", "files"];
    arguments.extend(flags.iter().map(String::as_str));
    let server = HttpServer::start(folder.path(), &arguments);
    let token = keys.token("ann");
    let mut client = server.client().with_token(&token);
    // The path 7 is echoed by the API.
    let script = "return (sdk.get_pet{ pet_id = 7 }).headers.authorization";
    let mut params = call(script);
    params["_meta"] = json!({ "auth": { "shop": "anns-own-token" } });
    let answer = client.ask("tools/call", params).await.last().clone();
    assert_eq!(answer["result"]["structuredContent"]["result"], "Bearer [redacted]", "{answer}");
    assert!(!answer.to_string().contains("anns-own-token"), "{answer}");
    assert_eq!(api.last("/v1/pets/7")["headers"]["authorization"], "Bearer anns-own-token");
    let answer = client.ask("tools/call", call(script)).await.last().clone();
    assert_eq!(answer["result"]["structuredContent"]["result"], "Bearer [redacted]", "{answer}");
    assert_eq!(api.last("/v1/pets/7")["headers"]["authorization"], "Bearer owners-token");
    assert!(api.all().iter().all(|request| !request.to_string().contains(&token)), "the tenant's token for this server went out");
}

#[test]
fn frozen_parameters_are_neither_seen_nor_set() {
    let api = ApiServer::start();
    let folder = api.folder("shop", "shop.yaml", "frozen_params = { tenant = \"acme\" }\n[frozen_params]\nlimit = 3\n");
    assert_eq!(result(&folder, "return #sdk.list_transactions()"), 3);
    assert_eq!(api.paths(), ["/v1/transactions?limit=3&tenant=acme"]);
    let refusal = "script:1: shop.list_transactions: there is no parameter 'tenant'; it has offset";
    assert_eq!(message(&folder, "sdk.list_transactions{ tenant = 'other' }"), refusal);
    let docs = result(&folder, "return sdk.docs('list_transactions')");
    let docs = docs.as_str().expect("a text");
    assert!(docs.contains("offset: number?") && !docs.contains("tenant") && !docs.contains("acme") && !docs.contains("limit"), "{docs}");
    let wrong = api.folder("shop", "shop.yaml", "frozen_params = { tennant = \"acme\" }\n");
    let output = toolscript(wrong.path(), &["run", "-e", "return 1"]).output().expect("it runs");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.ends_with("frozen_params: no function has a parameter 'tennant'\n"), "{error}");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn only_functions_that_are_let_through_are_there() {
    let api = ApiServer::start();
    let names = "local names = {} for name in sdk.shop do table.insert(names, name) end table.sort(names) return names";
    assert_eq!(result(&api.folder("shop", "shop.yaml", "read_only = true\n"), names), json!(["get_pet", "list_pets", "list_transactions"]));
    assert_eq!(
        result(&api.folder("shop", "shop.yaml", "allow = [\"*_pet\"]\ndeny = [\"remove_*\"]\n"), names),
        json!(["create_pet", "get_pet"])
    );
}

#[test]
fn nothing_of_the_host_is_in_what_a_script_sees() {
    let api = ApiServer::start();
    let folder = api.folder("shop", "shop.yaml", "auth = \"owners-token\"\n");
    let script = "
        local seen = { sdk.docs('shop'), sdk.docs('list_pets'), json.encode(sdk.search('pets')), json.encode({ sdk.get_pet{ pet_id = 7 } }) }
        for _, call in { { sdk.get_pet, { pet_id = 404 } }, { sdk.get_pet, { pet_id = 'x' } }, { sdk.get_pet, 7 } } do
            table.insert(seen, select(2, pcall(unpack(call))))
        end
        return table.concat(seen, '\\n')";
    let outcome = run(&folder, script);
    let seen = outcome["result"].as_str().unwrap_or_else(|| panic!("{outcome}"));
    assert!(seen.contains("sdk.shop.list_pets(params: {"), "{seen}");
    for secret in ["owners-token", env!("CARGO_MANIFEST_DIR"), folder.path().to_str().expect("a path"), "sings-in-the-mine"] {
        assert!(!seen.contains(secret), "{secret} is in {seen}");
    }
}
