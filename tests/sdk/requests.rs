//! Requests: encoding of parameters and bodies, and arguments that are rejected before a request is sent.

use crate::support::api_server::{ApiServer, message, result};
use serde_json::{Value, json};

#[test]
fn parameters_are_encoded_in_every_style() {
    let api = ApiServer::start();
    let directory = api.directory("features", "features.json", "");
    let path = |call: &str| result(&directory, &format!("return (sdk.{call}).path"));
    assert_eq!(path("simple{ one = 'a/b', many = { 'x', 'y z' }, fields = { k = 'v' } }"), "/v1/simple/a%2Fb/x,y%20z/k=v");
    assert_eq!(path("label_and_matrix{ one = 'red', many = { 1, 2 } }"), "/v1/label/.red/matrix/;many=1;many=2");
    assert_eq!(
        path("query{ exploded = { 1, 2 }, comma = { 1, 2 }, space = { 'a', 'b' }, pipe = { 'a', 'b' } }"),
        "/v1/query?exploded=1&exploded=2&comma=1,2&space=a%20b&pipe=a%7Cb"
    );
    assert_eq!(path("query{ deep = { a = { b = 1 }, c = 'd' } }"), "/v1/query?deep%5Ba%5D%5Bb%5D=1&deep%5Bc%5D=d");
    assert_eq!(path("query{ json = { a = { 1, true } } }"), "/v1/query?json=%7B%22a%22%3A%5B1%2Ctrue%5D%7D");
    assert_eq!(path("query{ reserved = 'a/b?c', flag = false, ratio = 0.5 }"), "/v1/query?reserved=a/b?c&flag=false&ratio=0.5");
    assert_eq!(path("query()"), "/v1/query");
    assert_eq!(path("query{ [\"search\"] = 'x', ['until'] = 1 }"), "/v1/query?search=x&until=1");
    assert_eq!(path("query{ search = 'x', until_ = 1 }"), "/v1/query?search=x&until=1");
    let sent = result(&directory, "return (sdk.query{ ['X-Trace'] = { 'a' } })");
    assert_eq!(sent["headers"]["x-trace"], "a");
    let sent = result(&directory, "return (sdk.query{ x_trace = { 'a', 'b' }, session = 'x y;z' })");
    assert_eq!((&sent["headers"]["x-trace"], &sent["headers"]["cookie"]), (&json!("a,b"), &json!("session=x%20y%3Bz")));
}

#[test]
fn bodies_are_encoded_by_their_media_type() {
    let api = ApiServer::start();
    let directory = api.directory("features", "features.json", "");
    let sent = |call: &str| -> (Value, Value) {
        let echo = result(&directory, &format!("return (sdk.{call})"));
        (echo["headers"]["content-type"].clone(), echo["body"].clone())
    };
    let form = sent("form{ a = 'x y&z', list = { 1, 2 }, filter = { kind = 'cat' }, object = { b = 1 } }");
    assert_eq!(
        form,
        (json!("application/x-www-form-urlencoded"), json!("a=x+y%26z&filter%5Bkind%5D=cat&list=1&list=2&object=%7B%22b%22%3A1%7D"))
    );
    assert_eq!(sent("text('hellö')"), (json!("text/plain"), json!("hellö")));
    assert_eq!(
        sent("shape{ kind = 'circle', radius = json.null }"),
        (json!("application/json"), json!("{\"kind\":\"circle\",\"radius\":null}"))
    );
    assert_eq!(sent("bytes({ name = 'n' }, 'text')"), (json!("application/octet-stream"), json!("text")));
    let (kind, body) = sent("parts{ file = 'a;b\\r\\n--', meta = { x = 1 }, note = 'n' }");
    let boundary = kind.as_str().and_then(|kind| kind.strip_prefix("multipart/form-data; boundary=")).expect("a boundary").to_owned();
    let body = body.as_str().expect("a string").replace(&boundary, "BOUNDARY");
    let parts = [
        "--BOUNDARY\r\nContent-Disposition: form-data; name=\"file\"; filename=\"file\"\r\n\r\na;b\r\n--\r\n",
        "--BOUNDARY\r\nContent-Disposition: form-data; name=\"meta\"\r\nContent-Type: application/json\r\n\r\n{\"x\":1}\r\n",
        "--BOUNDARY\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\nn\r\n--BOUNDARY--\r\n",
    ];
    assert_eq!(body, parts.concat());
}

