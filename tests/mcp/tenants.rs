//! Tenants: each has its own files, sessions, notifications and limits, and no access to those of others.

use crate::support::{
    http_server::{Events, HttpServer, call, wait_for_async},
    key_server::KeyServer,
    server_process::{CANARY, temp_directory_with_config},
    wait_for,
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::{fs, path::Path};
use tempfile::TempDir;

async fn start(keys: &KeyServer, config: &str) -> (TempDir, HttpServer) {
    let directory = temp_directory_with_config(config);
    let server = start_in(directory.path(), keys);
    (directory, server)
}

fn start_in(directory: &Path, keys: &KeyServer) -> HttpServer {
    let flags = keys.flags();
    let mut flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    flags.extend(["--io-dir", "files"]);
    HttpServer::start(directory, &flags)
}

/// Returns the names of the tenants' directories.
fn tenant_directories(directory: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(directory.join("files")) else { return Vec::new() };
    entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8")).collect()
}

/// Waits until a tenant has a file with the name `started`.
async fn wait_for_start(directory: &Path) {
    let has_started = |name: &String| directory.join("files").join(name).join("started").exists();
    wait_for(|| tenant_directories(directory).iter().any(has_started)).await;
}

#[tokio::test]
async fn each_tenant_has_files_in_a_directory_named_by_a_hash() {
    let keys = KeyServer::start().await;
    let (directory, server) = start(&keys, "").await;
    let mut alice = server.client().with_token(&keys.token("alice@example.com"));
    let mut eve = server.client().with_token(&keys.token("../../eve"));
    alice.result("io.open('secret.txt', 'w'):write('of alice'):close()").await;
    assert_eq!(alice.result("return io.open('secret.txt'):read('*a')").await, "of alice");

    assert_eq!(eve.result("return io.list()").await, json!([]));
    let names = tenant_directories(directory.path());
    assert_eq!(names.len(), 1, "eve has not written a file yet");
    assert!(names[0].len() == 32 && names[0].bytes().all(|byte| byte.is_ascii_hexdigit()), "{names:?}");
    let attempts = format!("io.open('../{0}/secret.txt'), io.open('{0}/secret.txt'), io.open('secret.txt')", names[0]);
    for attempt in attempts.split(", ") {
        let failed: Value = eve.run(attempt).await;
        assert_eq!(failed["isError"], true, "{attempt}");
    }
    let read = eve.ask("resources/read", json!({ "uri": "io:///secret.txt" })).await;
    let missing = eve.ask("resources/read", json!({ "uri": "io:///nothing.txt" })).await;
    assert_eq!(read.last()["error"]["message"], "Resource not found: secret.txt: No such file or directory");
    assert_eq!(read.last()["error"]["code"], missing.last()["error"]["code"]);
    assert_eq!(eve.ask("resources/list", json!({})).await.last()["result"]["resources"], json!([]));

    for (tool, arguments, expected) in [
        ("read_file", json!({ "path": "secret.txt" }), "secret.txt: No such file or directory"),
        ("read_file", json!({ "path": format!("../{}/secret.txt", names[0]) }), "path cannot contain '..' traversal"),
        ("edit_file", json!({ "path": "secret.txt", "old": "of", "new": "by" }), "secret.txt: No such file or directory"),
        ("list_files", json!({ "path": names[0] }), &format!("{}: No such file or directory", names[0])),
        ("list_files", json!({}), "(the directory is empty)"),
        ("glob_files", json!({ "pattern": "**" }), "(no matches)"),
        ("grep_files", json!({ "pattern": "alice" }), "(no matches in 0 files)"),
    ] {
        let answer = eve.ask("tools/call", json!({ "name": tool, "arguments": arguments })).await;
        assert_eq!(answer.last()["result"]["content"][0]["text"], expected, "{tool} {arguments}");
    }

    eve.result("io.open('secret.txt', 'w'):write('of eve'):close()").await;
    assert_eq!(alice.result("return io.open('secret.txt'):read('*a')").await, "of alice");
    assert_eq!(tenant_directories(directory.path()).len(), 2);
}

/// Returns the number of tenants in memory.
async fn tenants_in_memory(server: &HttpServer) -> u64 {
    let metrics = reqwest::get(server.url("/metrics")).await.expect("a response").text().await.expect("a text");
    let line = metrics.lines().find_map(|line| line.strip_prefix("toolscript_tenants ")).expect("a metric");
    line.parse().expect("a number")
}

#[tokio::test]
async fn idle_tenants_are_removed_from_memory_and_keep_their_files() {
    let keys = KeyServer::start().await;
    let (_directory, server) = start(&keys, "[server]\ntenant_idle = 1\n").await;
    let mut alice = server.client().with_token(&keys.token("alice"));
    alice.result("io.open('a', 'w'):close()").await;
    for subject in 0..50 {
        let mut client = server.client().with_token(&keys.token(&subject.to_string()));
        assert_eq!(client.ask("tools/list", json!({})).await.status, StatusCode::OK);
    }
    // A tenant with a session is not idle.
    let mut bob = server.session("2025-11-25", Some(&keys.token("bob"))).await;
    assert!(tenants_in_memory(&server).await > 1);
    wait_for_async(async || tenants_in_memory(&server).await == 1).await;
    assert_eq!(bob.result("return 1").await, 1);
    assert_eq!(alice.result("return io.list()").await, json!(["a"]));
    assert_eq!(bob.request(Method::DELETE).send().await.expect("a response").status(), StatusCode::NO_CONTENT);
    wait_for_async(async || tenants_in_memory(&server).await == 0).await;
    // The task that removes them starts again.
    assert_eq!(alice.result("return 1").await, 1);
    wait_for_async(async || tenants_in_memory(&server).await == 0).await;
}

#[tokio::test]
async fn listen_requests_count_against_the_rate_limit() {
    let keys = KeyServer::start().await;
    let (_directory, server) = start(&keys, "[limits]\ntenant_per_minute = 1\n").await;
    let filter = json!({ "notifications": { "resourcesListChanged": true } });
    let mut alice = server.client().with_token(&keys.token("alice"));
    alice.result("return 1").await;
    let rejected = alice.ask("subscriptions/listen", filter).await;
    let message = "too many requests: at most 1 may start per minute; try again later";
    assert_eq!(rejected.last()["error"], json!({ "code": -32000, "message": message }));
}

#[tokio::test]
async fn unused_sessions_end_and_their_tenants_are_removed() {
    let keys = KeyServer::start().await;
    let (_directory, server) = start(&keys, "[limits]\ntimeout = 0.5\n[server]\nsession_idle = 0.5\ntenant_idle = 0.2\n").await;
    let mut alice = server.session("2025-11-25", Some(&keys.token("alice"))).await;
    assert_eq!(tenants_in_memory(&server).await, 1);
    wait_for_async(async || tenants_in_memory(&server).await == 0).await;
    assert_eq!(alice.send("ping", json!({})).await.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn the_number_of_tenants_in_memory_is_limited() {
    let keys = KeyServer::start().await;
    let (_directory, server) = start(&keys, "[server]\ntenants = 2\ntenant_idle = 1\n").await;
    let _alice_session = server.session("2025-11-25", Some(&keys.token("alice"))).await;
    let bob_session = server.session("2025-11-25", Some(&keys.token("bob"))).await;
    let mut eve = server.client().with_token(&keys.token("eve"));
    let rejected = eve.ask("tools/list", json!({})).await;
    assert_eq!((rejected.status, rejected.text.as_str()), (StatusCode::SERVICE_UNAVAILABLE, "too many users at the same time"));
    assert_eq!(bob_session.request(Method::DELETE).send().await.expect("a response").status(), StatusCode::NO_CONTENT);
    wait_for_async(async || eve.ask("tools/list", json!({})).await.status == StatusCode::OK).await;
}

#[tokio::test]
async fn a_session_is_unknown_to_other_tenants() {
    let keys = KeyServer::start().await;
    let (directory, server) = start(&keys, "").await;
    let mut alice = server.session("2025-11-25", Some(&keys.token("alice"))).await;
    let script = "io.open('started', 'w'):close() local t = os.clock() while os.clock() < t + 0.5 do end return 'not cancelled'";
    let running = tokio::spawn({
        let mut alice = alice.clone();
        async move { alice.result(script).await }
    });
    wait_for_start(directory.path()).await;

    let mut eve = alice.clone().with_token(&keys.token("eve"));
    assert_eq!(eve.send("tools/call", call("return 1")).await.status(), StatusCode::NOT_FOUND);
    assert_eq!(eve.request(Method::GET).send().await.expect("a response").status(), StatusCode::NOT_FOUND);
    let resumed = eve.request(Method::GET).header("last-event-id", "0/0").send().await.expect("a response");
    assert_eq!(resumed.status(), StatusCode::NOT_FOUND);
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 2 } });
    assert_eq!(eve.post(&cancel).await.status(), StatusCode::NOT_FOUND);
    assert_eq!(eve.request(Method::DELETE).send().await.expect("a response").status(), StatusCode::NOT_FOUND);

    assert_eq!(running.await.expect("a result"), "not cancelled");
    // The same subject can use its session with another token.
    let again = keys.token("alice");
    alice.token = Some(again);
    assert_eq!(alice.result("return 1").await, 1);
}

