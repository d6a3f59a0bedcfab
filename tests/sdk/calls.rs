//! Calls of API operations: results, errors, and files that scripts write with them.

use crate::support::api_server::{ApiServer, message, outcome, result, run, specification, toolscript};
use serde_json::json;
use std::fs;

/// One script turns ten thousand rows of an API into a file.
#[test]
fn a_script_writes_the_rows_of_an_api_to_a_file() {
    let api = ApiServer::start();
    let directory = api.directory("shop", "shop.yaml", "");
    let script = r#"
        local response = sdk.response(sdk.list_transactions, { limit = 10000 })
        local rows = response.body
        local file = io.open("transactions.csv", "w")
        file:write("id,amount,at,note\n")
        local total = 0
        for _, row in rows do
            local note = if row.note == nil then "" else '"' .. row.note:gsub('"', '""') .. '"'
            file:write(("%d,%.2f,%s,%s\n"):format(row.id, row.amount, row.at, note))
            total += row.amount
        end
        file:close()
        return { rows = #rows, total = total, status = response.status, kind = response.headers["content-type"] }
    "#;
    let outcome = run(&directory, script);
    assert_eq!(outcome["result"], json!({ "rows": 10_000, "total": 500_000, "status": 200, "kind": "application/json" }), "{outcome}");
    let csv = fs::read_to_string(directory.path().join("toolscript-files/transactions.csv")).expect("the file exists");
    assert_eq!(outcome["files_touched"], json!([{ "name": "transactions.csv", "op": "write", "bytes": csv.len() }]));
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(
        (lines.len(), lines[1], lines[7]),
        (10_001, "1,1.50,2026-01-02T00:00:00Z,", "7,7.50,2026-01-08T00:00:00Z,\"number \"\"7\"\", paid\"")
    );
    assert_eq!(api.paths(), ["/v1/transactions?limit=10000"]);
}

#[test]
fn a_function_is_called_with_or_without_the_name_of_its_api() {
    let api = ApiServer::start();
    let directory = api.directory("shop", "shop.yaml", "");
    let script = "return sdk.shop.get_pet({ pet_id = 1 }).name, sdk.get_pet({ pet_id = 1 }).nick == nil, (sdk.shop.remove_pet({ pet_id = 7 })).method";
    assert_eq!(result(&directory, script), json!(["Mia", true, "DELETE"]));
    let names = "local names = {} for name in sdk.shop do table.insert(names, name) end table.sort(names) return names";
    assert_eq!(result(&directory, names), json!(["create_pet", "get_pet", "list_pets", "list_transactions", "remove_pet"]));
    let misspelled = "script:1: there is no function 'shop.lst_pets'; did you mean shop.list_pets, shop.create_pet, shop.get_pet?";
    assert_eq!(message(&directory, "sdk.shop.lst_pets()"), misspelled);
    assert_eq!(message(&directory, "sdk.zoo.list()"), "script:1: there is no function 'zoo'; use sdk.search to find functions");
    let read_only = "return pcall(function() sdk.shop.x = 1 end), getmetatable(sdk.shop)";
    assert_eq!(result(&directory, read_only), json!([false, "The metatable is locked"]));
}

#[test]
fn a_misspelled_name_lists_the_nearest_names() {
    let api = ApiServer::start();
    let directory = api.directory("shop", "shop.yaml", "");
    for (script, error) in [
        ("sdk.shop.list_transaction()", "'shop.list_transaction'; did you mean shop.list_transactions"),
        ("sdk.gte_pet()", "'gte_pet'; did you mean shop.get_pet"),
        ("sdk.shop.createPets()", "'shop.createPets'; did you mean shop.create_pet"),
        ("sdk.shp.list_pets()", "'shp'; did you mean shop"),
    ] {
        let message = message(&directory, script);
        assert!(message.starts_with(&format!("script:1: there is no function {error}")), "{message}");
    }
}

#[test]
fn operation_ids_are_names_too() {
    let api = ApiServer::start();
    let directory = api.directory("shop", "shop.yaml", "");
    let script = "local f = sdk.shop.removePet local id = { pet_id = 7 }
        return (f(id)).method, (sdk.removePet(id)).method, f == sdk.shop.removePet, (sdk.all({ { sdk.removePet, id } }))[1].method, sdk.shop['get-pet']({ pet_id = 1 }).name";
    assert_eq!(result(&directory, script), json!(["DELETE", "DELETE", true, "DELETE", "Mia"]));
    // Only the names in snake case are listed.
    let names = "local count = 0 local _ = sdk.shop.removePet for name in sdk.shop do count += 1 end return count";
    assert_eq!(result(&directory, names), json!(5));
    let message = message(&directory, "sdk.shop.removePet({})");
    assert!(message.starts_with("script:1: shop.remove_pet: "), "{message}");
}

#[test]
fn a_call_with_a_colon_says_to_use_a_dot() {
    let api = ApiServer::start();
    let directory = api.directory("shop", "shop.yaml", "");
    for (script, name) in [
        ("sdk.shop:get_pet({ pet_id = 1 })", "shop.get_pet"),
        ("sdk:get_pet({ pet_id = 1 })", "get_pet"),
        ("sdk.shop:removePet({ pet_id = 1 })", "shop.removePet"),
        ("sdk:all({})", "all"),
        ("sdk:search('pets')", "search"),
        ("sdk:docs('shop')", "docs"),
    ] {
        assert_eq!(message(&directory, script), format!("script:1: {name}: call it with a dot: sdk.{name}(...)"));
    }
    // A frozen table of the script is an argument like any other.
    assert_eq!(result(&directory, "return sdk.get_pet(table.freeze({ pet_id = 1 })).name"), json!("Mia"));
    assert_eq!(api.paths(), ["/v1/pets/1"]);
}

#[test]
fn name_clashes_are_reported_and_every_operation_is_callable() {
    let api = ApiServer::start();
    let directory = api.directory("features", "features.json", "");
    let script = "return sdk.get_names().method, sdk.get_names_2().method, sdk.post_names().method, sdk.end_().method, sdk.features.search().method, type(sdk.search)";
    let output = toolscript(directory.path(), &["run", "--json", "-e", script]).output().expect("toolscript runs");
    assert_eq!(outcome(&output)["result"], json!(["GET", "PUT", "POST", "DELETE", "PATCH", "function"]));
    let note = "note: the API 'features': PUT /names is named get_names_2, because GET /names is already named get_names\n";
    assert_eq!(String::from_utf8_lossy(&output.stderr), note);
}

#[test]
fn a_name_that_two_apis_have_needs_the_name_of_the_api() {
    let api = ApiServer::start();
    let directory = api.directory("shop", "shop.yaml", "");
    let spec = specification("shop.yaml").display().to_string();
    let arguments = [
        "run",
        "--json",
        "--api",
        &format!("other={spec}"),
        "-e",
        "return (pcall(function() return sdk.list_pets end)), #sdk.shop.list_pets(), type(sdk.other.list_pets)",
    ];
    let output = toolscript(directory.path(), &arguments).output().expect("toolscript runs");
    assert_eq!(outcome(&output)["result"], json!([false, 2, "function"]));
}

#[test]
fn responses_are_decoded_by_their_media_type() {
    let api = ApiServer::start();
    let directory = api.directory("features", "features.json", "");
    let response = |script: &str| result(&directory, script);
    assert_eq!(response("local picture = sdk.answer{ what = 'picture' } return #picture, picture:byte(256)"), json!([256, 255]));
    assert_eq!(response("return (sdk.answer{ what = 'text' })"), json!("<p>hellö</p>"));
    assert_eq!(response("local r = sdk.response(sdk.answer, { what = 'nothing' }) return r.body == nil, r.status"), json!([true, 204]));
    assert_eq!(response("return (sdk.answer{ what = 'null' }) == nil"), json!(true));
    // A redirect is returned, not followed.
    assert_eq!(response("return sdk.response(sdk.answer, { what = 'redirect' }).status"), json!(302));
    assert!(!api.paths().contains(&"/secret".to_owned()));
    // A new cookie is a credential.
    let headers = "local h = sdk.response(sdk.answer, { what = 'cookie' }).headers \
        return h.ETag == h.etag and h.etag ~= nil, h.nothing == nil, h[1] == nil, json.decode(json.encode(h)).etag == h.etag, pcall(setmetatable, h, {})";
    assert_eq!(response(headers), json!([true, true, true, true, false, "cannot change a protected metatable"]));
    assert_eq!(
        response("local r = sdk.response(sdk.answer, { what = 'cookie' }) return r.headers.etag, r.headers['set-cookie']"),
        json!(["\"7\"", null])
    );
    let message = message(&directory, "sdk.answer{ what = 'no_json' }");
    assert!(message.starts_with("script:1: features.answer: the response is not valid JSON: "), "{message}");
}

#[test]
fn an_error_status_is_raised_with_the_start_of_the_body() {
    let api = ApiServer::start();
    let directory = api.directory("shop", "shop.yaml", "");
    let missing = "script:1: shop.get_pet: 404 Not Found: {\"error\":\"there is no pet 404\"}";
    assert_eq!(message(&directory, "print('so far') sdk.get_pet{ pet_id = 404 }"), missing);
    assert_eq!(run(&directory, "print('so far') sdk.get_pet{ pet_id = 404 }")["logs"], json!(["so far"]));
    let directory = api.directory("features", "features.json", "");
    let failure = message(&directory, "sdk.answer{ what = 'failure' }");
    assert_eq!(
        failure,
        format!(
            "script:1: features.answer: 500 Internal Server Error: {}… (9000 bytes in total)",
            "it broke ".repeat(56).trim_end().get(..500).unwrap_or_default()
        )
    );
}

#[test]
fn an_error_has_the_status_the_headers_and_the_body_of_the_response() {
    let api = ApiServer::start();
    let directory = api.directory("features", "features.json", "");
    let script = "local ok, err = pcall(sdk.answer, { what = 'limited' })
        return ok, err.name, err.status, err.body.code, err.retry_after, err.headers['retry-after'], err.headers['set-cookie'], err:match('%d+')";
    assert_eq!(result(&directory, script), json!([false, "features.answer", 429, "rate", 2, "2", null, "429"]));
    let response = "local r = sdk.response(sdk.answer, { what = 'limited' }) return r.ok, r.status, r.body.code, r.retry_after, r.headers['set-cookie']";
    assert_eq!(result(&directory, response), json!([false, 429, "rate", 2, null]));
    let invalid = "local r = sdk.response(sdk.answer, { what = 'failed_no_json' }) return r.status, r.body, r.retry_after";
    assert_eq!(result(&directory, invalid), json!([502, "<html>", 0]));
    let raised = message(&directory, "sdk.response(sdk.answer, {})");
    assert!(raised.starts_with("script:1: features.answer: "), "{raised}");
}

#[test]
fn concurrent_calls_return_their_results_in_order() {
    let api = ApiServer::start();
    let directory = api.directory("shop", "shop.yaml", "");
    let script = "
        local results = sdk.all{
            { sdk.shop.get_pet, { pet_id = 1 } },
            { sdk.list_transactions, { limit = 3 } },
            { sdk.create_pet, { name = 'New' } },
            { sdk.list_pets },
        }
        return #results, results[1].name, #results[2], results[3].method, #results[4]";
    assert_eq!(result(&directory, script), json!([4, "Mia", 3, "POST", 2]));
    assert_eq!(
        message(&directory, "sdk.all{ { sdk.list_pets }, { sdk.get_pet, { pet_id = 404 } } }"),
        "script:1: call 2: shop.get_pet: 404 Not Found: {\"error\":\"there is no pet 404\"}"
    );
    let kept = "local results = sdk.all({ { sdk.get_pet, { pet_id = 404 } }, { sdk.list_pets } }, { errors = 'return' }) return results[1], results[1].error.status, #results[2]";
    let error = "shop.get_pet: 404 Not Found: {\"error\":\"there is no pet 404\"}";
    assert_eq!(result(&directory, kept), json!([{ "error": error }, 404, 2]));
    assert_eq!(result(&directory, "return #sdk.all{}"), json!(0));
    for (script, expected) in [
        ("sdk.all()", "script:1: missing argument #1 to 'all' (table expected)"),
        ("sdk.all{ sdk.list_pets }", "script:1: call 1 must be a table that starts with an sdk function, such as {sdk.f, {id = 1}}"),
        ("sdk.all{ { print } }", "script:1: call 1 must be a table that starts with an sdk function, such as {sdk.f, {id = 1}}"),
        ("sdk.all({}, { errors = 'no' })", "script:1: errors must be \"raise\" or \"return\", not \"no\""),
        ("sdk.all{ { sdk.get_pet, { pet_id = print } } }", "script:1: argument.pet_id is a function: it can't be written as JSON"),
    ] {
        assert_eq!(message(&directory, script), expected);
    }
}

#[test]
fn concurrent_calls_count_towards_the_limit() {
    let api = ApiServer::start();
    let directory = api.directory("shop", "shop.yaml", "[limits]\napi_calls = 3\n");
    let script = "
        print(#sdk.all{ { sdk.list_pets }, { sdk.list_pets } })
        pcall(sdk.all, { { sdk.list_pets }, { sdk.list_pets } })
        print('caught')";
    let output = toolscript(directory.path(), &["run", "--json", "-e", script]).output().expect("toolscript runs");
    let message = "3 function calls were made, the limit; if this is a loop over pages, check that the cursor ends";
    assert_eq!(outcome(&output)["error"], json!({ "kind": "calls", "message": message }));
    assert_eq!((&outcome(&output)["logs"], output.status.code()), (&json!(["2"]), Some(3)));
    assert_eq!(api.paths().len(), 2, "rejected calls are not sent");
}

#[test]
fn the_body_is_the_second_argument_or_the_first_if_there_are_no_parameters() {
    let api = ApiServer::start();
    let directory = api.directory("features", "features.json", "");
    assert_eq!(result(&directory, "return sdk.text('a').body, sdk.text(nil, 'b').body, sdk.text({}, 'c').body"), json!(["a", "b", "c"]));
    assert_eq!(result(&directory, "return sdk.bytes({ name = 'x' }, buffer.fromstring('\\1\\2')).body"), json!("\u{1}\u{2}"));
    let directory = api.directory("shop", "shop.yaml", "");
    assert_eq!(message(&directory, "sdk.create_pet()"), "script:1: shop.create_pet: the body is missing; pass it as the second argument");
}
