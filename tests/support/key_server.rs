//! A minimal authorization server: its OpenID configuration, its keys, and tokens that they sign.

use aws_lc_rs::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair},
};
use axum::{Json, Router, extract::State, http::StatusCode, response::IntoResponse as _, routing::get};
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use jsonwebtoken::{Algorithm, EncodingKey, Header, jwk::Jwk};
use serde_json::{Value, json};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};
use tokio::net::TcpListener;

/// The audience of the tokens.
pub const AUDIENCE: &str = "toolscript-tests";

pub struct KeyServer {
    pub issuer: String,
    shared: Arc<Shared>,
    key: EncodingKey,
}

#[derive(Default)]
struct Shared {
    issuer: Mutex<String>,
    keys: Mutex<Vec<Value>>,
    key_requests: AtomicUsize,
    broken: Mutex<bool>,
    silent: Mutex<bool>,
}

/// Creates a key pair for ES256.
pub fn key_pair() -> EncodingKey {
    let pair = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new()).expect("a key");
    EncodingKey::from_ec_der(pair.as_ref())
}

/// Returns the public part of a key, with a key id.
pub fn public_key(key: &EncodingKey, id: &str) -> Value {
    let mut jwk = serde_json::to_value(Jwk::from_encoding_key(key, Algorithm::ES256).expect("a public key")).expect("JSON");
    jwk["kid"] = json!(id);
    jwk["use"] = json!("sig");
    jwk
}

/// Returns the current Unix time in seconds.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs()
}

impl KeyServer {
    /// Starts the server with one key, whose id is `main`.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let issuer = format!("http://{}", listener.local_addr().expect("an address"));
        let key = key_pair();
        let shared = Arc::new(Shared::default());
        *shared.issuer.lock().expect("a lock") = issuer.clone();
        shared.keys.lock().expect("a lock").push(public_key(&key, "main"));
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(configuration))
            .route("/keys", get(keys))
            .with_state(Arc::clone(&shared));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let service = TowerToHyperService::new(router.clone());
                tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service));
            }
        });
        Self { issuer, shared, key }
    }

    /// Returns the flags of a toolscript server that accepts its tokens.
    pub fn flags(&self) -> Vec<String> {
        let flags = ["--public-url", "http://127.0.0.1", "--auth-authority", &self.issuer, "--auth-audience", AUDIENCE];
        flags.map(Into::into).to_vec()
    }

    /// Returns its public key.
    pub fn public_key(&self) -> Value {
        public_key(&self.key, "main")
    }

    /// Returns the number of requests for its keys.
    pub fn key_requests(&self) -> usize {
        self.shared.key_requests.load(Ordering::SeqCst)
    }

    /// Replaces the keys.
    pub fn set_keys(&self, keys: Vec<Value>) {
        *self.shared.keys.lock().expect("a lock") = keys;
    }

    /// Makes the server respond with errors.
    pub fn set_broken(&self, broken: bool) {
        *self.shared.broken.lock().expect("a lock") = broken;
    }

    /// Makes the server never respond.
    pub fn set_silent(&self, silent: bool) {
        *self.shared.silent.lock().expect("a lock") = silent;
    }

    /// Returns the claims of a valid token.
    pub fn claims(&self, subject: &str) -> Value {
        json!({ "iss": self.issuer, "sub": subject, "aud": AUDIENCE, "exp": now() + 600 })
    }

    /// Returns a valid token.
    pub fn token(&self, subject: &str) -> String {
        self.sign(&self.claims(subject))
    }

    /// Signs a token with these claims.
    pub fn sign(&self, claims: &Value) -> String {
        sign_with(&self.key, "main", claims)
    }
}

/// Signs a token with a key.
pub fn sign_with(key: &EncodingKey, id: &str, claims: &Value) -> String {
    let header = Header { kid: Some(id.into()), ..Header::new(Algorithm::ES256) };
    jsonwebtoken::encode(&header, claims, key).expect("a token")
}

async fn configuration(State(shared): State<Arc<Shared>>) -> Json<Value> {
    let issuer = shared.issuer.lock().expect("a lock").clone();
    Json(json!({ "issuer": issuer, "jwks_uri": format!("{issuer}/keys") }))
}

async fn keys(State(shared): State<Arc<Shared>>) -> axum::response::Response {
    shared.key_requests.fetch_add(1, Ordering::SeqCst);
    let silent = *shared.silent.lock().expect("a lock");
    if silent {
        std::future::pending::<()>().await;
    }
    if *shared.broken.lock().expect("a lock") {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    }
    Json(json!({ "keys": *shared.keys.lock().expect("a lock") })).into_response()
}
