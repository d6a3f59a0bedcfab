//! Who asks: bearer tokens that an authorization server signed, checked against its keys.
//!
//! A token is read here and goes nowhere else. Whatever can't be checked is refused. No address in a token is ever fetched from.

mod keys;
mod token;

use keys::Keys;

use axum::http::{HeaderMap, StatusCode, header::AUTHORIZATION};
use std::time::SystemTime;
use url::Url;

/// What tokens must be like.
#[derive(Clone, Debug)]
pub struct AuthSettings {
    /// Who issues them, as clients are told.
    pub name: String,
    /// The same as an address.
    pub authority: Url,
    /// Whom they must be meant for.
    pub audience: String,
    /// Where the keys are, if the authority is not to be asked.
    pub jwks_uri: Option<Url>,
    /// What they must allow, all of it.
    pub scopes: Vec<String>,
}

impl AuthSettings {
    /// The name of the authority, with and without a slash at its end: authorities differ in what they put into tokens.
    fn issuers(&self) -> [String; 2] {
        let name = self.issuer().to_owned();
        [format!("{name}/"), name]
    }

    /// The name of the authority, in one spelling.
    pub fn issuer(&self) -> &str {
        self.authority.as_str().trim_end_matches('/')
    }
}

/// Whoever a valid token speaks of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The authority's name for them.
    pub name: String,
    /// When the token ends.
    pub until: SystemTime,
}

/// Why a request is not let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// There is no token.
    Missing,
    /// It is not valid; for whoever holds it.
    Invalid(&'static str),
    /// It does not allow enough.
    Scope,
    /// The keys can't be had.
    Unavailable,
}

impl Rejection {
    /// The status of the answer.
    pub fn status(&self) -> StatusCode {
        match self {
            Self::Missing | Self::Invalid(_) => StatusCode::UNAUTHORIZED,
            Self::Scope => StatusCode::FORBIDDEN,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// The error and its description, as RFC 6750 has them.
    pub fn error(&self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Missing => None,
            Self::Invalid(reason) => Some(("invalid_token", reason)),
            Self::Scope => Some(("insufficient_scope", "the token does not allow this")),
            Self::Unavailable => Some(("temporarily_unavailable", "the authorization server's keys can't be had")),
        }
    }
}

/// Checks tokens.
pub struct Authenticator {
    settings: AuthSettings,
    keys: Keys,
}

impl Authenticator {
    pub fn new(settings: AuthSettings) -> anyhow::Result<Self> {
        let keys = Keys::new(&settings)?;
        Ok(Self { settings, keys })
    }

    pub fn settings(&self) -> &AuthSettings {
        &self.settings
    }

    /// Who asks, by the one token in the headers.
    pub async fn check(&self, headers: &HeaderMap) -> Result<Subject, Rejection> {
        let mut values = headers.get_all(AUTHORIZATION).iter();
        let value = values.next().ok_or(Rejection::Missing)?;
        if values.next().is_some() {
            return Err(Rejection::Invalid("there is more than one token"));
        }
        let token = value.to_str().ok().and_then(|value| value.split_once(' ')).filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        let (_, token) = token.ok_or(Rejection::Missing)?;
        token::check(token.trim(), &self.settings, &self.keys).await
    }
}
