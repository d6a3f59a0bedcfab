//! Tenants: what is one's own, and what one has of others, which is nothing.

use crate::{
    support::http_server::{Events, HttpServer, call},
    support::key_server::KeyServer,
    support::wait_for,
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::{fs, path::Path};
use tempfile::TempDir;

async fn start(keys: &KeyServer, config: &str) -> (TempDir, HttpServer) {
    let folder = TempDir::new().expect("a folder");
    fs::write(folder.path().join("toolscript.toml"), config).expect("a file");
    let flags = keys.flags();
    let mut flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    flags.extend(["--io-dir", "files"]);
    let server = HttpServer::start(folder.path(), &flags);
    (folder, server)
}

fn folders(io_dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(io_dir.join("files")).expect("the io dir");
    entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8")).collect()
}

#[tokio::test]
async fn each_has_files_of_their_own_in_a_folder_that_names_nobody() {
    let keys = KeyServer::start().await;
    let (folder, server) = start(&keys, "").await;
    let mut alice = server.client().with_token(&keys.token("alice@example.com"));
    let mut eve = server.client().with_token(&keys.token("../../eve"));
    alice.result("io.open('secret.txt', 'w'):write('of alice'):close()").await;
    assert_eq!(alice.result("return io.open('secret.txt'):read('*a')").await, "of alice");

    assert_eq!(eve.result("return io.list()").await, json!([]));
    let names = folders(folder.path());
    assert_eq!(names.len(), 1, "eve has written nothing yet");
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

    for (tool, arguments, answer) in [
        ("read_file", json!({ "path": "secret.txt" }), "secret.txt: No such file or directory"),
        ("read_file", json!({ "path": format!("../{}/secret.txt", names[0]) }), "path cannot contain '..' traversal"),
        ("edit_file", json!({ "path": "secret.txt", "old": "of", "new": "by" }), "secret.txt: No such file or directory"),
        ("list_files", json!({ "path": names[0] }), &format!("{}: No such file or directory", names[0])),
        ("list_files", json!({}), "(the folder is empty)"),
        ("glob_files", json!({ "pattern": "**" }), "(nothing fits)"),
        ("grep_files", json!({ "pattern": "alice" }), "(no line in 0 files)"),
    ] {
        let said = eve.ask("tools/call", json!({ "name": tool, "arguments": arguments })).await;
        assert_eq!(said.last()["result"]["content"][0]["text"], answer, "{tool} {arguments}");
    }

    eve.result("io.open('secret.txt', 'w'):write('of eve'):close()").await;
    assert_eq!(alice.result("return io.open('secret.txt'):read('*a')").await, "of alice");
    assert_eq!(folders(folder.path()).len(), 2);
}

#[tokio::test]
async fn a_session_is_not_there_for_another() {
    let keys = KeyServer::start().await;
    let (folder, server) = start(&keys, "").await;
    let mut alice = server.session("2025-11-25", Some(&keys.token("alice"))).await;
    let script = "io.open('started', 'w'):close() local t = os.clock() while os.clock() < t + 0.5 do end return 'not cancelled'";
    let running = tokio::spawn({
        let mut alice = alice.clone();
        async move { alice.result(script).await }
    });
    let started = || {
        folders_exist(folder.path())
            && folders(folder.path()).iter().any(|name| folder.path().join("files").join(name).join("started").exists())
    };
    wait_for(started).await;

    let mut eve = alice.clone().with_token(&keys.token("eve"));
    assert_eq!(eve.send("tools/call", call("return 1")).await.status(), StatusCode::NOT_FOUND);
    assert_eq!(eve.request(Method::GET).send().await.expect("an answer").status(), StatusCode::NOT_FOUND);
    let resumed = eve.request(Method::GET).header("last-event-id", "0/0").send().await.expect("an answer");
    assert_eq!(resumed.status(), StatusCode::NOT_FOUND);
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 2 } });
    assert_eq!(eve.post(&cancel).await.status(), StatusCode::NOT_FOUND);
    assert_eq!(eve.request(Method::DELETE).send().await.expect("an answer").status(), StatusCode::NOT_FOUND);

    assert_eq!(running.await.expect("a result"), "not cancelled");
    // The same subject with another token is at home.
    let again = keys.token("alice");
    alice.token = Some(again);
    assert_eq!(alice.result("return 1").await, 1);
}

fn folders_exist(folder: &Path) -> bool {
    folder.join("files").exists()
}

