//! The signing keys of the authorization server.
//!
//! Keys are fetched when the first token arrives, and again when a token names an unknown key. Concurrent requests share one fetch,
//! and there is a minimum interval between two fetches.

use super::{AuthOptions, AuthOptionsError, Rejection, options::check_secure};
use crate::mcp::error::chain;
use jsonwebtoken::jwk::Jwk;
use reqwest::StatusCode;
use serde::{Deserialize, de::DeserializeOwned};
use std::{
    sync::{Arc, PoisonError, RwLock},
    time::{Duration, Instant},
};
use tokio::sync::Mutex;
use url::Url;

/// The age after which keys are fetched again in the background, so that a revoked key is soon removed.
const REFRESH_AGE: Duration = Duration::from_secs(5 * 60);

/// The age after which keys are not used.
const MAX_AGE: Duration = Duration::from_secs(60 * 60);

/// The minimum time between two fetches. It bounds the requests that tokens with unknown keys cause.
const MIN_FETCH_INTERVAL: Duration = Duration::from_secs(5);

/// The time to fetch all documents.
const FETCH_TIMEOUT: Duration = Duration::from_secs(5);

/// The maximum size of one document in bytes. The host holds it in memory.
const MAX_DOCUMENT_SIZE: usize = 1 << 20;

/// The keys of one authorization server. Clones share them.
#[derive(Clone)]
pub struct SigningKeys {
    shared: Arc<Shared>,
}

struct Shared {
    client: reqwest::Client,
    issuers: [String; 2],
    discovery: Url,
    jwks_uri: Option<Url>,
    cached: RwLock<Option<CachedKeys>>,
    /// The time of the last fetch. Locked while a fetch is in progress.
    last_fetch: Mutex<Option<Instant>>,
}

#[derive(Clone)]
struct CachedKeys {
    keys: Arc<[Jwk]>,
    fetched: Instant,
}

