//! What models, people and editors read of functions.

use crate::{
    support::api_server::{ApiServer, folder_with, result, specification, toolscript},
    support::wire::Wire,
};
use serde_json::{Value, json};
use tempfile::TempDir;

fn text(folder: &TempDir, arguments: &[&str]) -> String {
    let output = toolscript(folder.path(), arguments).output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn tool(wire: &mut Wire, name: &str, arguments: Value) -> Value {
    wire.ask("tools/call", json!({ "name": name, "arguments": arguments }))["result"].clone()
}

const LIST_PETS: &str =
    "sdk.shop.list_pets(params: { limit: number?, kind: ShopKind? }?): ({ ShopPet }, { status: number, headers: { [string]: string } })
GET /pets

Lists pets

params:
  limit (query): How many at most; default 20

export type ShopKind = \"cat\" | \"dog\" | \"fish\"
export type ShopPet = ShopNewPet & { id: number }
export type ShopNewPet = { kind: ShopKind?, name: string, nick: string?, parents: { ShopPet }? }";

#[test]
fn models_read_by_tools() {
    let api = ApiServer::start();
    let folder = api.folder("shop", "shop.yaml", "");
    let mut wire = Wire::start(folder.path(), &[]);
    let tools = wire.ask("tools/list", json!({}))["result"]["tools"].clone();
    let names: Vec<&str> = tools.as_array().expect("tools").iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names[7..], ["list_apis", "list_functions", "get_function_docs", "search_docs"]);
    let description = tools[0]["description"].as_str().expect("a text");
    for words in [
        "Not available: network (except through sdk), require",
        "APIs, at most 100 calls: sdk.API.function(params, body) returns the decoded body, then {status, headers}",
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
        ("list_functions", json!({ "api": "zoo" }), "Invalid params: there is no API 'zoo'; there are shop"),
        ("list_functions", json!({ "tag": "toys" }), "Invalid params: there is no tag 'toys'; there are money, pets"),
        ("list_functions", json!({ "page": 2 }), "Invalid params: unknown field `page`, expected `api` or `tag`"),
        ("get_function_docs", json!({}), "Invalid params: missing field `name`"),
        (
            "get_function_docs",
            json!({ "name": "zoo" }),
            "Invalid params: `name`: there is no function 'zoo'; sdk.search finds functions by what they do",
        ),
        ("search_docs", json!({ "query": 7 }), "Invalid params: `query`: invalid type: integer `7`, expected a string"),
    ] {
        let answer = tool(&mut wire, name, arguments);
        assert_eq!((&answer["isError"], &answer["content"][0]["text"]), (&json!(true), &json!(message)));
    }
}

