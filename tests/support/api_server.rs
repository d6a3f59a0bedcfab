//! An HTTP API for tests: pets, transactions, an echo of requests, and faulty responses.

use super::server_process::{CANARY, TIMEOUT};
use axum::{
    Router,
    body::{Body, Bytes, to_bytes},
    extract::{Request, State},
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
};
use futures_util::stream;
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    convert::Infallible,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::{Arc, Mutex, mpsc},
    time::{Duration, Instant},
};
use tempfile::TempDir;
use tokio::{net::TcpListener, sync::oneshot};

/// A server that runs on its own thread until it is dropped.
pub struct ApiServer {
    /// `http://127.0.0.1:PORT`.
    pub url: String,
    requests: Arc<Mutex<Vec<Value>>>,
    disconnected: mpsc::Receiver<()>,
    _stop: oneshot::Sender<()>,
}

#[derive(Clone)]
struct Shared {
    requests: Arc<Mutex<Vec<Value>>>,
    disconnected: mpsc::Sender<()>,
}

impl ApiServer {
    pub fn start() -> Self {
        let requests = Arc::<Mutex<Vec<Value>>>::default();
        let (disconnected_sender, disconnected) = mpsc::channel();
        let shared = Shared { requests: Arc::clone(&requests), disconnected: disconnected_sender };
        let (stop, stopped) = oneshot::channel();
        let (sender, address) = mpsc::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
                sender.send(listener.local_addr().expect("an address")).expect("the receiver waits");
                let router = Router::new().fallback(respond).with_state(shared);
                let serving = async {
                    while let Ok((stream, _)) = listener.accept().await {
                        let service = TowerToHyperService::new(router.clone());
                        tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service));
                    }
                };
                tokio::select! {
                    () = serving => {}
                    _ = stopped => {}
                }
            });
        });
        let address = address.recv().expect("the server listens");
        Self { url: format!("http://{address}"), requests, disconnected, _stop: stop }
    }

    /// Returns the paths of all requests so far.
    pub fn paths(&self) -> Vec<String> {
        self.requests().iter().map(|request| request["path"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// Returns all requests so far.
    pub fn requests(&self) -> Vec<Value> {
        self.requests.lock().expect("a lock").clone()
    }

    /// Returns the last request for a path. Ignores the query.
    pub fn last_request(&self, path: &str) -> Value {
        let is_wanted = |request: &&Value| request["path"].as_str().is_some_and(|full| full.split('?').next() == Some(path));
        self.requests().iter().rfind(is_wanted).unwrap_or_else(|| panic!("no request for {path}")).clone()
    }

    /// Waits until a client of `/silent` disconnects.
    pub fn wait_for_disconnect(&self) {
        self.disconnected.recv_timeout(TIMEOUT).expect("the request was dropped");
    }

    /// Waits for a number of requests for a path.
    pub fn wait_for_requests(&self, path: &str, count: usize) {
        let started = Instant::now();
        while self.paths().iter().filter(|known| *known == path).count() < count {
            assert!(started.elapsed() < TIMEOUT, "too few requests for {path}: {:?}", self.paths());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Creates a directory with a configuration of this API: its name, a specification, and further options.
    pub fn directory(&self, name: &str, spec: &str, options: &str) -> TempDir {
        let spec = specification(spec);
        let section = format!(
            "[apis.{name}]\nspec = {:?}\nbase_url = \"{}/v1\"\nallow_private = true\n{options}",
            spec.display().to_string(),
            self.url
        );
        directory_with(&section)
    }
}

/// Returns the path of a specification in `examples`, or else in `tests/sdk`.
pub fn specification(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let example = root.join("examples").join(name);
    if example.exists() { example } else { root.join("tests/sdk").join(name) }
}

/// Creates a directory with a configuration.
pub fn directory_with(config: &str) -> TempDir {
    let directory = TempDir::new().expect("a directory");
    fs::write(directory.path().join("toolscript.toml"), config).expect("the configuration is written");
    directory
}

/// Returns a command with a canary in its environment, which scripts must not see.
pub fn toolscript(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolscript"));
    command.current_dir(directory).args(arguments).env_remove("TOOLSCRIPT_LOG").env("CANARY", CANARY).stdin(Stdio::null());
    command
}

/// Parses the outcome that `run --json` prints.
pub fn outcome(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}{}", String::from_utf8_lossy(&output.stderr)))
}

/// Runs a script in a directory and returns its outcome. It is not checked, so that the runtime reports its mistakes.
pub fn run(directory: &TempDir, script: &str) -> Value {
    outcome(&toolscript(directory.path(), &["run", "--json", "--no-check", "-e", script]).output().expect("it runs"))
}

/// Returns the result of a script that must succeed. It is checked, and must not be rejected.
pub fn result(directory: &TempDir, script: &str) -> Value {
    let outcome = outcome(&toolscript(directory.path(), &["run", "--json", "-e", script]).output().expect("it runs"));
    assert!(outcome.get("error").is_none(), "{outcome}");
    outcome["result"].clone()
}

/// Returns the error message of a script that must fail.
pub fn message(directory: &TempDir, script: &str) -> String {
    let outcome = run(directory, script);
    outcome["error"]["message"].as_str().unwrap_or_else(|| panic!("{outcome}")).to_owned()
}

async fn respond(State(shared): State<Shared>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path_and_query().map(|path| path.as_str().to_owned()).unwrap_or_default();
    let headers: BTreeMap<String, String> =
        parts.headers.iter().map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())).collect();
    let body = to_bytes(body, 64 << 20).await.expect("a body");
    let echo = json!({ "method": parts.method.as_str(), "path": path, "headers": headers, "body": String::from_utf8_lossy(&body) });
    shared.requests.lock().expect("a lock").push(echo.clone());
    let query: BTreeMap<String, String> =
        url::form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes()).into_owned().collect();
    let host = headers.get("host").cloned().unwrap_or_default();
    match parts.uri.path().trim_start_matches("/v1") {
        "/openapi.json" => json_response(&json!({
            "openapi": "3.1.0",
            "info": { "title": "Fetched", "version": "1" },
            "servers": [{ "url": "/v1" }],
            "paths": { "/pets": { "get": { "operationId": "listPets" } } },
        })),
        "/transactions" => json_response(&transactions(&query)),
        "/pets" if parts.method == "GET" => {
            json_response(&json!([{ "id": 1, "name": "Mia", "kind": "cat" }, { "id": 2, "name": "Rex", "kind": "dog" }]))
        }
        "/pets/1" => json_response(&json!({ "id": 1, "name": "Mia", "kind": "cat", "nick": null })),
        "/pets/404" => (StatusCode::NOT_FOUND, json_response(&json!({ "error": "there is no pet 404" }))).into_response(),
        "/answer/picture" => ([(header::CONTENT_TYPE, "image/png")], Bytes::from_iter(0..=255)).into_response(),
        "/answer/text" => ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], "<p>hellö</p>").into_response(),
        "/answer/nothing" => StatusCode::NO_CONTENT.into_response(),
        "/answer/large" => {
            let text = r#"{"id":1234567890123456789,"parents":[9007199254740993,9007199254740992],"code":null}"#;
            ([(header::CONTENT_TYPE, "application/json")], text).into_response()
        }
        "/answer/null" => json_response(&Value::Null),
        "/answer/no_json" => ([(header::CONTENT_TYPE, "application/json")], "{oops").into_response(),
        "/answer/cookie" => ([(header::SET_COOKIE, "session=secret-cookie"), (header::ETAG, "\"7\"")], "ok").into_response(),
        "/answer/failure" => (StatusCode::INTERNAL_SERVER_ERROR, "it broke\n".repeat(1000)).into_response(),
        "/answer/limited" => {
            let retry =
                [(header::RETRY_AFTER, "2"), (header::CONTENT_TYPE, "application/json"), (header::SET_COOKIE, "session=secret-cookie")];
            (StatusCode::TOO_MANY_REQUESTS, retry, json!({ "code": "rate", "key": query.get("key") }).to_string()).into_response()
        }
        "/answer/failed_no_json" => (
            StatusCode::BAD_GATEWAY,
            [(header::CONTENT_TYPE, "application/json"), (header::RETRY_AFTER, "Wed, 01 Jan 2020 00:00:00 GMT")],
            "<html>",
        )
            .into_response(),
        "/answer/redirect" => (StatusCode::FOUND, [(header::LOCATION, format!("http://{host}/secret"))]).into_response(),
        "/answer/silent" => {
            let _guard = DisconnectGuard(shared.disconnected);
            std::future::pending().await
        }
        "/answer/endless" => {
            let chunks = stream::repeat_with(|| Ok::<_, Infallible>(Bytes::from_static(&[b'x'; 65536])));
            Body::from_stream(chunks).into_response()
        }
        "/answer/huge" => "x".repeat(7 << 20).into_response(),
        "/answer/gzip" => encoded("gzip", &compressed(r#"{"encoding":"gzip"}"#.as_bytes())),
        "/answer/br" => encoded("br", b"\x0b\x08\x80{\"encoding\":\"br\"}\x03"),
        "/answer/zstd" => encoded("zstd", b"\x28\xb5\x2f\xfd\x20"),
        "/answer/zstd_failure" => (StatusCode::BAD_GATEWAY, encoded("zstd", b"\x28\xb5\x2f\xfd\x20")).into_response(),
        "/answer/no_gzip" => encoded("gzip", b"{}"),
        // A few hundred kilobytes that become 200 MiB.
        "/answer/bomb" => encoded("gzip", &compressed(&vec![b' '; 200 << 20])),
        "/answer/deep" => ([(header::CONTENT_TYPE, "application/json")], "[".repeat(1 << 20) + &"]".repeat(1 << 20)).into_response(),
        _ => json_response(&echo),
    }
}

/// Sends a message when the client disconnects, which drops the response future.
struct DisconnectGuard(mpsc::Sender<()>);

impl Drop for DisconnectGuard {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

fn encoded(encoding: &'static str, body: &[u8]) -> Response {
    ([(header::CONTENT_TYPE, "application/json"), (header::CONTENT_ENCODING, encoding)], body.to_vec()).into_response()
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("compressed")
}

fn json_response(value: &Value) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}

fn transactions(query: &BTreeMap<String, String>) -> Value {
    let number = |name: &str, default: usize| query.get(name).and_then(|text| text.parse().ok()).unwrap_or(default);
    let (offset, limit) = (number("offset", 0), number("limit", 100));
    let row = |id: usize| {
        let note = if id.is_multiple_of(7) { json!(format!("number \"{id}\", paid")) } else { Value::Null };
        json!({ "id": id, "amount": (id % 100) as f64 + 0.5, "at": format!("2026-01-{:02}T00:00:00Z", id % 28 + 1), "note": note })
    };
    (offset + 1..=(offset + limit).min(10_000)).map(row).collect()
}
