//! Internals that the fuzz targets in `fuzz/` call. Not part of the API: the feature `fuzzing` is for this repository only.

use crate::{
    Engine, EngineBuilder,
    config::Config,
    engine::{EngineError, image},
    files::{FileError, FilePath, PathBase},
    mcp::{AuthOptions, AuthOptionsError, AuthSettings, Authenticator, McpServer},
};
use jsonwebtoken::jwk::Jwk;
use std::{path::Path, sync::Arc};
use tokio::io::{AsyncRead, AsyncWrite};
use url::Url;

pub use crate::sdk::fuzzing::{PlannedRequest, call, connect, load_specification, plan_requests};

/// Builds an engine whose scripts are programs of the hostile guest.
pub fn hostile_engine(builder: EngineBuilder) -> Result<Engine, EngineError> {
    builder.build_with(image::load_hostile)
}

/// The imports of the hostile guest; see `guest/build/hostile_guest.rs`.
pub const HOSTILE_IMPORTS: &str = include_str!(concat!(env!("OUT_DIR"), "/hostile_guest.txt"));

/// Resolves a path that is relative to a working directory, or to the io directory if there is none.
pub fn resolve_path(working_directory: Option<&[u8]>, path: &[u8]) -> Result<String, FileError> {
    let base = match working_directory {
        Some(directory) => PathBase::WorkingDirectory(FilePath::parse(directory)?),
        None => PathBase::IoDirectory,
    };
    Ok(base.resolve(path)?.name().to_owned())
}

/// Reads a configuration. The error is its message on the terminal.
pub fn read_configuration(text: &str) -> Result<(), String> {
    let config = Config::read(text, Path::new("/etc/toolscript/toolscript.toml")).map_err(|error| format!("{error:#}"))?;
    let _ = (config.limits.tenant(config.io.tenant_bytes), config.limits.inline(), config.limits.engine());
    config.limits.resolve().check().map_err(|error| error.to_string())
}

/// Serves one MCP client over streams.
pub async fn serve(
    server: &McpServer,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<(), String> {
    server.serve_streams(input, output).await.map_err(|error| error.to_string())
}

/// Checks tokens with fixed keys.
pub struct TokenVerifier {
    authenticator: Authenticator,
    keys: Arc<[Jwk]>,
}

impl TokenVerifier {
    /// Creates a verifier with keys in the format JWK.
    pub fn new(authority: &str, public_url: Url, keys: &str) -> Result<Self, AuthOptionsError> {
        let options = AuthOptions::new(authority)?;
        let audience = public_url.to_string();
        #[expect(clippy::expect_used, reason = "a fuzz target ends with an error")]
        Ok(Self {
            authenticator: Authenticator::new(AuthSettings { options, audience, public_url }).expect("an HTTP client"),
            keys: serde_json::from_str::<Vec<Jwk>>(keys).expect("keys").into(),
        })
    }

    /// Returns the subject of the token in the header `Authorization`.
    pub async fn verify(&self, authorization: &[u8]) -> Option<String> {
        self.authenticator.set_keys(Arc::clone(&self.keys));
        let mut headers = axum::http::HeaderMap::new();
        headers.insert(axum::http::header::AUTHORIZATION, axum::http::HeaderValue::from_bytes(authorization).ok()?);
        self.authenticator.authenticate(&headers).await.ok().map(|subject| subject.name)
    }
}
