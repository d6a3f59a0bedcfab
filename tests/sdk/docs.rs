//! Documentation of functions for models, people and editors, and errors in specifications and flags.

use crate::support::{
    api_server::{ApiServer, directory_with, result, specification, toolscript},
    wire::Wire,
};
use serde_json::{Value, json};
use tempfile::TempDir;

fn text(directory: &TempDir, arguments: &[&str]) -> String {
    let output = toolscript(directory.path(), arguments).output().expect("toolscript runs");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("the output is UTF-8")
}

fn tool(wire: &mut Wire, name: &str, arguments: Value) -> Value {
    wire.ask("tools/call", json!({ "name": name, "arguments": arguments }))["result"].clone()
}

const LIST_PETS: &str = "sdk.shop.list_pets(params: { limit: number?, kind: ShopKind? }?): { ShopPet }
GET /pets

Lists pets

params:
  limit (query): How many at most; 1 to 100; default 20

export type ShopKind = \"cat\" | \"dog\" | \"fish\"
export type ShopPet = ShopNewPet & { id: number }
export type ShopNewPet = { kind: ShopKind?, name: string, nick: string?, parents: { ShopPet }? }";

#[test]
fn tools_return_the_documentation() {
    let api = ApiServer::start();
    let directory = api.directory("shop", "shop.yaml", "");
    let mut wire = Wire::start(directory.path(), &[]);
    let tools = wire.ask("tools/list", json!({}))["result"]["tools"].clone();
    let names: Vec<&str> = tools.as_array().expect("tools").iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names[7..], ["list_apis", "list_functions", "get_function_docs", "search_docs"]);
    let description = tools[0]["description"].as_str().expect("a string");
    for words in [
        "Not available: network (except through sdk), other programs.",
        ": sdk.API.name(params, body) returns one value, the decoded body.",
        "\n- sdk.shop: Pet shop 1.2.0 (create_pet, get_pet, list_pets, list_transactions, remove_pet)",
    ] {
        assert!(description.contains(words), "{words}: {description}");
    }
    assert_eq!(tools[0]["annotations"], json!({ "readOnlyHint": false, "destructiveHint": true, "openWorldHint": true }));

    let apis = tool(&mut wire, "list_apis", json!({}));
    let shop = json!({ "name": "shop", "title": "Pet shop 1.2.0", "kind": "openapi", "functions": 5, "tags": ["money", "pets"] });
    assert_eq!(apis["structuredContent"], json!({ "apis": [shop] }));
    assert_eq!(apis["content"][0]["text"], "sdk.shop: Pet shop 1.2.0 (5 functions); tags: money, pets");

    let functions = tool(&mut wire, "list_functions", json!({ "api": "shop", "tag": "money" }));
    let transactions = json!({ "name": "shop.list_transactions", "summary": "Lists transactions" });
    assert_eq!(functions["structuredContent"], json!({ "functions": [transactions], "truncated": false }));
    assert_eq!(functions["content"][0]["text"], "sdk.shop.list_transactions  Lists transactions");
    assert_eq!(tool(&mut wire, "list_functions", json!({}))["structuredContent"]["functions"].as_array().map(Vec::len), Some(5));

    let docs = tool(&mut wire, "get_function_docs", json!({ "name": "list_pets" }));
    assert_eq!(docs["content"][0]["text"], LIST_PETS);

    let found = tool(&mut wire, "search_docs", json!({ "query": "add a new pet" }));
    assert_eq!(found["structuredContent"]["functions"][0], json!({ "name": "shop.create_pet", "summary": "Adds a pet" }), "{found}");
    assert_eq!(tool(&mut wire, "search_docs", json!({ "query": "weather" }))["content"][0]["text"], "(no matches)");

    for (name, arguments, message) in [
        ("list_functions", json!({ "api": "zoo" }), "Invalid params: there is no API or MCP server 'zoo'; available: shop"),
        ("list_functions", json!({ "tag": "toys" }), "Invalid params: there is no tag 'toys'; available: money, pets"),
        ("list_functions", json!({ "page": 2 }), "Invalid params: unknown field `page`, expected `api` or `tag`"),
        ("get_function_docs", json!({}), "Invalid params: missing field `name`"),
        (
            "get_function_docs",
            json!({ "name": "zoo" }),
            "Invalid params: `name`: there is no function 'zoo'; use sdk.search to find functions",
        ),
        ("search_docs", json!({ "query": 7 }), "Invalid params: `query`: invalid type: integer `7`, expected a string"),
    ] {
        let result = tool(&mut wire, name, arguments);
        assert_eq!((&result["isError"], &result["content"][0]["text"]), (&json!(true), &json!(message)));
    }
}