/// The reason that keys could not be fetched.
#[derive(Debug, thiserror::Error)]
enum FetchError {
    #[error("no response within {} s", FETCH_TIMEOUT.as_secs())]
    Timeout,
    #[error("no response from {url}")]
    Request { url: Url, source: reqwest::Error },
    #[error("{url} responds with {status}")]
    Status { url: Url, status: StatusCode },
    #[error("can't read {url}")]
    Body { url: Url, source: reqwest::Error },
    #[error("{url} is larger than {MAX_DOCUMENT_SIZE} bytes")]
    TooLarge { url: Url },
    #[error("{url} has an unexpected format")]
    Format { url: Url, source: serde_json::Error },
    #[error("{url} names another issuer")]
    Issuer { url: Url },
    #[error(transparent)]
    JwksUri(#[from] AuthOptionsError),
    #[error("{url} contains no usable key")]
    NoKeys { url: Url },
}

impl SigningKeys {
    pub fn new(options: &AuthOptions) -> Result<Self, reqwest::Error> {
        // Redirects are not followed: they could lead to any host.
        let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build()?;
        let mut discovery = options.authority.clone();
        discovery.set_path(&format!("{}/.well-known/openid-configuration", options.authority.path().trim_end_matches('/')));
        let shared = Shared {
            client,
            issuers: options.issuers(),
            discovery,
            jwks_uri: options.jwks_uri.clone(),
            cached: RwLock::default(),
            last_fetch: Mutex::default(),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Returns the suitable key with this id. For a token without a key id, returns the only suitable key.
    pub async fn find(&self, id: Option<&str>, is_suitable: impl Fn(&Jwk) -> bool) -> Result<Jwk, Rejection> {
        let cached = self.cached();
        if let Some(cached) = &cached
            && let Some(key) = select(cached, id, &is_suitable)
        {
            if cached.fetched.elapsed() > REFRESH_AGE && self.shared.last_fetch.try_lock().is_ok() {
                let (keys, fetched) = (self.clone(), cached.fetched);
                tokio::spawn(async move { keys.refresh(Some(fetched)).await });
            }
            return Ok(key);
        }
        // A separate task finishes even if the client disconnects, so that the next request does not fetch again.
        let (keys, fetched) = (self.clone(), cached.map(|cached| cached.fetched));
        let _ = tokio::spawn(async move { keys.refresh(fetched).await }).await;
        let cached = self.cached().ok_or(Rejection::Unavailable)?;
        select(&cached, id, &is_suitable).ok_or(Rejection::Invalid("the signing key of the token is unknown"))
    }

    /// Returns the cached keys that are not too old.
    fn cached(&self) -> Option<CachedKeys> {
        let cached = self.shared.cached.read().unwrap_or_else(PoisonError::into_inner).clone();
        cached.filter(|cached| cached.fetched.elapsed() < MAX_AGE)
    }

    /// Caches keys as if they were fetched now.
    pub fn set(&self, keys: Arc<[Jwk]>) {
        let cached = CachedKeys { keys, fetched: Instant::now() };
        *self.shared.cached.write().unwrap_or_else(PoisonError::into_inner) = Some(cached);
    }

    /// Fetches the keys, unless another task fetched them after `seen` or shortly before.
    async fn refresh(&self, seen: Option<Instant>) {
        let mut last_fetch = self.shared.last_fetch.lock().await;
        let is_newer = self.cached().is_some_and(|cached| seen.is_none_or(|seen| cached.fetched > seen));
        if is_newer || last_fetch.is_some_and(|last| last.elapsed() < MIN_FETCH_INTERVAL) {
            return;
        }
        let fetched = tokio::time::timeout(FETCH_TIMEOUT, self.shared.fetch()).await;
        match fetched.unwrap_or(Err(FetchError::Timeout)) {
            Ok(keys) => self.set(keys),
            Err(error) => tracing::error!("can't fetch the keys of the authorization server: {}", chain(&error)),
        }
        // Set after a failure too, so that the tasks that waited for this fetch do not repeat it.
        *last_fetch = Some(Instant::now());
    }
}

fn select(cached: &CachedKeys, id: Option<&str>, is_suitable: impl Fn(&Jwk) -> bool) -> Option<Jwk> {
    let mut keys = cached.keys.iter().filter(|key| (id.is_none() || key.common.key_id.as_deref() == id) && is_suitable(key));
    let found = keys.next()?;
    // Some servers list a key more than once. Different keys with the same id are ambiguous.
    keys.all(|other| other.algorithm == found.algorithm).then(|| found.clone())
}

#[derive(Deserialize)]
struct OpenIdConfiguration {
    issuer: String,
    jwks_uri: Url,
}

#[derive(Deserialize)]
struct KeySet {
    keys: Vec<serde_json::Value>,
}

impl Shared {
    async fn fetch(&self) -> Result<Arc<[Jwk]>, FetchError> {
        let url = match &self.jwks_uri {
            Some(uri) => uri.clone(),
            None => {
                let configuration: OpenIdConfiguration = self.fetch_document(&self.discovery).await?;
                if !self.issuers.contains(&configuration.issuer) {
                    return Err(FetchError::Issuer { url: self.discovery.clone() });
                }
                check_secure(&configuration.jwks_uri)?;
                configuration.jwks_uri
            }
        };
        let set: KeySet = self.fetch_document(&url).await?;
        // Keys of an unknown type are skipped.
        let keys: Arc<[Jwk]> = set.keys.into_iter().filter_map(|key| serde_json::from_value(key).ok()).collect();
        if keys.is_empty() { Err(FetchError::NoKeys { url }) } else { Ok(keys) }
    }

    async fn fetch_document<T: DeserializeOwned>(&self, url: &Url) -> Result<T, FetchError> {
        let response = self.client.get(url.clone()).send().await;
        let mut response = response.map_err(|source| FetchError::Request { url: url.clone(), source })?;
        if response.status() != StatusCode::OK {
            return Err(FetchError::Status { url: url.clone(), status: response.status() });
        }
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|source| FetchError::Body { url: url.clone(), source })? {
            if bytes.len() + chunk.len() > MAX_DOCUMENT_SIZE {
                return Err(FetchError::TooLarge { url: url.clone() });
            }
            bytes.extend_from_slice(&chunk);
        }
        serde_json::from_slice(&bytes).map_err(|source| FetchError::Format { url: url.clone(), source })
    }
}