#[test]
fn models_read_resources() {
    let api = ApiServer::start();
    let folder = api.folder("shop", "shop.yaml", "");
    for arguments in [&[][..], &["--no-io"]] {
        let mut wire = Wire::start(folder.path(), arguments);
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
fn scripts_read_the_same() {
    let api = ApiServer::start();
    let folder = api.folder("shop", "shop.yaml", "");
    assert_eq!(result(&folder, "return sdk.docs('sdk.shop.list_pets')"), LIST_PETS);
    assert_eq!(
        result(&folder, "return sdk.search('transactions')[1]"),
        json!({ "name": "shop.list_transactions", "summary": "Lists transactions" })
    );
    assert_eq!(
        result(&folder, "return #sdk.search(''), #sdk.search('weather'), (pcall(sdk.search, '\\255')), (pcall(sdk.docs, 'zoo'))"),
        json!([0, 0, false, false])
    );
}

#[test]
fn a_person_reads_on_the_command_line() {
    let api = ApiServer::start();
    let folder = api.folder("shop", "shop.yaml", "");
    let all = text(&folder, &["docs"]);
    assert!(all.starts_with("sdk.shop: Pet shop 1.2.0\n  sdk.shop.create_pet  Adds a pet\n"), "{all}");
    assert_eq!(text(&folder, &["docs", "shop"]), all);
    assert_eq!(text(&folder, &["docs", "shop.list_pets"]), format!("{LIST_PETS}\n"));
    assert_eq!(text(&folder, &["docs", "what was paid"]).lines().next(), Some("sdk.shop.list_transactions  Lists transactions"));
    let nothing = toolscript(folder.path(), &["docs", "weather"]).output().expect("it runs");
    assert_eq!(
        String::from_utf8_lossy(&nothing.stderr),
        "error: there is no function 'weather'; sdk.search finds functions by what they do\n"
    );
    let none = toolscript(folder_with("").path(), &["docs"]).output().expect("it runs");
    assert_eq!(String::from_utf8_lossy(&none.stderr), "error: there are no APIs; name one with --api or --mcp, or in toolscript.toml\n");
}

#[test]
fn an_editor_reads_types() {
    let api = ApiServer::start();
    let folder = api.folder("shop", "shop.yaml", "");
    text(&folder, &["types", "-o", "sdk.d.luau"]);
    let types = std::fs::read_to_string(folder.path().join("sdk.d.luau")).expect("the file");
    for line in [
        "declare io: {\n    open: (path: string, mode: string?) -> FileHandle,\n",
        "export type ShopPet = ShopNewPet & { id: number }\n",
        "\ndeclare sdk: {\n    all: (",
        "\n    shop: {\n        create_pet: (body: ShopNewPet) -> (ShopPet, { status: number, headers: { [string]: string } }),\n",
        "\n    create_pet: (body: ShopNewPet) -> (ShopPet, ",
    ] {
        assert!(types.contains(line), "{line}: {types}");
    }
    assert_eq!(text(&folder, &["types", "-o", "-"]), types);
}

#[test]
fn a_specification_is_a_file_or_an_address() {
    let api = ApiServer::start();
    let folder = folder_with("");
    std::fs::copy(specification("shop.yaml"), folder.path().join("pet-shop.yaml")).expect("a file");
    // Its server is written relative to where it is.
    let fetched = format!("fetched={}/openapi.json", api.url);
    let mut wire = Wire::start(folder.path(), &["pet-shop.yaml", &fetched, "--allow-private", "fetched"]);
    let apis = tool(&mut wire, "list_apis", json!({}))["structuredContent"]["apis"].clone();
    assert_eq!((&apis[0]["name"], &apis[1]["name"]), (&json!("fetched"), &json!("pet_shop")), "{apis}");
    assert_eq!(wire.run("return #sdk.fetched.list_pets()")["structuredContent"]["result"], 2);
    assert_eq!(api.paths(), ["/openapi.json", "/v1/pets"]);
    let nowhere = format!("x={}/answer/failure", api.url);
    let output = toolscript(folder.path(), &["run", "-e", "return 1", "--api", &nowhere]).output().expect("it runs");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        error.starts_with("error: the API 'x': can't fetch http://127.0.0.1:") && error.ends_with("500 Internal Server Error)\n"),
        "{error}"
    );
}

#[test]
fn a_specification_that_is_none_is_told() {
    for (spec, reason) in [
        ("swagger: '2.0'", "it is Swagger 2; convert it to OpenAPI 3 first"),
        ("openapi: 3.2.0", "it is OpenAPI 3.2.0; 3.0 and 3.1 are understood"),
        ("openapi: 2", "it has no `openapi` version: is it an OpenAPI specification?"),
        ("{ \"openapi\": \"3.1.0\" ", "it is not JSON: EOF while parsing an object at line 1 column 21"),
        ("openapi: 3.1.0\npaths: {}", "it names no server; set base_url"),
        ("openapi: 3.1.0\nservers: [{ url: /v1 }]", "its server '/v1' is no address; set base_url"),
        (
            "openapi: 3.1.0\nservers: [{ url: 'ftp://example.com' }]",
            "its server 'ftp://example.com/' must be http or https, without a user, a query or a fragment; set base_url",
        ),
        (
            "openapi: 3.1.0\nservers: [{ url: 'https://example.com' }]\npaths: { /a: { get: { parameters: [{ $ref: '#/components/parameters/X' }] } } }",
            "GET /a: the reference '#/components/parameters/X' leads nowhere",
        ),
        (
            "openapi: 3.1.0\nservers: [{ url: 'https://example.com' }]\npaths: { /a: { $ref: 'other.yaml#/a' } }",
            "/a: the reference 'other.yaml#/a' leads out of the document; bundle the specification into one file",
        ),
        (
            "openapi: 3.1.0\nservers: [{ url: 'https://example.com' }]\npaths: { /a: { $ref: '#/paths/~1a' } }",
            "/a: the reference at /paths/~1a goes round in a circle",
        ),
    ] {
        let folder = folder_with("");
        std::fs::write(folder.path().join("api.yaml"), spec).expect("a file");
        let output = toolscript(folder.path(), &["run", "--api", "api.yaml", "-e", "return 1"]).output().expect("it runs");
        assert_eq!(String::from_utf8_lossy(&output.stderr), format!("error: the API 'api': api.yaml: {reason}\n"), "{spec}");
        assert_eq!(output.status.code(), Some(2));
    }
}

#[test]
fn wrong_flags_are_told() {
    let folder = folder_with("[apis.shop]\nspec = \"shop.yaml\"\n[mcp_servers.up]\ncommand = \"true\"\n");
    for (arguments, message) in [
        (&["--api", "nowhere.yaml"][..], "the API 'nowhere': can't read nowhere.yaml: No such file or directory (os error 2)"),
        (&["--api", "shop=x.yaml"], "there are two APIs of the name 'shop'; name one with NAME=SPEC"),
        (&["--api", "Pet Shop=x.yaml"], "the API 'Pet Shop': a name is of small letters, digits and underscores, such as 'pet_shop'"),
        (&["--api", "search=x.yaml"], "the API 'search': sdk has a member of that name itself; it needs another"),
        (&["--mcp", "true"], "--mcp true: write NAME=COMMAND or NAME=URL"),
        (&["--mcp", "a='"], "--mcp a=': a quote is not closed"),
        (&["--mcp", "shop=true"], "'shop' is the name of an API and of an MCP server; they need two names"),
        (&["--api-auth", "shop"], "--api-auth shop: write NAME:VARIABLE"),
        (&["--api-auth", "zoo:KEY"], "--api-auth zoo:KEY: there is no API or MCP server 'zoo'; there are shop, up"),
        (&["--api-auth", "shop:NOT_SET"], "the API 'shop': the variable NOT_SET, for its credential, is not set"),
        (&["--allow-private", "zoo"], "--allow-private zoo: there is no API or MCP server 'zoo'; there are shop, up"),
    ] {
        let output = toolscript(folder.path(), &[&["run", "-e", "return 1"], arguments].concat()).output().expect("it runs");
        assert_eq!(String::from_utf8_lossy(&output.stderr), format!("error: {message}\n"), "{arguments:?}");
        assert_eq!(output.status.code(), Some(2));
    }
}