#[test]
fn resources_return_the_documentation() {
    let api = ApiServer::start();
    let directory = api.directory("shop", "shop.yaml", "");
    for arguments in [&[][..], &["--no-io"]] {
        let mut wire = Wire::start(directory.path(), arguments);
        let listed = wire.ask("resources/list", json!({}))["result"]["resources"].clone();
        assert_eq!(
            listed[0],
            json!({ "uri": "sdk://shop", "name": "shop", "title": "Pet shop 1.2.0", "mimeType": "text/plain" }),
            "{listed}"
        );
        let templates = wire.ask("resources/templates/list", json!({}))["result"]["resourceTemplates"].clone();
        assert_eq!(templates[0]["uriTemplate"], "sdk://{api}/{function}");
        let mut read = |uri: &str| wire.ask("resources/read", json!({ "uri": uri }));
        assert_eq!(read("sdk://shop/list_pets")["result"]["contents"][0]["text"], LIST_PETS);
        let overview = read("sdk://shop")["result"]["contents"][0]["text"].clone();
        assert!(
            overview.as_str().is_some_and(|text| text.starts_with("sdk.shop: Pet shop 1.2.0\n  sdk.shop.create_pet  Adds a pet\n")),
            "{overview}"
        );
        assert_eq!(read("sdk://zoo/list")["error"]["code"], -32002);
    }
}

#[test]
fn scripts_read_the_documentation() {
    let api = ApiServer::start();
    let directory = api.directory("shop", "shop.yaml", "");
    assert_eq!(result(&directory, "return sdk.docs('sdk.shop.list_pets')"), LIST_PETS);
    assert_eq!(
        result(&directory, "return sdk.search('transactions')[1]"),
        json!({ "name": "shop.list_transactions", "summary": "Lists transactions" })
    );
    assert_eq!(
        result(&directory, "return #sdk.search(''), #sdk.search('weather'), (pcall(sdk.search, '\\255')), (pcall(sdk.docs, 'zoo'))"),
        json!([0, 0, false, false])
    );
}

#[test]
fn the_command_line_prints_the_documentation() {
    let api = ApiServer::start();
    let directory = api.directory("shop", "shop.yaml", "");
    let all = text(&directory, &["docs"]);
    assert!(all.starts_with("sdk.shop: Pet shop 1.2.0\n  sdk.shop.create_pet  Adds a pet\n"), "{all}");
    assert_eq!(text(&directory, &["docs", "shop"]), all);
    assert_eq!(text(&directory, &["docs", "shop.list_pets"]), format!("{LIST_PETS}\n"));
    assert_eq!(text(&directory, &["docs", "sorted by time"]).lines().next(), Some("sdk.shop.list_transactions  Lists transactions"));
    let unknown = toolscript(directory.path(), &["docs", "weather"]).output().expect("toolscript runs");
    assert_eq!(
        String::from_utf8_lossy(&unknown.stderr),
        "error: no function is named 'weather' or matches it; 'toolscript docs' lists all functions\n"
    );
    let none = toolscript(directory_with("").path(), &["docs"]).output().expect("toolscript runs");
    assert_eq!(
        String::from_utf8_lossy(&none.stderr),
        "error: no APIs are configured; add one with --api or --mcp, or in toolscript.toml\n"
    );
}