#[tokio::test]
async fn notifications_are_about_files_of_the_same_tenant() {
    let keys = KeyServer::start().await;
    let (_directory, server) = start(&keys, "").await;
    let (alice, eve) = (keys.token("alice"), keys.token("eve"));
    let listening = server.session("2025-11-25", Some(&eve)).await;
    let mut events = Events::of(listening.request(Method::GET).send().await.expect("a stream"));
    server.client().with_token(&alice).result("io.open('of-alice', 'w'):close()").await;
    // Notifications arrive in order, so the first one is about a file of eve.
    listening.clone().ask("resources/subscribe", json!({ "uri": "io:///of-eve" })).await;
    server.client().with_token(&eve).result("io.open('of-eve', 'w'):close()").await;
    assert_eq!(events.next().await.expect("a message")["method"], "notifications/resources/list_changed");
    assert_eq!(events.next().await.expect("a message")["params"]["uri"], "io:///of-eve");
}

#[tokio::test]
async fn each_tenant_has_a_run_quota_and_a_rate_limit() {
    let keys = KeyServer::start().await;
    let config = "[limits]\nconcurrency = 4\ntenant_concurrency = 1\ntenant_queue = 0\ntenant_per_minute = 5\n";
    let (directory, server) = start(&keys, config).await;
    let (alice, eve) = (keys.token("alice"), keys.token("eve"));
    let mut endless = server.session("2025-11-25", Some(&eve)).await;
    let answer = endless.send("tools/call", call("io.open('started', 'w'):close() while true do end")).await;
    wait_for_start(directory.path()).await;

    let mut eve = server.client().with_token(&eve);
    let rejected = json!({ "code": -32000, "message": "busy: 1 scripts are running and 0 are waiting; try again later" });
    assert_eq!(eve.ask("tools/call", call("return 1")).await.last()["error"], rejected);
    let mut alice = server.client().with_token(&alice);
    for _ in 0..5 {
        assert_eq!(alice.result("return 1").await, 1);
    }
    let rejected = json!({ "code": -32000, "message": "too many requests: at most 5 may start per minute; try again later" });
    assert_eq!(alice.ask("tools/call", call("return 1")).await.last()["error"], rejected);
    drop(answer);
}

