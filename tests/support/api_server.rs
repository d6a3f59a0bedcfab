//! An HTTP API that scripts call: pets, transactions, an echo of what was sent, and servers as one does not wish for.

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
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::{Arc, Mutex, mpsc},
    time::{Duration, Instant},
};
use tempfile::TempDir;
use tokio::{net::TcpListener, sync::oneshot};

/// Long enough for a machine that is busy with other tests.
const PATIENCE: Duration = Duration::from_secs(60);

/// The server, on a thread of its own.
pub struct ApiServer {
    /// `http://127.0.0.1` and its port.
    pub url: String,
    requests: Arc<Mutex<Vec<Value>>>,
    given_up: mpsc::Receiver<()>,
    _stop: oneshot::Sender<()>,
}

#[derive(Clone)]
struct Shared {
    requests: Arc<Mutex<Vec<Value>>>,
    given_up: mpsc::Sender<()>,
}

impl ApiServer {
    pub fn start() -> Self {
        let requests = Arc::<Mutex<Vec<Value>>>::default();
        let (given_up_sender, given_up) = mpsc::channel();
        let shared = Shared { requests: Arc::clone(&requests), given_up: given_up_sender };
        let (stop, stopped) = oneshot::channel();
        let (sender, address) = mpsc::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
                sender.send(listener.local_addr().expect("an address")).expect("somebody waits");
                let router = Router::new().fallback(answer).with_state(shared);
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
        let address = address.recv().expect("it listens");
        Self { url: format!("http://{address}"), requests, given_up, _stop: stop }
    }

