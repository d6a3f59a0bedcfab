//! The authority's keys: fetched when they are first needed, kept, and fetched again when a token names one that is not known,
//! once for all who wait and not often.

use super::{AuthSettings, Rejection};
use crate::mcp::address::check_secure;
use anyhow::{Context as _, Result, bail, ensure};
use jsonwebtoken::jwk::Jwk;
use serde::{Deserialize, de::DeserializeOwned};
use std::{
    sync::{Arc, PoisonError, RwLock},
    time::{Duration, Instant},
};
use tokio::sync::Mutex;
use url::Url;

/// Older keys are fetched again in the background, so that one that was withdrawn is not used for long.
const STALE: Duration = Duration::from_secs(5 * 60);

/// Older keys are not used at all.
const EXPIRED: Duration = Duration::from_secs(60 * 60);

/// Between two fetches, whatever tokens say.
const PAUSE: Duration = Duration::from_secs(5);

/// For all documents of the authority's together.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Bytes of one document, which the host holds.
const MAX_DOCUMENT: usize = 1 << 20;

/// The keys of one authority.
#[derive(Clone)]
pub struct Keys {
    shared: Arc<Shared>,
}

struct Shared {
    client: reqwest::Client,
    issuers: [String; 2],
    discovery: Url,
    jwks_uri: Option<Url>,
    known: RwLock<Option<Known>>,
    /// When they were last asked for; held by whoever asks.
    asked: Mutex<Option<Instant>>,
}

#[derive(Clone)]
struct Known {
    keys: Arc<[Jwk]>,
    since: Instant,
}

impl Keys {
    pub fn new(settings: &AuthSettings) -> Result<Self> {
        // A redirect could lead anywhere, and no credentials or cookies are needed.
        let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build()?;
        let mut discovery = settings.authority.clone();
        discovery.set_path(&format!("{}/.well-known/openid-configuration", settings.authority.path().trim_end_matches('/')));
        let shared = Shared {
            client,
            issuers: settings.issuers(),
            discovery,
            jwks_uri: settings.jwks_uri.clone(),
            known: RwLock::default(),
            asked: Mutex::default(),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// The key by that name among those that are fit; a token without a name is for the only one.
    pub async fn find(&self, name: Option<&str>, is_fit: impl Fn(&Jwk) -> bool) -> Result<Jwk, Rejection> {
        let before = self.known();
        if let Some(known) = &before
            && let Some(key) = pick(known, name, &is_fit)
        {
            if known.since.elapsed() > STALE && self.shared.asked.try_lock().is_ok() {
                let (keys, since) = (self.clone(), known.since);
                tokio::spawn(async move { keys.refresh(Some(since)).await });
            }
            return Ok(key);
        }
        // In a task of its own: a client that hangs up must not make the next one ask again.
        let (keys, since) = (self.clone(), before.map(|known| known.since));
        let _ = tokio::spawn(async move { keys.refresh(since).await }).await;
        let known = self.known().ok_or(Rejection::Unavailable)?;
        pick(&known, name, &is_fit).ok_or(Rejection::Invalid("its key is not known"))
    }

    /// What is known and not too old.
    fn known(&self) -> Option<Known> {
        let known = self.shared.known.read().unwrap_or_else(PoisonError::into_inner).clone();
        known.filter(|known| known.since.elapsed() < EXPIRED)
    }

    /// Fetches the keys, unless somebody else has done so since `seen`, or did so a moment ago.
    async fn refresh(&self, seen: Option<Instant>) {
        let mut asked = self.shared.asked.lock().await;
        let is_news = self.known().is_some_and(|known| seen.is_none_or(|seen| known.since > seen));
        if is_news || asked.is_some_and(|asked| asked.elapsed() < PAUSE) {
            return;
        }
        let fetched = tokio::time::timeout(TIMEOUT, self.shared.fetch()).await;
        match fetched.unwrap_or_else(|_| Err(anyhow::anyhow!("no answer within {} s", TIMEOUT.as_secs()))) {
            Ok(keys) => {
                let known = Known { keys, since: Instant::now() };
                *self.shared.known.write().unwrap_or_else(PoisonError::into_inner) = Some(known);
            }
            Err(error) => tracing::error!("the keys of the authorization server can't be had: {error:#}"),
        }
        // Those who waited for this do not ask again.
        *asked = Some(Instant::now());
    }
}

fn pick(known: &Known, name: Option<&str>, is_fit: impl Fn(&Jwk) -> bool) -> Option<Jwk> {
    let mut fit = known.keys.iter().filter(|key| (name.is_none() || key.common.key_id.as_deref() == name) && is_fit(key));
    match (fit.next(), fit.next()) {
        (Some(only), None) => Some(only.clone()),
        _ => None,
    }
}

#[derive(Deserialize)]
struct Discovery {
    issuer: String,
    jwks_uri: Url,
}

#[derive(Deserialize)]
struct KeySet {
    keys: Vec<serde_json::Value>,
}

impl Shared {
    async fn fetch(&self) -> Result<Arc<[Jwk]>> {
        let discovered = match &self.jwks_uri {
            Some(uri) => uri.clone(),
            None => {
                let document: Discovery = self.document(&self.discovery).await?;
                ensure!(self.issuers.contains(&document.issuer), "{} is of another issuer", self.discovery);
                check_secure(&document.jwks_uri)?;
                document.jwks_uri
            }
        };
        let set: KeySet = self.document(&discovered).await?;
        // A key of a kind that is not known is no reason to do without the others.
        let keys: Arc<[Jwk]> = set.keys.into_iter().filter_map(|key| serde_json::from_value(key).ok()).collect();
        ensure!(!keys.is_empty(), "{discovered} has no key that can be used");
        Ok(keys)
    }

    async fn document<T: DeserializeOwned>(&self, url: &Url) -> Result<T> {
        let mut response = self.client.get(url.clone()).send().await.with_context(|| format!("no answer from {url}"))?;
        if response.status() != reqwest::StatusCode::OK {
            bail!("{url} answers with {}", response.status());
        }
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.with_context(|| format!("{url} can't be read"))? {
            ensure!(bytes.len() + chunk.len() <= MAX_DOCUMENT, "{url} has more than {MAX_DOCUMENT} bytes");
            bytes.extend_from_slice(&chunk);
        }
        serde_json::from_slice(&bytes).with_context(|| format!("{url} is not what it should be"))
    }
}