#[tokio::test]
async fn the_disk_limit_of_a_tenant_holds_and_is_counted_again_at_startup() {
    let keys = KeyServer::start().await;
    let config = "[io]\ntenant_bytes = 100000\n";
    let (directory, server) = start(&keys, config).await;
    let (alice, eve) = (keys.token("alice"), keys.token("eve"));
    let mut eve_client = server.client().with_token(&eve);
    let full = "disk quota exceeded (100000 bytes for all files)";
    let fill = "local n = 0
        local ok, message = pcall(function()
            while true do
                local f = io.open('f' .. n, 'w')
                f:write(('x'):rep(10000))
                f:close()
                n += 1
            end
        end)
        return { n, message }";
    // Nine files of 10,000 bytes and 1 KiB each, or less: the last one is empty.
    let filled = eve_client.result(fill).await;
    assert_eq!(filled[0], 9);
    assert!(filled[1].as_str().expect("a message").ends_with(full), "{filled}");
    let failed: Value = eve_client.run("io.open('one more', 'w'):write(('y'):rep(2000)):close()").await;
    assert!(failed["structuredContent"]["error"]["message"].as_str().expect("a message").ends_with(full), "{failed}");
    // Removing a file frees its space, and other tenants have their own limit.
    assert_eq!(eve_client.result("os.remove('f0') io.open('again', 'w'):write(('y'):rep(2000)):close() return 1").await, 1);
    assert_eq!(server.client().with_token(&alice).result("io.open('f', 'w'):write(('y'):rep(50000)):close() return 1").await, 1);
    drop(server);

    let server = start_in(directory.path(), &keys);
    let failed: Value = server.client().with_token(&eve).run("io.open('large', 'w'):write(('y'):rep(20000)):close()").await;
    assert!(failed["structuredContent"]["error"]["message"].as_str().expect("a message").ends_with(full), "{failed}");
}

