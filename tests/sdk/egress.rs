//! Outgoing requests: allowed addresses, credentials, sizes and timeouts.

use crate::support::{
    api_server::{ApiServer, directory_with, message, outcome, result, run, specification, toolscript},
    http_server::HttpServer,
    key_server::KeyServer,
    server_process::CANARY,
    wire::{Wire, call},
};
use serde_json::json;
use std::time::Instant;
use tempfile::TempDir;

/// Creates a configuration with an API at a URL, without `allow_private`.
fn api_at(base: &str) -> TempDir {
    directory_with(&format!("[apis.shop]\nspec = {:?}\nbase_url = {base:?}\n", specification("shop.yaml")))
}

const PRIVATE: &str = "script:1: shop.list_pets: the server has a private address; set allow_private = true to allow it";

#[test]
fn private_and_loopback_addresses_are_rejected() {
    let api = ApiServer::start();
    let port = api.url.rsplit_once(':').expect("a port").1.to_owned();
    // IP addresses in every notation, and a host name that resolves to one.
    for host in ["127.0.0.1", "127.1", "2130706433", "0x7f000001", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "localhost"] {
        assert_eq!(message(&api_at(&format!("http://{host}:{port}/v1")), "sdk.list_pets()"), PRIVATE, "{host}");
    }
    for host in ["169.254.169.254", "10.0.0.1", "192.168.1.1", "172.16.0.1", "100.64.0.1", "[fe80::1]", "[fd00::1]"] {
        assert_eq!(message(&api_at(&format!("http://{host}/v1")), "sdk.list_pets()"), PRIVATE, "{host}");
    }
    assert_eq!(api.paths(), Vec::<String>::new(), "no request was sent");
    // The same address with `allow_private`.
    let directory = api_at(&format!("http://localhost:{port}/v1"));
    let output = toolscript(directory.path(), &["run", "--json", "--allow-private", "shop", "-e", "return #sdk.list_pets()"])
        .output()
        .expect("toolscript runs");
    assert_eq!(outcome(&output)["result"], 2);
}

#[test]
fn a_private_address_of_an_mcp_server_is_rejected() {
    let api = ApiServer::start();
    let directory = directory_with(&format!("[mcp_servers.up]\nurl = {:?}\n", api.url));
    let error =
        "script:1: 'up' is not available: the MCP server 'up' is down: it has a private address; set allow_private = true to allow it";
    assert_eq!(message(&directory, "sdk.up.tool()"), error);
    assert_eq!(api.paths(), Vec::<String>::new());
    // The note has the reason once. No further attempt is made, because it would fail in the same way.
    let output = toolscript(directory.path(), &["run", "-e", "return 1"]).output().expect("toolscript runs");
    let note = "note: the MCP server 'up' is down: it has a private address; set allow_private = true to allow it\n";
    assert_eq!(String::from_utf8_lossy(&output.stderr), note);
}

#[test]
fn no_argument_changes_the_server() {
    let api = ApiServer::start();
    let directory = api.directory("features", "features.json", "");
    for value in ["//evil.example", "@evil.example", "..%2f..%2fadmin", "a?b#c", "{many}", "\\\\evil.example\\x", "http://evil.example/"] {
        let script = format!("return (sdk.answer{{ what = {value:?} }}).path");
        let path = result(&directory, &script);
        let path = path.as_str().expect("a path");
        assert!(path.starts_with("/v1/answer/") && path.matches('/').count() == 3 && !path.contains(['?', '#']), "{value}: {path}");
    }
}

#[test]
fn the_size_of_responses_is_limited() {
    let api = ApiServer::start();
    let directory = api.directory("features", "features.json", "");
    let too_large = "script:1: features.answer: the response is too large: at most 8388608 bytes are allowed at once";
    assert_eq!(message(&directory, "sdk.answer{ what = 'endless' }"), too_large);
    assert_eq!(result(&directory, "return #sdk.answer{ what = 'huge' }"), 7 << 20);
    // Concurrent calls share the limit.
    let all = "local huge = { sdk.answer, { what = 'huge' } } local all = sdk.all({ huge, huge, huge }, { errors = 'return' }) local kept = 0 for i = 1, 3 do kept += if type(all[i]) == 'table' then 0 else 1 end return kept";
    assert!(result(&directory, all).as_u64().is_some_and(|kept| kept <= 1));
    let deep = message(&directory, "sdk.answer{ what = 'deep' }");
    assert!(deep.starts_with("script:1: "), "{deep}");
}

