//! Options and formats of the original toolscript: `--auth`, typed credentials, names from titles, parts of the documentation.

use crate::support::{
    api_server::{ApiServer, directory_with, outcome, toolscript},
    upstream_server,
    wire::{Wire, call},
};
use serde_json::{Value, json};
use std::fs;
use tempfile::TempDir;

/// Creates a directory with the API `echo`, which returns the requests that it receives.
fn echo_directory(api: &ApiServer, schemes: &str, options: &str) -> TempDir {
    let directory =
        directory_with(&format!("[apis.echo]\nspec = \"echo.yaml\"\nbase_url = \"{}/v1\"\nallow_private = true\n{options}", api.url));
    let text = format!(
        "openapi: 3.1.0\ninfo: {{ title: Echo, version: '1' }}\ncomponents: {{ securitySchemes: {{ {schemes} }} }}\n\
         paths: {{ /echo: {{ get: {{ operationId: echo }} }} }}\n"
    );
    fs::write(directory.path().join("echo.yaml"), text).expect("the file is written");
    directory
}

/// Returns the headers of the request that a run with these arguments sends.
fn sent_headers(api: &ApiServer, directory: &TempDir, arguments: &[&str]) -> Value {
    let arguments = [&["run", "--json", "-e", "sdk.echo.echo()"], arguments].concat();
    let output = toolscript(directory.path(), &arguments).env("KEY", "s3cret-key").output().expect("toolscript runs");
    let outcome = outcome(&output);
    assert!(outcome.get("error").is_none(), "{outcome}");
    api.last_request("/v1/echo")["headers"].clone()
}

fn error(directory: &TempDir, arguments: &[&str]) -> String {
    let output = toolscript(directory.path(), &[&["run", "-e", "return 1"], arguments].concat()).output().expect("toolscript runs");
    assert_eq!(output.status.code(), Some(2));
    String::from_utf8(output.stderr).expect("UTF-8")
}

#[test]
fn auth_is_an_alias_of_api_auth_and_needs_no_name_for_a_single_api() {
    let api = ApiServer::start();
    let directory = echo_directory(&api, "", "");
    for arguments in [["--auth", "echo:KEY"], ["--auth", "KEY"], ["--api-auth", "KEY"]] {
        assert_eq!(sent_headers(&api, &directory, &arguments)["authorization"], "Bearer s3cret-key", "{arguments:?}");
    }
    let two = directory_with("[apis.a]\nspec = \"a.yaml\"\n[apis.b]\nspec = \"b.yaml\"\n");
    assert_eq!(error(&two, &["--auth", "KEY"]), "error: --api-auth KEY: write NAME:VARIABLE\n");
    assert_eq!(error(&directory_with(""), &["--auth", "KEY"]), "error: --api-auth KEY: write NAME:VARIABLE\n");
}

#[test]
fn a_credential_in_the_configuration_is_a_string_or_a_table() {
    let api = ApiServer::start();
    let key = "key: { type: apiKey, in: header, name: X-Key }";
    let both = "key: { type: apiKey, in: header, name: X-Key }, basic: { type: http, scheme: basic }";
    for (schemes, auth, header, value) in [
        ("", "type = \"bearer\"\ntoken = \"s3cret\"", "authorization", "Bearer s3cret"),
        ("", "type = \"basic\"\nusername = \"ann\"\npassword = \"s3cret\"", "authorization", "Basic YW5uOnMzY3JldA=="),
        (key, "type = \"api_key\"\nkey = \"s3cret\"", "x-key", "s3cret"),
        (key, "type = \"api_key\"\ntoken = \"s3cret\"", "x-key", "s3cret"),
        // The type selects the scheme.
        (both, "type = \"basic\"\nusername = \"ann\"\npassword = \"s3cret\"", "authorization", "Basic YW5uOnMzY3JldA=="),
        (both, "type = \"api_key\"\nkey = \"s3cret\"", "x-key", "s3cret"),
        // It overrides a specification that has no such scheme.
        (key, "type = \"bearer\"\ntoken = \"s3cret\"", "authorization", "Bearer s3cret"),
    ] {
        let directory = echo_directory(&api, schemes, &format!("[apis.echo.auth]\n{auth}\n"));
        assert_eq!(sent_headers(&api, &directory, &[])[header], value, "{schemes} {auth}");
    }
    let accepted = "a string, or a table with type = \"bearer\" and token, \"api_key\" and key, or \"basic\", username and password";
    for (auth, message) in [
        ("auth = { type = \"basic\", username = \"ann\" }", format!("a credential must be {accepted}")),
        ("auth = { type = \"bearer\", token = \"x\", password = \"y\" }", format!("a credential must be {accepted}")),
        ("auth = { type = \"digest\" }", "unknown variant `digest`, expected one of `bearer`, `api_key`, `basic`".into()),
        ("auth = { token = \"x\" }", "missing field `type`".into()),
        ("auth = 7", format!("invalid type: integer `7`, expected {accepted}")),
    ] {
        let directory = echo_directory(&api, "", &format!("{auth}\n"));
        let error = error(&directory, &[]);
        assert!(error.starts_with("error: configuration toolscript.toml: line 5: ") && error.contains(&message), "{auth}: {error}");
    }
    let server = directory_with("[mcp_servers.up]\nurl = \"https://example.com\"\nauth = { type = \"api_key\", key = \"x\" }\n");
    assert_eq!(error(&server, &[]), "error: can't use the MCP server 'up': auth: the credential of an MCP server is a bearer token\n");
}

