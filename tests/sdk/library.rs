//! `toolscript::sdk`, as a Rust program uses it.

use crate::support::{
    api_server::{ApiServer, specification},
    outcome, run_with,
    upstream_server::{program, running_processes},
    wait_for,
};
use serde_json::{Value, json};
use std::{collections::BTreeMap, error::Error as _, sync::Arc};
use tempfile::TempDir;
use toolscript::{
    RunOptions,
    sdk::{ApiOptions, McpServerOptions, Note, Sdk, SdkError, Secret, Session, SourceError, SourceKind},
};

/// The options of an API of the test server.
fn options(api: &ApiServer, spec: &str) -> ApiOptions {
    let base_url = format!("{}/v1", api.url).parse().expect("a URL");
    ApiOptions::new(specification(spec).to_string_lossy()).with_base_url(base_url).with_allow_private(true)
}

async fn result(sdk: &Arc<Sdk>, script: &str) -> Value {
    outcome(&run_with(script, RunOptions::default().with_functions(Arc::clone(sdk))).await)["result"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_specification_becomes_functions() {
    let api = ApiServer::start();
    let shop = options(&api, "shop.yaml").with_read_only(true).with_deny(["list_transactions"]);
    let sdk = Arc::new(Sdk::builder().api("shop", shop).build().await.expect("an SDK"));
    assert_eq!(sdk.notes(), []);
    let [source] = sdk.sources().try_into().expect("one source");
    assert_eq!((source.kind, source.title.as_str(), source.down), (SourceKind::OpenApi, "Pet shop 1.2.0", None));
    assert_eq!(source.functions, ["get_pet", "list_pets"]);
    assert_eq!(result(&sdk, "return sdk.get_pet({ pet_id = 1 }).name, #sdk.shop.list_pets()").await, json!(["Mia", 2]));
    assert_eq!(sdk.search_functions("lists pets")[0].full_name(), "shop.list_pets");
    let unknown = sdk.overview(Some("zoo")).expect_err("no such API");
    assert_eq!(unknown.to_string(), "there is no API or MCP server 'zoo'; available: shop");
    assert_eq!(sdk.docs_for("zoo").expect_err("no such API").to_string(), "there is no function 'zoo'; use sdk.search to find functions");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_replaces_the_credential_for_one_run() {
    let api = ApiServer::start();
    let shop = options(&api, "shop.yaml").with_auth("owners-token");
    let sdk = Arc::new(Sdk::builder().api("shop", shop).build().await.expect("an SDK"));
    let script = "return (sdk.get_pet{ pet_id = 7 }).headers.authorization";
    let credentials = BTreeMap::from([("shop".to_owned(), Secret::new("tenants-token"))]);
    let session = Session::new(Arc::clone(&sdk), credentials).expect("a session");
    assert!(!format!("{session:?}").contains("tenants-token"));
    let run = run_with(script, RunOptions::default().with_functions(session)).await;
    assert_eq!(outcome(&run)["result"], "Bearer [redacted]");
    assert_eq!(api.last_request("/v1/pets/7")["headers"]["authorization"], "Bearer tenants-token");
    assert_eq!(result(&sdk, script).await, "Bearer [redacted]");
    assert_eq!(api.last_request("/v1/pets/7")["headers"]["authorization"], "Bearer owners-token");
    let unknown = Session::new(sdk, BTreeMap::from([("zoo".to_owned(), Secret::new("tenants-token"))]));
    assert_eq!(unknown.expect_err("no such API").to_string(), "there is no API or MCP server 'zoo'");
}

#[tokio::test]
async fn errors_keep_their_sources() {
    let error = Sdk::builder().api("shop", ApiOptions::new("missing.yaml")).build().await.expect_err("no such file");
    assert_eq!(error.to_string(), "can't load the API 'shop'");
    let reason = error.source().expect("a reason");
    assert_eq!(reason.to_string(), "can't read missing.yaml");
    assert_eq!(reason.source().expect("a cause").to_string(), "No such file or directory (os error 2)");
    assert!(matches!(error, SdkError::Api { reason: SourceError::Read { .. }, .. }));

    let twice = Sdk::builder().api("shop", ApiOptions::new("a.yaml")).mcp_server("shop", McpServerOptions::command("true"));
    let error = twice.build().await.expect_err("the names are equal");
    assert_eq!(error.to_string(), "the name 'shop' is used twice; rename one of the APIs or MCP servers");

    for (options, message) in [
        (McpServerOptions::command("true").with_auth("token"), "headers, auth and auth_env require a url"),
        (
            McpServerOptions::url("http://localhost/".parse().expect("a URL")).with_args(["x"]),
            "args, env and inherit_env require a command",
        ),
        (McpServerOptions::url("ftp://localhost/".parse().expect("a URL")), "ftp://localhost/ is not an HTTP(S) URL"),
        (McpServerOptions::default(), "set either command or url"),
        (McpServerOptions::command("true").with_allow(["["]), "invalid pattern '[': unclosed character class; missing ']'"),
        (McpServerOptions::url("http://localhost/".parse().expect("a URL")).with_auth(""), "auth is empty"),
    ] {
        let error = Sdk::builder().mcp_server("up", options).build().await.expect_err(message);
        assert_eq!(error.source().expect("a reason").to_string(), message);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn notes_report_name_clashes_and_servers_that_are_down() {
    let api = ApiServer::start();
    let builder = Sdk::builder().api("features", options(&api, "features.json"));
    let sdk = builder.mcp_server("gone", McpServerOptions::command("no-such-program-anywhere")).build().await.expect("an SDK");
    let [Note::ApiNameClash { api, .. }, Note::McpServerDown { server, reason, .. }] = sdk.notes() else { panic!("{:?}", sdk.notes()) };
    assert_eq!((api.as_str(), server.as_str(), reason.as_str()), ("features", "gone", "it can't be started"));
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_fail_at_once_after_the_sdk_is_closed() {
    let markers = TempDir::new().expect("a directory");
    let path = markers.path().to_string_lossy().into_owned();
    let server = McpServerOptions::command(program().to_string_lossy()).with_env("MARKERS", path);
    let sdk = Arc::new(Sdk::builder().mcp_server("up", server).build().await.expect("an SDK"));
    assert_eq!(result(&sdk, "return sdk.up.add{ a = 1, b = 1 }.sum").await, 2);
    sdk.close();
    wait_for(|| running_processes(markers.path()) == 0).await;
    let error = result(&sdk, "return select(2, pcall(sdk.up.add, { a = 1, b = 1 }))").await;
    assert_eq!(error, "up.add: the server is down: the connection is closed");
}

#[tokio::test(flavor = "multi_thread")]
async fn dropping_the_sdk_kills_the_programs_that_it_started() {
    let markers = TempDir::new().expect("a directory");
    let path = markers.path().to_string_lossy().into_owned();
    let server = McpServerOptions::command(program().to_string_lossy()).with_env("MARKERS", path);
    let sdk = Arc::new(Sdk::builder().mcp_server("up", server).build().await.expect("an SDK"));
    assert_eq!(result(&sdk, "return sdk.up.add{ a = 1, b = 1 }.sum").await, 2);
    assert_eq!(running_processes(markers.path()), 1);
    drop(sdk);
    wait_for(|| running_processes(markers.path()) == 0).await;
    // The task that restarts a lost server has ended too.
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    assert_eq!(running_processes(markers.path()), 0);
}