#[test]
fn bytes_are_sent_as_parts_of_a_form() {
    let api = ApiServer::start();
    let directory = api.directory("features", "features.json", "");
    let parts = |body: &str| -> String {
        let echo = result(&directory, &format!("return (sdk.parts{body})"));
        let kind = echo["headers"]["content-type"].as_str().expect("a type");
        let boundary = kind.strip_prefix("multipart/form-data; boundary=").expect("a boundary");
        echo["body"].as_str().expect("a string").replace(boundary, "B").replace("\r\n", "\n")
    };
    let part =
        |attributes: &str, contents: &str| format!("--B\nContent-Disposition: form-data; name=\"file\"; {attributes}\n\n{contents}\n");
    let unnamed = part("filename=\"file\"\nContent-Type: application/octet-stream", "\u{fffd}PNG\u{fffd}");
    // The echo server replaces invalid UTF-8.
    assert_eq!(parts("{ file = '\\x89PNG\\xff' }"), format!("{unnamed}--B--\n"));
    assert_eq!(parts("{ file = buffer.fromstring('\\x89PNG\\xff') }"), format!("{unnamed}--B--\n"));
    let named = part("filename=\"a\\\"b.png\"\nContent-Type: image/png", "\u{fffd}");
    assert_eq!(parts("{ file = { data = '\\xff', filename = 'a\"b.png', mime_type = 'image/png' } }"), format!("{named}--B--\n"));
    let text = part("filename=\"notes.txt\"", "plain");
    assert_eq!(parts("{ file = { data = 'plain', filename = 'notes.txt' } }"), format!("{text}--B--\n"));
    // A field that is not a file in the specification can have bytes, too.
    let note = unnamed.replace("\"file\"", "\"note\"");
    assert_eq!(parts("{ note = { '\\x89PNG\\xff', '\\x89PNG\\xff' } }"), format!("{note}{note}--B--\n"));
    let rejected = |script: &str| message(&directory, script);
    let advice = "the bytes are not UTF-8; pass base64.encode(bytes) if the function expects base64";
    assert_eq!(rejected("sdk.parts{ meta = { deep = '\\xff' } }"), format!("script:1: features.parts: body.meta.deep: {advice}"));
    assert_eq!(rejected("sdk.shape{ kind = '\\xff' }"), format!("script:1: features.shape: body.kind: {advice}"));
    assert_eq!(rejected("sdk.query{ search = '\\xff' }"), format!("script:1: features.query: params.search: {advice}"));
    assert_eq!(rejected("sdk.parts('\\xff')"), "script:1: features.parts: the body must be a table, not bytes");
    // A line break would begin another header, which could set a frozen field.
    assert_eq!(
        rejected("sdk.parts{ file = { data = 'x', filename = 'a\\nContent-Disposition: form-data; name=\"other\"' } }"),
        "script:1: features.parts: body.file: the file name must not contain control characters"
    );
    assert_eq!(
        rejected("sdk.parts{ file = { data = 'x', mime_type = 'no type' } }"),
        "script:1: features.parts: body.file: \"no type\" is not a media type"
    );
}