#[tokio::test]
async fn a_tenant_with_many_files_is_counted_in_the_background_and_delays_no_other() {
    let keys = KeyServer::start().await;
    let config = "[io]\ntenant_bytes = 102400000\n";
    let (directory, server) = start(&keys, config).await;
    let (alice, eve) = (keys.token("alice"), keys.token("eve"));
    server.client().with_token(&eve).result("io.open('started', 'w'):close()").await;
    let names = tenant_directories(directory.path());
    drop(server);
    let many = directory.path().join("files").join(&names[0]).join("many");
    fs::create_dir(&many).expect("a directory");
    // A file can have at most 65,000 links.
    for group in 0..10 {
        fs::write(many.join(format!("{group}-0")), "").expect("a file");
        for number in 1..10_000 {
            fs::hard_link(many.join(format!("{group}-0")), many.join(format!("{group}-{number}"))).expect("a link");
        }
    }

    let server = start_in(directory.path(), &keys);
    let mut eve = server.client().with_token(&eve);
    let writing = eve.run("io.open('one more', 'w')");
    let other = async {
        let mut alice = server.client().with_token(&alice);
        for _ in 0..10 {
            assert_eq!(alice.result("io.open('f', 'w'):write('x'):close() return 1").await, 1);
        }
    };
    let (failed, ()) = tokio::join!(writing, other);
    // Without a complete count, there would be space.
    let full = "disk quota exceeded (102400000 bytes for all files)";
    assert!(failed["structuredContent"]["error"]["message"].as_str().expect("a message").ends_with(full), "{failed}");
}

#[tokio::test]
async fn large_responses_of_one_tenant_wait_for_each_other_and_arrive_completely() {
    let keys = KeyServer::start().await;
    let (_directory, server) = start(&keys, "[limits]\ninline = 0\n").await;
    let (alice, eve) = (keys.token("alice"), keys.token("eve"));
    let tasks: Vec<_> = (0..8)
        .map(|_| {
            let mut eve = server.client().with_token(&eve);
            tokio::spawn(async move { eve.result("return string.rep('\"', 2^19 - 1)").await })
        })
        .collect();
    let mut alice = server.client().with_token(&alice);
    for _ in 0..10 {
        assert_eq!(alice.result("return 1").await, 1);
    }
    for task in tasks {
        assert!(task.await.expect("a result") == "\"".repeat((1 << 19) - 1).as_str());
    }
}

#[tokio::test]
async fn scripts_and_metrics_reveal_nothing_about_tokens_or_the_host() {
    let keys = KeyServer::start().await;
    let (directory, server) = start(&keys, "").await;
    let token = keys.token("subject-canary");
    let mut client = server.client().with_token(&token);
    let host = directory.path().to_str().expect("a text").to_owned();
    for script in ["return os", "return pcall(io.open, 'missing')", "error(io.open)", "return io.list()", "while"] {
        let answer = client.ask("tools/call", call(script)).await;
        for canary in ["subject-canary", &token, &host, CANARY] {
            assert!(!answer.text.contains(canary), "{}", answer.text);
        }
    }
    let metrics = reqwest::get(server.url("/metrics")).await.expect("a response").text().await.expect("a text");
    assert!(!metrics.contains("subject-canary"), "{metrics}");
}

#[tokio::test]
async fn listing_many_directories_needs_few_file_descriptors() {
    let keys = KeyServer::start().await;
    let (_directory, server) = start(&keys, "").await;
    let token = keys.token("eve");
    let mut eve = server.client().with_token(&token);
    eve.result("for i = 1, 3000 do io.open(('d%d/f'):format(i), 'w'):close() end").await;
    let descriptors = || fs::read_dir(format!("/proc/{}/fd", server.process())).expect("a directory").count();
    let listing: Vec<_> = (0..8)
        .map(|_| {
            let mut eve = eve.clone();
            tokio::spawn(async move { eve.ask("resources/list", json!({})).await.last()["result"]["resources"].as_array().map(Vec::len) })
        })
        .collect();
    let mut max = 0;
    while !listing.iter().all(tokio::task::JoinHandle::is_finished) {
        max = max.max(descriptors());
        tokio::task::yield_now().await;
    }
    for page in listing {
        assert_eq!(page.await.expect("a page"), Some(100));
    }
    assert!(max > 0 && max < 200, "{max} descriptors");
}