#[tokio::test]
async fn news_are_of_ones_own_files() {
    let keys = KeyServer::start().await;
    let (_folder, server) = start(&keys, "").await;
    let (alice, eve) = (keys.token("alice"), keys.token("eve"));
    let listening = server.session("2025-11-25", Some(&eve)).await;
    let mut events = Events::of(listening.request(Method::GET).send().await.expect("a stream"));
    server.client().with_token(&alice).result("io.open('of-alice', 'w'):close()").await;
    // In the order in which they were sent, so the first one to come is eve's own.
    listening.clone().ask("resources/subscribe", json!({ "uri": "io:///of-eve" })).await;
    server.client().with_token(&eve).result("io.open('of-eve', 'w'):close()").await;
    assert_eq!(events.next().await.expect("a message")["method"], "notifications/resources/list_changed");
    assert_eq!(events.next().await.expect("a message")["params"]["uri"], "io:///of-eve");
}

#[tokio::test]
async fn each_has_a_part_of_the_runs_and_a_pace() {
    let keys = KeyServer::start().await;
    let config = "[limits]\nconcurrency = 4\ntenant_concurrency = 1\ntenant_queue = 0\ntenant_per_minute = 5\n";
    let (folder, server) = start(&keys, config).await;
    let (alice, eve) = (keys.token("alice"), keys.token("eve"));
    let mut endless = server.session("2025-11-25", Some(&eve)).await;
    let answer = endless.send("tools/call", call("io.open('started', 'w'):close() while true do end")).await;
    wait_for(|| {
        folders_exist(folder.path())
            && folders(folder.path()).iter().any(|name| folder.path().join("files").join(name).join("started").exists())
    })
    .await;

    let mut eve = server.client().with_token(&eve);
    let refused = json!({ "code": -32000, "message": "busy: 1 scripts are running and 0 are waiting; try again later" });
    assert_eq!(eve.ask("tools/call", call("return 1")).await.last()["error"], refused);
    let mut alice = server.client().with_token(&alice);
    for _ in 0..5 {
        assert_eq!(alice.result("return 1").await, 1);
    }
    let refused = json!({ "code": -32000, "message": "too many requests: at most 5 may begin in a minute; try again later" });
    assert_eq!(alice.ask("tools/call", call("return 1")).await.last()["error"], refused);
    drop(answer);
}

#[tokio::test]
async fn the_disk_of_a_tenant_is_full_at_some_time_and_counted_anew_at_start() {
    let keys = KeyServer::start().await;
    let config = "[io]\ntenant_bytes = 100000\n";
    let (folder, server) = start(&keys, config).await;
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
    // What is removed is free again, and others have their own.
    assert_eq!(eve_client.result("os.remove('f0') io.open('again', 'w'):write(('y'):rep(2000)):close() return 1").await, 1);
    assert_eq!(server.client().with_token(&alice).result("io.open('f', 'w'):write(('y'):rep(50000)):close() return 1").await, 1);
    drop(server);

    let flags = keys.flags();
    let mut flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    flags.extend(["--io-dir", "files"]);
    let server = HttpServer::start(folder.path(), &flags);
    let failed: Value = server.client().with_token(&eve).run("io.open('large', 'w'):write(('y'):rep(20000)):close()").await;
    assert!(failed["structuredContent"]["error"]["message"].as_str().expect("a message").ends_with(full), "{failed}");
}

#[tokio::test]
async fn nothing_of_a_token_or_the_host_is_in_the_box() {
    let keys = KeyServer::start().await;
    let (folder, server) = start(&keys, "").await;
    let token = keys.token("subject-canary");
    let mut client = server.client().with_token(&token);
    let host = folder.path().to_str().expect("a text").to_owned();
    for script in ["return os", "return pcall(io.open, 'missing')", "error(io.open)", "return io.list()", "while"] {
        let answer = client.ask("tools/call", call(script)).await;
        for canary in ["subject-canary", &token, &host, "sings-in-the-mine"] {
            assert!(!answer.text.contains(canary), "{}", answer.text);
        }
    }
    let metrics = reqwest::get(server.url("/metrics")).await.expect("an answer").text().await.expect("a text");
    assert!(!metrics.contains("subject-canary"), "{metrics}");
}

#[tokio::test]
async fn a_tree_of_many_folders_needs_few_descriptors() {
    let keys = KeyServer::start().await;
    let (_folder, server) = start(&keys, "").await;
    let token = keys.token("eve");
    let mut eve = server.client().with_token(&token);
    eve.result("for i = 1, 3000 do io.open(('d%d/f'):format(i), 'w'):close() end").await;
    let descriptors = || fs::read_dir(format!("/proc/{}/fd", server.process())).expect("a folder").count();
    let listing: Vec<_> = (0..8)
        .map(|_| {
            let mut eve = eve.clone();
            tokio::spawn(async move { eve.ask("resources/list", json!({})).await.last()["result"]["resources"].as_array().map(Vec::len) })
        })
        .collect();
    let mut most = 0;
    while !listing.iter().all(tokio::task::JoinHandle::is_finished) {
        most = most.max(descriptors());
        tokio::task::yield_now().await;
    }
    for page in listing {
        assert_eq!(page.await.expect("a page"), Some(100));
    }
    assert!(most > 0 && most < 200, "{most} descriptors");
}