#[test]
fn a_call_without_a_response_ends_with_the_script() {
    let api = ApiServer::start();
    let directory = api.directory("features", "features.json", "");
    let mut wire = Wire::start(directory.path(), &[]);
    let mut params = call("print('before') io.open('f', 'w'):write('kept'):close() pcall(sdk.answer, { what = 'silent' }) print('after')");
    params["arguments"]["timeout_ms"] = json!(700);
    let started = Instant::now();
    let response = wire.ask("tools/call", params);
    let outcome = &response["result"]["structuredContent"];
    assert_eq!(outcome["error"], json!({ "kind": "timeout", "message": "the script ran longer than 0.7 s" }), "{response}");
    assert_eq!(outcome["logs"], json!(["before"]));
    assert_eq!(outcome["files_touched"], json!([{ "name": "f", "op": "write", "bytes": 4 }]));
    assert!(started.elapsed().as_secs() < 30);
    api.wait_for_disconnect();
    // A call that the client cancels ends too.
    let id = wire.begin("tools/call", call("sdk.answer{ what = 'silent' }"));
    api.wait_for_requests("/v1/answer/silent", 2);
    wire.notify("notifications/cancelled", json!({ "requestId": id }));
    api.wait_for_disconnect();
}

#[test]
fn an_unreachable_server_is_reported_with_the_reason_and_without_its_url() {
    let api = ApiServer::start();
    let port = api.url.rsplit(':').next().expect("a port");
    for (url, reason) in [
        ("http://localhost:1/v1".to_owned(), "it refused the connection"),
        ("http://no-such-host.invalid/v1".to_owned(), "its name can't be resolved"),
        (format!("https://localhost:{port}/v1"), "the TLS handshake failed"),
    ] {
        let directory = api_at(&url);
        let output = toolscript(directory.path(), &["run", "--json", "--allow-private", "shop", "-e", "sdk.list_pets()"])
            .output()
            .expect("toolscript runs");
        let message = format!("script:1: shop.list_pets: the server can't be reached: {reason}");
        assert_eq!(outcome(&output)["error"]["message"], message, "{url}");
    }
}

#[test]
fn compressed_responses_are_decoded() {
    let api = ApiServer::start();
    let directory = api.directory("features", "features.json", "");
    for encoding in ["gzip", "br"] {
        let script = format!(
            "local r = sdk.response(sdk.answer, {{ what = '{encoding}' }}) return r.body.encoding, r.headers['content-encoding'] == nil"
        );
        assert_eq!(result(&directory, &script), json!([encoding, true]));
    }
    for (what, error) in [
        ("zstd", "the response has the content encoding 'zstd', which is not supported"),
        ("zstd_failure", "502 Bad Gateway"),
        ("no_gzip", "the server sent a response that can't be decoded"),
        // The limit counts decompressed bytes.
        ("bomb", "the response is too large: at most 8388608 bytes are allowed at once"),
    ] {
        let script = format!("sdk.answer{{ what = '{what}' }}");
        assert_eq!(message(&directory, &script), format!("script:1: features.answer: {error}"), "{what}");
    }
}

