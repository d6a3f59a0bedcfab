//! Operations of an API as functions of scripts: what they return, raise, and leave on disk.

use crate::support::api_server::{ApiServer, message, result, run, specification, toolscript};
use serde_json::json;
use std::fs;

/// From a specification to a file: ten thousand rows by one call of the model.
#[test]
fn transactions_become_a_table_on_disk() {
    let api = ApiServer::start();
    let folder = api.folder("shop", "shop.yaml", "");
    let script = r#"
        local rows, details = sdk.list_transactions({ limit = 10000 })
        local file = io.open("transactions.csv", "w")
        file:write("id,amount,at,note\n")
        local total = 0
        for _, row in rows do
            local note = if row.note == json.null then "" else '"' .. row.note:gsub('"', '""') .. '"'
            file:write(("%d,%.2f,%s,%s\n"):format(row.id, row.amount, row.at, note))
            total += row.amount
        end
        file:close()
        return { rows = #rows, total = total, status = details.status, kind = details.headers["content-type"] }
    "#;
    let outcome = run(&folder, script);
    assert_eq!(outcome["result"], json!({ "rows": 10_000, "total": 500_000, "status": 200, "kind": "application/json" }), "{outcome}");
    let csv = fs::read_to_string(folder.path().join("toolscript-files/transactions.csv")).expect("the file");
    assert_eq!(outcome["files_touched"], json!([{ "name": "transactions.csv", "op": "write", "bytes": csv.len() }]));
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(
        (lines.len(), lines[1], lines[7]),
        (10_001, "1,1.50,2026-01-02T00:00:00Z,", "7,7.50,2026-01-08T00:00:00Z,\"number \"\"7\"\", paid\"")
    );
    assert_eq!(api.paths(), ["/v1/transactions?limit=10000"]);
}

#[test]
fn functions_have_the_names_of_operations_with_and_without_their_api() {
    let api = ApiServer::start();
    let folder = api.folder("shop", "shop.yaml", "");
    let script = "return sdk.shop.get_pet({ pet_id = 1 }).name, sdk.get_pet({ pet_id = 1 }).nick == json.null, (sdk.shop.remove_pet({ pet_id = 7 })).method";
    assert_eq!(result(&folder, script), json!(["Mia", true, "DELETE"]));
    let names = "local names = {} for name in sdk.shop do table.insert(names, name) end table.sort(names) return names";
    assert_eq!(result(&folder, names), json!(["create_pet", "get_pet", "list_pets", "list_transactions", "remove_pet"]));
    let misspelt = "script:1: there is no function 'shop.lst_pets'; there are shop.list_pets, shop.create_pet, shop.get_pet";
    assert_eq!(message(&folder, "sdk.shop.lst_pets()"), misspelt);
    assert_eq!(message(&folder, "sdk.zoo.list()"), "script:1: there is no function 'zoo'; sdk.search finds functions by what they do");
    let frozen = "return pcall(function() sdk.shop.x = 1 end), getmetatable(sdk.shop)";
    assert_eq!(result(&folder, frozen), json!([false, "The metatable is locked"]));
}

#[test]
fn names_that_clash_are_told_and_none_is_lost() {
    let api = ApiServer::start();
    let folder = api.folder("features", "features.json", "");
    let output = toolscript(
        folder.path(),
        &[
            "run",
            "--json",
            "-e",
            "return sdk.get_names().method, sdk.get_names_2().method, sdk.post_names().method, sdk.end_().method, sdk.features.search().method, type(sdk.search)",
        ],
    );
    let output = { output }.output().expect("it runs");
    assert_eq!(crate::support::api_server::outcome(&output)["result"], json!(["GET", "PUT", "POST", "DELETE", "PATCH", "function"]));
    let note = "note: the API 'features': PUT /names is get_names_2, as get_names is GET /names already\n";
    assert_eq!(String::from_utf8_lossy(&output.stderr), note);
}

#[test]
fn two_apis_share_no_name() {
    let api = ApiServer::start();
    let folder = api.folder("shop", "shop.yaml", "");
    let spec = specification("shop.yaml").display().to_string();
    let arguments = [
        "run",
        "--json",
        "--api",
        &format!("other={spec}"),
        "-e",
        "return (pcall(function() return sdk.list_pets end)), #sdk.shop.list_pets(), type(sdk.other.list_pets)",
    ];
    let output = toolscript(folder.path(), &arguments).output().expect("it runs");
    assert_eq!(crate::support::api_server::outcome(&output)["result"], json!([false, 2, "function"]));
}

#[test]
fn answers_are_decoded_by_their_type() {
    let api = ApiServer::start();
    let folder = api.folder("features", "features.json", "");
    let answer = |script: &str| result(&folder, script);
    assert_eq!(answer("local snapshot = sdk.answer{ what = 'snapshot' } return #snapshot, snapshot:byte(256)"), json!([256, 255]));
    assert_eq!(answer("return (sdk.answer{ what = 'text' })"), json!("<p>hellö</p>"));
    assert_eq!(answer("local body, details = sdk.answer{ what = 'nothing' } return body == nil, details.status"), json!([true, 204]));
    assert_eq!(answer("return (sdk.answer{ what = 'null' }) == nil"), json!(true));
    // A redirect is an answer like any other: nobody goes there.
    assert_eq!(answer("local _, details = sdk.answer{ what = 'redirect' } return details.status"), json!(302));
    assert!(!api.paths().contains(&"/secret".to_owned()));
    // A cookie that is set is a credential.
    assert_eq!(
        answer("local _, details = sdk.answer{ what = 'cookie' } return details.headers.etag, details.headers['set-cookie']"),
        json!(["\"7\"", null])
    );
    let message = message(&folder, "sdk.answer{ what = 'no_json' }");
    assert!(message.starts_with("script:1: features.answer: the API's answer is not the JSON that it says it is: "), "{message}");
}

#[test]
fn a_status_of_an_error_is_raised_with_the_start_of_the_body() {
    let api = ApiServer::start();
    let folder = api.folder("shop", "shop.yaml", "");
    let missing = "script:1: shop.get_pet: 404 Not Found: {\"error\":\"there is no pet 404\"}";
    assert_eq!(message(&folder, "print('so far') sdk.get_pet{ pet_id = 404 }"), missing);
    assert_eq!(run(&folder, "print('so far') sdk.get_pet{ pet_id = 404 }")["logs"], json!(["so far"]));
    let folder = api.folder("features", "features.json", "");
    let failure = message(&folder, "sdk.answer{ what = 'failure' }");
    assert_eq!(
        failure,
        format!(
            "script:1: features.answer: 500 Internal Server Error: {}… (9000 bytes in all)",
            "it broke ".repeat(56).trim_end().get(..500).unwrap_or_default()
        )
    );
}

#[test]
fn several_calls_are_made_at_once_and_answered_in_order() {
    let api = ApiServer::start();
    let folder = api.folder("shop", "shop.yaml", "");
    let script = "
        local results, details = sdk.all{
            { sdk.shop.get_pet, { pet_id = 1 } },
            { sdk.list_transactions, { limit = 3 } },
            { sdk.create_pet, { name = 'New' } },
            { sdk.list_pets },
        }
        return #results, results[1].name, #results[2], results[3].method, #results[4], details[4].status";
    assert_eq!(result(&folder, script), json!([4, "Mia", 3, "POST", 2, 200]));
    assert_eq!(
        message(&folder, "sdk.all{ { sdk.list_pets }, { sdk.get_pet, { pet_id = 404 } } }"),
        "script:1: call 2: shop.get_pet: 404 Not Found: {\"error\":\"there is no pet 404\"}"
    );
    let kept = "local results, details = sdk.all({ { sdk.get_pet, { pet_id = 404 } }, { sdk.list_pets } }, { errors = 'return' }) return results[1] == nil, details[1].error, #results[2]";
    assert_eq!(result(&folder, kept), json!([true, "shop.get_pet: 404 Not Found: {\"error\":\"there is no pet 404\"}", 2]));
    assert_eq!(result(&folder, "return #sdk.all{}"), json!(0));
    for (script, expected) in [
        ("sdk.all()", "script:1: missing argument #1 to 'all' (table expected)"),
        ("sdk.all{ sdk.list_pets }", "script:1: call 1 must be a table that starts with an sdk function, such as {sdk.f, {id = 1}}"),
        ("sdk.all{ { print } }", "script:1: call 1 must be a table that starts with an sdk function, such as {sdk.f, {id = 1}}"),
        ("sdk.all({}, { errors = 'no' })", "script:1: errors must be \"raise\" or \"return\", not \"no\""),
        ("sdk.all{ { sdk.get_pet, { pet_id = print } } }", "script:1: argument.pet_id is a function: it can't be written as JSON"),
    ] {
        assert_eq!(message(&folder, script), expected);
    }
}

#[test]
fn calls_are_counted_those_at_once_too() {
    let api = ApiServer::start();
    let folder = api.folder("shop", "shop.yaml", "[limits]\napi_calls = 3\n");
    let script = "
        local calls = {}
        for i = 1, 4 do calls[i] = { sdk.list_pets } end
        local ok, why = pcall(sdk.all, calls)
        table.remove(calls)
        return ok, why, #sdk.all(calls), pcall(sdk.list_pets)";
    let refusal = "too many function calls (max 3)";
    assert_eq!(result(&folder, script), json!([false, refusal, 3, false, refusal]));
    assert_eq!(api.paths().len(), 3, "none of those that were too many");
}

#[test]
fn the_second_argument_is_the_body_and_the_first_where_there_are_no_parameters() {
    let api = ApiServer::start();
    let folder = api.folder("features", "features.json", "");
    assert_eq!(result(&folder, "return sdk.text('a').body, sdk.text(nil, 'b').body, sdk.text({}, 'c').body"), json!(["a", "b", "c"]));
    assert_eq!(result(&folder, "return sdk.bytes({ name = 'x' }, buffer.fromstring('\\1\\2')).body"), json!("\u{1}\u{2}"));
    let folder = api.folder("shop", "shop.yaml", "");
    assert_eq!(message(&folder, "sdk.create_pet()"), "script:1: shop.create_pet: the body is missing: it is the second argument");
}