#[test]
fn types_are_written_for_an_editor() {
    let api = ApiServer::start();
    let directory = api.directory("shop", "shop.yaml", "");
    text(&directory, &["types", "-o", "sdk.d.luau"]);
    let types = std::fs::read_to_string(directory.path().join("sdk.d.luau")).expect("the file is written");
    for line in [
        "declare io: {\n    open: (path: string, mode: string?) -> FileHandle,\n",
        "export type ShopPet = ShopNewPet & { id: number }\n",
        "\ndeclare sdk: {\n    all: (",
        "\n    shop: {\n        create_pet: (body: ShopNewPet) -> ShopPet,\n",
        "\n    create_pet: (body: ShopNewPet) -> ShopPet,",
    ] {
        assert!(types.contains(line), "{line}: {types}");
    }
    assert_eq!(text(&directory, &["types", "-o", "-"]), types);
}

#[test]
fn a_specification_is_a_file_or_a_url() {
    let api = ApiServer::start();
    let directory = directory_with("");
    std::fs::copy(specification("shop.yaml"), directory.path().join("pet-shop.yaml")).expect("the file is written");
    // The URL of its server is relative to the URL of the specification.
    let fetched = format!("fetched={}/openapi.json", api.url);
    let mut wire = Wire::start(directory.path(), &["pet-shop.yaml", &fetched, "--allow-private", "fetched"]);
    let apis = tool(&mut wire, "list_apis", json!({}))["structuredContent"]["apis"].clone();
    assert_eq!((&apis[0]["name"], &apis[1]["name"]), (&json!("fetched"), &json!("pet_shop")), "{apis}");
    assert_eq!(wire.run("return #sdk.fetched.list_pets()")["structuredContent"]["result"], 2);
    assert_eq!(api.paths(), ["/openapi.json", "/v1/pets"]);
    let missing = format!("x={}/answer/failure", api.url);
    let output = toolscript(directory.path(), &["run", "-e", "return 1", "--api", &missing]).output().expect("toolscript runs");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        error.starts_with("error: can't load the API 'x': can't fetch http://127.0.0.1:")
            && error.ends_with("500 Internal Server Error)\n"),
        "{error}"
    );
}

#[test]
fn an_invalid_specification_is_reported_with_the_place() {
    for (spec, reason) in [
        ("swagger: '2.0'", "Swagger 2 is not supported; convert the specification to OpenAPI 3"),
        ("openapi: 3.2.0", "OpenAPI 3.2.0 is not supported; use 3.0 or 3.1"),
        ("openapi: \"4\\n\\e[31m\"", "OpenAPI 4\\n\\u{1b}[31m is not supported; use 3.0 or 3.1"),
        ("openapi: 2", "the `openapi` version is missing; is this an OpenAPI specification?"),
        ("{ \"openapi\": \"3.1.0\" ", "invalid JSON: EOF while parsing an object at line 1 column 21"),
        ("openapi: 3.1.0\npaths: {}", "the specification has no server; set base_url"),
        ("openapi: 3.1.0\nservers: [{ url: /v1 }]", "the server '/v1' is not an absolute URL; set base_url"),
        (
            "openapi: 3.1.0\nservers: [{ url: 'ftp://example.com' }]",
            "the server 'ftp://example.com/' is not an HTTP(S) URL without user, query and fragment; set base_url",
        ),
        (
            "openapi: 3.1.0\nservers: [{ url: 'https://example.com' }]\npaths: { /a: { get: { parameters: [{ $ref: '#/components/parameters/X' }] } } }",
            "GET /a: the reference '#/components/parameters/X' does not resolve",
        ),
        (
            "openapi: 3.1.0\nservers: [{ url: 'https://example.com' }]\npaths: { /a: { $ref: 'other.yaml#/a' } }",
            "/a: the reference 'other.yaml#/a' points outside the document; bundle the specification into one file",
        ),
        (
            "openapi: 3.1.0\nservers: [{ url: 'https://example.com' }]\npaths: { /a: { $ref: '#/paths/~1a' } }",
            "/a: the reference at /paths/~1a is circular",
        ),
        (
            "openapi: 3.1.0\nservers: [{ url: 'https://example.com' }]\npaths: { /a: { get: { parameters: [{ name: x, in: body }] } } }",
            "GET /a: the parameter 'x' has the unknown location 'body'; use path, query, header or cookie",
        ),
        (
            "openapi: 3.1.0\nservers: [{ url: 'https://example.com' }]\ncomponents: { securitySchemes: { key: { type: apiKey, in: body } } }",
            "components.securitySchemes.key: unknown security scheme of type 'apiKey' in 'body'",
        ),
    ] {
        let directory = directory_with("");
        std::fs::write(directory.path().join("api.yaml"), spec).expect("the file is written");
        let output = toolscript(directory.path(), &["run", "--api", "api.yaml", "-e", "return 1"]).output().expect("toolscript runs");
        assert_eq!(String::from_utf8_lossy(&output.stderr), format!("error: can't load the API 'api': api.yaml: {reason}\n"), "{spec}");
        assert_eq!(output.status.code(), Some(2));
    }
}