#[test]
fn credentials_are_sent_as_the_security_scheme_says() {
    let api = ApiServer::start();
    for (scheme, expected) in [
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
        let directory =
            directory_with(&format!("[apis.echo]\nspec = \"echo.yaml\"\nbase_url = \"{}/v1\"\nallow_private = true\n", api.url));
        std::fs::write(directory.path().join("echo.yaml"), text).expect("the file is written");
        let script = "print(json.encode((sdk.echo.echo()))) print(json.encode((sdk.open()))) return 1";
        let output = toolscript(directory.path(), &["run", "--json", "--api-auth", "echo:KEY", "-e", script])
            .env("KEY", "s3cret:key")
            .output()
            .expect("toolscript runs");
        let logs = outcome(&output)["logs"].clone();
        // The API echoes the credential, and it is redacted.
        assert!(!logs.to_string().contains("s3cret") && !logs.to_string().contains("czNjcmV0"), "{logs}");
        assert!(logs[0].as_str().is_some_and(|log| log.contains("[redacted]")), "{name}: {logs}");
        let sent = api.last_request("/v1/echo");
        let (header, value) = expected;
        let seen = if header.is_empty() { &sent["path"] } else { &sent["headers"][header] };
        assert_eq!(seen, value, "{scheme}");
        // An operation without security gets no credential.
        if !name.is_empty() {
            assert!(!api.last_request("/v1/open").to_string().contains("s3cret"), "{name}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tenants_send_their_own_credentials_and_their_access_tokens_are_not_forwarded() {
    let api = ApiServer::start();
    let keys = KeyServer::start().await;
    let directory = api.directory("shop", "shop.yaml", "auth = \"owners-token\"\n");
    let flags = keys.flags();
    let mut arguments: Vec<&str> = vec!["--io-dir", "files"];
    arguments.extend(flags.iter().map(String::as_str));
    let server = HttpServer::start(directory.path(), &arguments);
    let token = keys.token("ann");
    let mut client = server.client().with_token(&token);
    // The API echoes requests for the pet 7.
    let script = "return (sdk.get_pet{ pet_id = 7 }).headers.authorization";
    let mut params = call(script);
    params["_meta"] = json!({ "auth": { "shop": "anns-own-token" } });
    let response = client.ask("tools/call", params).await.last().clone();
    assert_eq!(response["result"]["structuredContent"]["result"], "Bearer [redacted]", "{response}");
    assert!(!response.to_string().contains("anns-own-token"), "{response}");
    assert_eq!(api.last_request("/v1/pets/7")["headers"]["authorization"], "Bearer anns-own-token");
    let response = client.ask("tools/call", call(script)).await.last().clone();
    assert_eq!(response["result"]["structuredContent"]["result"], "Bearer [redacted]", "{response}");
    assert_eq!(api.last_request("/v1/pets/7")["headers"]["authorization"], "Bearer owners-token");
    assert!(api.requests().iter().all(|request| !request.to_string().contains(&token)), "the access token was forwarded");
}

#[test]
fn scripts_neither_see_nor_set_frozen_parameters() {
    let api = ApiServer::start();
    let directory = api.directory("shop", "shop.yaml", "frozen_params = { tenant = \"acme\" }\n[frozen_params]\nlimit = 3\n");
    assert_eq!(result(&directory, "return #sdk.list_transactions()"), 3);
    assert_eq!(api.paths(), ["/v1/transactions?limit=3&tenant=acme"]);
    let error = "script:1: shop.list_transactions: there is no parameter 'tenant'; available: offset";
    assert_eq!(message(&directory, "sdk.list_transactions{ tenant = 'other' }"), error);
    let docs = result(&directory, "return sdk.docs('list_transactions')");
    let docs = docs.as_str().expect("a string");
    assert!(docs.contains("offset: number?") && !docs.contains("tenant") && !docs.contains("acme") && !docs.contains("limit"), "{docs}");
    let misspelled = api.directory("shop", "shop.yaml", "frozen_params = { tennant = \"acme\" }\n");
    let output = toolscript(misspelled.path(), &["run", "-e", "return 1"]).output().expect("toolscript runs");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.ends_with("frozen_params: no function has a parameter 'tennant'\n"), "{error}");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn filters_select_the_functions_of_an_api() {
    let api = ApiServer::start();
    let names = "local names = {} for name in sdk.shop do table.insert(names, name) end table.sort(names) return names";
    assert_eq!(
        result(&api.directory("shop", "shop.yaml", "read_only = true\n"), names),
        json!(["get_pet", "list_pets", "list_transactions"])
    );
    assert_eq!(
        result(&api.directory("shop", "shop.yaml", "allow = [\"*_pet\"]\ndeny = [\"remove_*\"]\n"), names),
        json!(["create_pet", "get_pet"])
    );
}

#[test]
fn scripts_see_no_credentials_paths_or_environment_variables() {
    let api = ApiServer::start();
    let directory = api.directory("shop", "shop.yaml", "auth = \"owners-token\"\n");
    let script = "
        local seen = { sdk.docs('shop'), sdk.docs('list_pets'), json.encode(sdk.search('pets')), json.encode({ sdk.get_pet{ pet_id = 7 } }) }
        for _, call in { { sdk.get_pet, { pet_id = 404 } }, { sdk.get_pet, { pet_id = 'x' } }, { sdk.get_pet, 7 } } do
            table.insert(seen, select(2, pcall(unpack(call))))
        end
        return table.concat(seen, '\\n')";
    let outcome = run(&directory, script);
    let seen = outcome["result"].as_str().unwrap_or_else(|| panic!("{outcome}"));
    assert!(seen.contains("sdk.shop.list_pets(params: {"), "{seen}");
    for secret in ["owners-token", env!("CARGO_MANIFEST_DIR"), directory.path().to_str().expect("a path"), CANARY] {
        assert!(!seen.contains(secret), "{secret} is in {seen}");
    }
}