    /// The paths of all requests so far.
    pub fn paths(&self) -> Vec<String> {
        self.all().iter().map(|request| request["path"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// All requests so far.
    pub fn all(&self) -> Vec<Value> {
        self.requests.lock().expect("a lock").clone()
    }

    /// The last request for a path, without its query.
    pub fn last(&self, path: &str) -> Value {
        let is_wanted = |request: &&Value| request["path"].as_str().is_some_and(|full| full.split('?').next() == Some(path));
        self.all().iter().rfind(is_wanted).unwrap_or_else(|| panic!("nobody asked for {path}")).clone()
    }

    /// Waits until a client has given up waiting for `/silent`.
    pub fn given_up(&self) {
        self.given_up.recv_timeout(PATIENCE).expect("the request was dropped");
    }

    /// Waits until a request has come so often.
    pub fn asked(&self, path: &str, times: usize) {
        let started = Instant::now();
        while self.paths().iter().filter(|known| *known == path).count() < times {
            assert!(started.elapsed() < PATIENCE, "nobody asked for {path}: {:?}", self.paths());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// A folder with a configuration that has the API of a specification under a name, and what else is said of it.
    pub fn folder(&self, name: &str, spec: &str, more: &str) -> TempDir {
        let spec = specification(spec);
        let section =
            format!("[apis.{name}]\nspec = {:?}\nbase_url = \"{}/v1\"\nallow_private = true\n{more}", spec.display().to_string(), self.url);
        folder_with(&section)
    }
}

/// Where a specification is: an example, or one for the tests alone.
pub fn specification(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let example = root.join("examples").join(name);
    if example.exists() { example } else { root.join("tests/sdk").join(name) }
}

/// A folder with a configuration.
pub fn folder_with(config: &str) -> TempDir {
    let folder = TempDir::new().expect("a folder");
    fs::write(folder.path().join("toolscript.toml"), config).expect("a file");
    folder
}

/// The program with a canary in its environment, which nobody is to see.
pub fn toolscript(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolscript"));
    command.current_dir(folder).args(arguments).env_remove("TOOLSCRIPT_LOG").env("CANARY", "sings-in-the-mine").stdin(Stdio::null());
    command
}

/// What a script comes to.
pub fn outcome(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}{}", String::from_utf8_lossy(&output.stderr)))
}

/// Runs a script in a folder; its outcome.
pub fn run(folder: &TempDir, script: &str) -> Value {
    outcome(&toolscript(folder.path(), &["run", "--json", "-e", script]).output().expect("it runs"))
}

/// The result of a script that must not fail.
pub fn result(folder: &TempDir, script: &str) -> Value {
    let outcome = run(folder, script);
    assert!(outcome.get("error").is_none(), "{outcome}");
    outcome["result"].clone()
}

/// The message of a script that must fail.
pub fn message(folder: &TempDir, script: &str) -> String {
    let outcome = run(folder, script);
    outcome["error"]["message"].as_str().unwrap_or_else(|| panic!("{outcome}")).to_owned()
}

async fn answer(State(shared): State<Shared>, request: Request) -> Response {
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
        "/openapi.json" => json_of(&json!({
            "openapi": "3.1.0",
            "info": { "title": "Fetched", "version": "1" },
            "servers": [{ "url": "/v1" }],
            "paths": { "/pets": { "get": { "operationId": "listPets" } } },
        })),
        "/transactions" => json_of(&transactions(&query)),
        "/pets" if parts.method == "GET" => {
            json_of(&json!([{ "id": 1, "name": "Mia", "kind": "cat" }, { "id": 2, "name": "Rex", "kind": "dog" }]))
        }
        "/pets/1" => json_of(&json!({ "id": 1, "name": "Mia", "kind": "cat", "nick": null })),
        "/pets/404" => (StatusCode::NOT_FOUND, json_of(&json!({ "error": "there is no pet 404" }))).into_response(),
        "/answer/snapshot" => ([(header::CONTENT_TYPE, "image/png")], Bytes::from_iter(0..=255)).into_response(),
        "/answer/text" => ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], "<p>hellö</p>").into_response(),
        "/answer/nothing" => StatusCode::NO_CONTENT.into_response(),
        "/answer/null" => json_of(&Value::Null),
        "/answer/no_json" => ([(header::CONTENT_TYPE, "application/json")], "{oops").into_response(),
        "/answer/cookie" => ([(header::SET_COOKIE, "session=secret-cookie"), (header::ETAG, "\"7\"")], "ok").into_response(),
        "/answer/failure" => (StatusCode::INTERNAL_SERVER_ERROR, "it broke\n".repeat(1000)).into_response(),
        "/answer/redirect" => (StatusCode::FOUND, [(header::LOCATION, format!("http://{host}/secret"))]).into_response(),
        "/answer/silent" => {
            let _guard = GivenUp(shared.given_up);
            std::future::pending().await
        }
        "/answer/endless" => {
            let chunks = stream::repeat_with(|| Ok::<_, Infallible>(Bytes::from_static(&[b'x'; 65536])));
            Body::from_stream(chunks).into_response()
        }
        "/answer/huge" => "x".repeat(7 << 20).into_response(),
        "/answer/deep" => ([(header::CONTENT_TYPE, "application/json")], "[".repeat(1 << 20) + &"]".repeat(1 << 20)).into_response(),
        _ => json_of(&echo),
    }
}

/// Tells when nobody waits any more.
struct GivenUp(mpsc::Sender<()>);

impl Drop for GivenUp {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

fn json_of(value: &Value) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}

fn transactions(query: &BTreeMap<String, String>) -> Value {
    let number = |name: &str, otherwise: usize| query.get(name).and_then(|text| text.parse().ok()).unwrap_or(otherwise);
    let (offset, limit) = (number("offset", 0), number("limit", 100));
    let row = |id: usize| {
        let note = if id.is_multiple_of(7) { json!(format!("number \"{id}\", paid")) } else { Value::Null };
        json!({ "id": id, "amount": (id % 100) as f64 + 0.5, "at": format!("2026-01-{:02}T00:00:00Z", id % 28 + 1), "note": note })
    };
    (offset + 1..=(offset + limit).min(10_000)).map(row).collect()
}
