//! An authorization server as far as one is needed here: its configuration, its keys, and tokens that they sign.

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

/// Whom the tests' tokens are meant for.
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
    asked: AtomicUsize,
    broken: Mutex<bool>,
    silent: Mutex<bool>,
}

/// A key pair for ES256.
pub fn key_pair() -> EncodingKey {
    let pair = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new()).expect("a key");
    EncodingKey::from_ec_der(pair.as_ref())
}

/// The public part of a key, by a name.
pub fn public(key: &EncodingKey, name: &str) -> Value {
    let mut jwk = serde_json::to_value(Jwk::from_encoding_key(key, Algorithm::ES256).expect("a public key")).expect("JSON");
    jwk["kid"] = json!(name);
    jwk["use"] = json!("sig");
    jwk
}

pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs()
}

impl KeyServer {
    /// Starts it, with one key whose name is `main`.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let issuer = format!("http://{}", listener.local_addr().expect("an address"));
        let key = key_pair();
        let shared = Arc::new(Shared::default());
        *shared.issuer.lock().expect("a lock") = issuer.clone();
        shared.keys.lock().expect("a lock").push(public(&key, "main"));
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

    /// The flags of a server that trusts it.
    pub fn flags(&self) -> Vec<String> {
        let flags = ["--public-url", "http://127.0.0.1", "--auth-authority", &self.issuer, "--auth-audience", AUDIENCE];
        flags.map(Into::into).to_vec()
    }

    /// What everybody knows of its key.
    pub fn public_key(&self) -> Value {
        public(&self.key, "main")
    }

    /// How often its keys were asked for.
    pub fn asked(&self) -> usize {
        self.shared.asked.load(Ordering::SeqCst)
    }

    pub fn set_keys(&self, keys: Vec<Value>) {
        *self.shared.keys.lock().expect("a lock") = keys;
    }

    /// It answers with errors, or not any more.
    pub fn set_broken(&self, broken: bool) {
        *self.shared.broken.lock().expect("a lock") = broken;
    }

    /// It never answers, or does again.
    pub fn set_silent(&self, silent: bool) {
        *self.shared.silent.lock().expect("a lock") = silent;
    }

    /// What is in a good token.
    pub fn claims(&self, subject: &str) -> Value {
        json!({ "iss": self.issuer, "sub": subject, "aud": AUDIENCE, "exp": now() + 600 })
    }

    /// A good token.
    pub fn token(&self, subject: &str) -> String {
        self.sign(&self.claims(subject))
    }

    /// A token with these claims.
    pub fn sign(&self, claims: &Value) -> String {
        sign_with(&self.key, "main", claims)
    }
}

/// A token that another key has signed.
pub fn sign_with(key: &EncodingKey, name: &str, claims: &Value) -> String {
    let header = Header { kid: Some(name.into()), ..Header::new(Algorithm::ES256) };
    jsonwebtoken::encode(&header, claims, key).expect("a token")
}

async fn configuration(State(shared): State<Arc<Shared>>) -> Json<Value> {
    let issuer = shared.issuer.lock().expect("a lock").clone();
    Json(json!({ "issuer": issuer, "jwks_uri": format!("{issuer}/keys") }))
}

async fn keys(State(shared): State<Arc<Shared>>) -> axum::response::Response {
    shared.asked.fetch_add(1, Ordering::SeqCst);
    let silent = *shared.silent.lock().expect("a lock");
    if silent {
        std::future::pending::<()>().await;
    }
    if *shared.broken.lock().expect("a lock") {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    }
    Json(json!({ "keys": *shared.keys.lock().expect("a lock") })).into_response()
}
