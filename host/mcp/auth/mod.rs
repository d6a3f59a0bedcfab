//! Authentication of clients: bearer tokens that an authorization server signed, checked against its keys.
//!
//! A token is read here and never passed on. A token that can't be checked is rejected. No URL in a token is ever fetched.

mod options;
mod signing_keys;
mod token;

pub use options::{AuthOptions, AuthOptionsError};

use axum::http::{HeaderMap, StatusCode, header::AUTHORIZATION};
use signing_keys::SigningKeys;
use std::time::SystemTime;
use url::Url;

/// The options of authentication with all defaults filled in.
#[derive(Clone, Debug)]
pub struct AuthSettings {
    pub options: AuthOptions,
    pub audience: String,
    /// The URL that clients use, without a path.
    pub public_url: Url,
}

/// The subject of a valid token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The name of the subject, unique for its issuer.
    pub name: String,
    /// The time when the token expires.
    pub expires: SystemTime,
}

/// The reason that a request was not authenticated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// The request has no token.
    Missing,
    /// The token is invalid. Contains the reason for the client.
    Invalid(&'static str),
    /// The token lacks a required scope.
    Scope,
    /// The keys of the authorization server can't be fetched.
    Unavailable,
}

impl Rejection {
    /// Returns the status of the response.
    pub fn status(&self) -> StatusCode {
        match self {
            Self::Missing | Self::Invalid(_) => StatusCode::UNAUTHORIZED,
            Self::Scope => StatusCode::FORBIDDEN,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// Returns the error code and its description (RFC 6750).
    pub fn error(&self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Missing => None,
            Self::Invalid(reason) => Some(("invalid_token", reason)),
            Self::Scope => Some(("insufficient_scope", "the token lacks a required scope")),
            Self::Unavailable => Some(("temporarily_unavailable", "can't fetch the keys of the authorization server")),
        }
    }
}

/// Checks the tokens of requests.
pub struct Authenticator {
    settings: AuthSettings,
    keys: SigningKeys,
}

impl Authenticator {
    /// Creates an authenticator. The keys are fetched when the first token is checked.
    ///
    /// # Errors
    ///
    /// When the HTTP client can't be created.
    pub fn new(settings: AuthSettings) -> Result<Self, reqwest::Error> {
        let keys = SigningKeys::new(&settings.options)?;
        Ok(Self { settings, keys })
    }

    /// Sets the keys, which are then not fetched.
    #[cfg(feature = "fuzzing")]
    pub fn set_keys(&self, keys: std::sync::Arc<[jsonwebtoken::jwk::Jwk]>) {
        self.keys.set(keys);
    }

    pub fn settings(&self) -> &AuthSettings {
        &self.settings
    }

    /// Returns the subject of the bearer token in the headers.
    pub async fn authenticate(&self, headers: &HeaderMap) -> Result<Subject, Rejection> {
        let mut values = headers.get_all(AUTHORIZATION).iter();
        let value = values.next().ok_or(Rejection::Missing)?;
        if values.next().is_some() {
            return Err(Rejection::Invalid("the request has more than one token"));
        }
        let token = value.to_str().ok().and_then(|value| value.split_once(' ')).filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        let (_, token) = token.ok_or(Rejection::Missing)?;
        token::check(token.trim(), &self.settings, &self.keys).await
    }
}