#[test]
fn a_parameter_without_a_name_is_skipped_and_reported() {
    let directory = directory_with("[apis.api]\nspec = \"api.yaml\"\n");
    let parameters = "[{ in: query, schema: { type: string } }, { name: x, in: query, schema: { type: string } }]";
    let spec = format!(
        "openapi: 3.1.0\nservers: [{{ url: 'https://example.com' }}]\npaths: {{ /a: {{ get: {{ operationId: a, parameters: {parameters} }} }} }}"
    );
    std::fs::write(directory.path().join("api.yaml"), spec).expect("the file is written");
    let output = toolscript(directory.path(), &["run", "-e", "return sdk.docs('a')"]).output().expect("toolscript runs");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "note: the API 'api': GET /a: a parameter without a name is skipped\n");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "\"sdk.api.a(params: { x: string? }?): any\\nGET /a\"\n");
}

#[test]
fn invalid_flags_are_reported() {
    let directory = directory_with("[apis.shop]\nspec = \"shop.yaml\"\n[mcp_servers.up]\ncommand = \"true\"\n");
    for (arguments, message) in [
        (&["--api", "nowhere.yaml"][..], "can't load the API 'nowhere': can't read nowhere.yaml: No such file or directory (os error 2)"),
        (&["--api", "shop=x.yaml"], "two APIs are named 'shop'; rename one with NAME=SPEC"),
        (
            &["--api", "Pet Shop=x.yaml"],
            "can't load the API 'Pet Shop': a name has lowercase letters, digits and underscores, such as 'pet_shop'",
        ),
        (&["--api", "search=x.yaml"], "can't load the API 'search': the name is reserved; use another"),
        (&["--mcp", "true"], "--mcp true: write NAME=COMMAND or NAME=URL"),
        (&["--mcp", "a='"], "--mcp a=': a quote is not closed"),
        (&["--mcp", "shop=true"], "the name 'shop' is used twice; rename one of the APIs or MCP servers"),
        (&["--api-auth", "KEY"], "can't load the API 'shop': the environment variable KEY for the credential is not set"),
        (&["--api-auth", "zoo:KEY"], "--api-auth zoo:KEY: there is no API or MCP server 'zoo'; available: shop, up"),
        (&["--api-auth", "shop:NOT_SET"], "can't load the API 'shop': the environment variable NOT_SET for the credential is not set"),
        (&["--allow-private", "zoo"], "--allow-private zoo: there is no API or MCP server 'zoo'; available: shop, up"),
    ] {
        let output = toolscript(directory.path(), &[&["run", "-e", "return 1"], arguments].concat()).output().expect("toolscript runs");
        assert_eq!(String::from_utf8_lossy(&output.stderr), format!("error: {message}\n"), "{arguments:?}");
        assert_eq!(output.status.code(), Some(2));
    }
}

/// The server is real, and its specification says nothing about its responses.
#[test]
fn shapes_of_earlier_responses_are_in_the_documentation() {
    let api = ApiServer::start();
    let directory = api.directory("features", "features.json", "");
    let script = "local before = sdk.docs('get_names') sdk.get_names() sdk.get_names() return before, sdk.docs('get_names')";
    let [before, after]: [String; 2] = serde_json::from_value(result(&directory, script)).expect("two texts");
    let added = after.strip_prefix(&before).expect("the same documentation");
    assert!(added.starts_with("\n\n-- observed in 2 responses: { body: string, headers: { "), "{added}");
    assert!(added.ends_with(" }, method: string, path: string }"), "{added}");
}