#[test]
fn invalid_arguments_are_reported_and_nothing_is_sent() {
    let api = ApiServer::start();
    let shop = api.directory("shop", "shop.yaml", "");
    for (script, expected) in [
        ("sdk.list_pets{ limit = 500 }", "shop.list_pets: limit: 500 is greater than the maximum of 100"),
        ("sdk.list_pets{ limit = 'many' }", "shop.list_pets: limit: \"many\" is not of type \"integer\""),
        ("sdk.list_pets{ kind = 'cow' }", "shop.list_pets: kind: \"cow\" is not one of \"cat\", \"dog\" or \"fish\""),
        ("sdk.list_pets{ colour = 'red' }", "shop.list_pets: there is no parameter 'colour'; available: limit, kind"),
        (
            "sdk.list_pets('all')",
            "shop.list_pets: the first argument must be a table of parameters, such as {limit = …}; available: limit, kind",
        ),
        ("sdk.list_pets({}, {})", "shop.list_pets: the function takes no body"),
        ("sdk.list_pets({}, nil, 1)", "shop.list_pets: the function takes at most two arguments: parameters and a body"),
        ("sdk.get_pet()", "shop.get_pet: the parameter 'pet_id' is missing"),
        ("sdk.get_pet{ pet_id = 1.5 }", "shop.get_pet: pet_id: 1.5 is not of type \"integer\""),
        ("sdk.create_pet{ kind = 'cat' }", "shop.create_pet: body: \"name\" is a required property"),
        (
            "sdk.create_pet{ name = 'a', parents = { { id = 1, name = 7 } } }",
            "shop.create_pet: body.parents[1].name: 7 is not of type \"string\"",
        ),
        ("sdk.create_pet(buffer.create(1))", "shop.create_pet: the body must be a table, not bytes"),
    ] {
        assert_eq!(message(&shop, script), format!("script:1: {expected}"), "{script}");
    }
    let features = api.directory("features", "features.json", "");
    for (script, expected) in [
        ("sdk.query{ ratio = 0 }", "features.query: ratio: 0 is less than or equal to the minimum of 0"),
        ("sdk.simple{ one = '..', many = { 'a' }, fields = { b = 1 } }", "features.simple: one can't be '..' in a path"),
        ("sdk.simple{ one = '', many = { 'a' }, fields = { b = 1 } }", "features.simple: one can't be '' in a path"),
        ("sdk.simple{ one = 'a', many = { { 'a' } }, fields = { b = 1 } }", "features.simple: many[1]: [\"a\"] is not of type \"string\""),
        (
            "sdk.simple{ one = 'a', many = { 'a' }, fields = { b = { 1 } } }",
            "features.simple: fields has nested values, which its parameter style does not support",
        ),
        ("sdk.query{ x_trace = { 'a\\r\\nb' } }", "features.query: x_trace has a character that is not allowed in a header"),
        ("sdk.text(7)", "features.text: the body is text/plain; pass a string or a buffer"),
    ] {
        assert_eq!(message(&features, script), format!("script:1: {expected}"), "{script}");
    }
    let shape = message(&features, "sdk.shape{ kind = 'group', members = { { kind = 'square' } } }");
    assert!(
        shape.starts_with("script:1: features.shape: body: {")
            && shape.ends_with("is not valid under any of the schemas listed in the 'oneOf' keyword"),
        "{shape}"
    );
    assert_eq!(api.paths(), Vec::<String>::new());
    // A recursive schema accepts nested groups.
    let deep =
        "return (sdk.shape{ kind = 'group', members = { { kind = 'group', members = {} }, { kind = 'circle', radius = 1 } } }).method";
    assert_eq!(result(&features, deep), "POST");
}

#[test]
fn an_empty_table_becomes_an_array_or_an_object_by_the_schema() {
    let api = ApiServer::start();
    let directory = api.directory("features", "features.json", "");
    assert_eq!(
        result(&directory, "return (sdk.parts{}).method, (sdk.query{ exploded = {} }).path, (sdk.query{ json = {} }).path"),
        json!(["POST", "/v1/query", "/v1/query?json=%7B%7D"])
    );
}