#[test]
fn a_client_sends_a_credential_as_a_string_or_an_object() {
    let api = ApiServer::start();
    let directory = echo_directory(&api, "key: { type: apiKey, in: header, name: X-Key }", "");
    let mut wire = Wire::start(directory.path(), &[]);
    let mut ask = |auth: Value| {
        let mut params = call("sdk.echo.echo()");
        params["_meta"] = json!({ "auth": { "echo": auth } });
        wire.ask("tools/call", params)
    };
    for (auth, header, value) in [
        (json!("s3cret"), "x-key", "s3cret"),
        (json!({ "type": "api_key", "key": "s3cret" }), "x-key", "s3cret"),
        (json!({ "type": "bearer", "token": "s3cret" }), "authorization", "Bearer s3cret"),
        (json!({ "type": "basic", "username": "ann", "password": "s3cret" }), "authorization", "Basic YW5uOnMzY3JldA=="),
    ] {
        let answer = ask(auth.clone());
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        assert_eq!(api.last_request("/v1/echo")["headers"][header], value, "{auth}");
    }
    let message = "Invalid params: `_meta.auth`: the credential of 'echo' must be a string, {type: \"bearer\", token}, \
                   {type: \"api_key\", key} or {type: \"basic\", username, password}";
    for auth in [json!(""), json!(7), json!({ "type": "basic", "password": 70701 }), json!({ "type": "bearer", "key": "k", "extra": 1 })] {
        // The message contains no credential.
        assert_eq!(ask(auth)["error"]["message"], message);
    }
}

#[test]
fn an_api_is_named_by_its_title_if_the_file_name_says_nothing() {
    let directory = directory_with("");
    let specification = |title: &str| {
        json!({
            "openapi": "3.1.0", "info": { "title": title, "version": "1" }, "servers": [{ "url": "https://example.com" }],
            "paths": { "/pets": { "get": { "operationId": "listPets" } } },
        })
    };
    let overview = |title: &str, arguments: &[&str]| {
        for name in ["openapi.json", "swagger.yaml", "api-docs.json", "v3.json", "billing.json"] {
            fs::write(directory.path().join(name), specification(title).to_string()).expect("the file is written");
        }
        let output = toolscript(directory.path(), &[&["docs"], arguments].concat()).output().expect("toolscript runs");
        String::from_utf8(output.stdout).expect("UTF-8").lines().next().unwrap_or_default().to_owned()
    };
    for name in ["openapi.json", "swagger.yaml", "api-docs.json", "v3.json"] {
        assert_eq!(overview("Pet Shop", &["--api", name]), "sdk.pet_shop: Pet Shop 1", "{name}");
    }
    assert_eq!(overview("Pet Shop", &["--api", "billing.json"]), "sdk.billing: Pet Shop 1");
    assert_eq!(overview("Pet Shop", &["--api", "shop=openapi.json"]), "sdk.shop: Pet Shop 1");
    // A title that can't be a name.
    assert_eq!(overview("Search", &["--api", "openapi.json"]), "sdk.openapi: Search 1");
    assert_eq!(overview("", &["--api", "openapi.json"]), "sdk.openapi: 1");
}

#[test]
fn resources_have_the_parts_of_the_documentation() {
    let api = ApiServer::start();
    let directory = api.directory("shop", "shop.yaml", "");
    let mut wire = Wire::start(directory.path(), &["--mcp", &format!("inner={} serve --no-io", env!("CARGO_BIN_EXE_toolscript"))]);
    let mut read = |uri: &str| wire.ask("resources/read", json!({ "uri": uri }));
    let mut text = |uri: &str| read(uri)["result"]["contents"][0]["text"].as_str().unwrap_or_default().to_owned();
    assert_eq!(text("sdk://shop/overview"), text("sdk://shop"));
    assert!(text("sdk://shop").starts_with("sdk.shop: Pet shop 1.2.0\n  sdk.shop.create_pet  Adds a pet\n"));
    let functions = text("sdk://shop/functions");
    assert!(functions.starts_with("sdk.shop.create_pet(body: ShopNewPet): "), "{functions}");
    assert!(functions.contains("\n  Adds a pet\nsdk.shop.get_pet(params: "), "{functions}");
    let schemas = text("sdk://shop/schemas");
    assert!(schemas.contains("export type ShopPet = ShopNewPet & { id: number }\n"), "{schemas}");
    assert!(text("sdk://inner/functions").starts_with("sdk.inner.execute_script(arguments: { "));
    assert_eq!(read("sdk://zoo/schemas")["error"]["code"], -32002);
    assert_eq!(read("sdk://shop/other")["error"]["code"], -32002);
}

#[test]
fn a_flag_overrides_an_mcp_server_of_the_configuration() {
    let directory = directory_with("[mcp_servers.up]\ncommand = \"does-not-exist\"\n");
    let server = format!("up={}", upstream_server::program().display());
    let script = "return (sdk.up.add({ a = 2, b = 3 })).sum";
    let output = toolscript(directory.path(), &["run", "--json", "--mcp", &server, "-e", script]).output().expect("toolscript runs");
    assert_eq!(outcome(&output)["result"], 5, "{}", String::from_utf8_lossy(&output.stderr));
    let twice = error(&directory, &["--mcp", "up=true", "--mcp", "up=false"]);
    assert_eq!(twice, "error: two MCP servers are named 'up'; rename one\n");
}
