//! The options of authentication.

use crate::mcp::urls::is_loopback;
use url::Url;

/// The tokens that a server accepts.
///
/// Each subject of a valid token is a tenant with files, a run quota and a rate limit of its own.
#[derive(Clone, Debug)]
pub struct AuthOptions {
    /// The authorization server as the user wrote it, for clients.
    pub(super) authority_name: String,
    pub(super) authority: Url,
    pub(super) audience: Option<String>,
    pub(super) jwks_uri: Option<Url>,
    pub(super) scopes: Vec<String>,
}

/// An option of authentication that can't be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthOptionsError {
    /// The text is not a URL.
    #[error("{text} is not a URL")]
    InvalidUrl {
        /// The text.
        text: String,
        /// The reason.
        #[source]
        source: url::ParseError,
    },
    /// The URL is neither `https` nor on a loopback host.
    #[error("{0} must begin with https://")]
    NotHttps(Url),
    /// The URL of this host contains a user name, a password or a fragment.
    #[error("the URL of {0} must not contain a user name, a password or a fragment")]
    Credentials(String),
    /// A scope is empty or contains characters that OAuth does not allow.
    #[error("a scope must consist of letters, digits and punctuation, without quotes and backslashes")]
    InvalidScope,
}

impl AuthOptions {
    /// Accepts tokens of one authorization server, the issuer.
    ///
    /// The defaults:
    /// - `audience`: the public URL of the server with `/mcp`
    /// - `jwks_uri`: from the OpenID configuration of the authorization server
    /// - no required scopes
    ///
    /// # Errors
    ///
    /// When `authority` is not an `https` URL. For loopback hosts, `http` is allowed too.
    pub fn new(authority: impl Into<String>) -> Result<Self, AuthOptionsError> {
        let authority_name = authority.into();
        let authority =
            Url::parse(&authority_name).map_err(|source| AuthOptionsError::InvalidUrl { text: authority_name.clone(), source })?;
        check_secure(&authority)?;
        Ok(Self { authority_name, authority, audience: None, jwks_uri: None, scopes: Vec::new() })
    }

    /// Sets the audience that tokens must have.
    #[must_use]
    pub fn with_audience(mut self, audience: impl Into<String>) -> Self {
        self.audience = Some(audience.into());
        self
    }

    /// Sets the URL of the authorization server's keys.
    ///
    /// # Errors
    ///
    /// When it is not an `https` URL. For loopback hosts, `http` is allowed too.
    pub fn with_jwks_uri(mut self, uri: Url) -> Result<Self, AuthOptionsError> {
        check_secure(&uri)?;
        self.jwks_uri = Some(uri);
        Ok(self)
    }

    /// Sets the scopes that tokens must have, all of them.
    ///
    /// # Errors
    ///
    /// When a scope is empty or contains characters that OAuth does not allow.
    pub fn with_scopes(mut self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Result<Self, AuthOptionsError> {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        let is_allowed = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
        let is_valid = |scope: &String| !scope.is_empty() && scope.bytes().all(is_allowed);
        if self.scopes.iter().all(is_valid) { Ok(self) } else { Err(AuthOptionsError::InvalidScope) }
    }

    /// Returns the authorization server as the user wrote it.
    pub(in crate::mcp) fn authority_name(&self) -> &str {
        &self.authority_name
    }

    pub(in crate::mcp) fn audience(&self) -> Option<&str> {
        self.audience.as_deref()
    }

    pub(in crate::mcp) fn scopes(&self) -> &[String] {
        &self.scopes
    }

    /// Returns the issuer without a slash at the end.
    pub(in crate::mcp) fn issuer(&self) -> &str {
        self.authority.as_str().trim_end_matches('/')
    }

    /// Returns the issuer with and without a slash at the end. Authorization servers differ in the form that they put into tokens.
    pub(super) fn issuers(&self) -> [String; 2] {
        let issuer = self.issuer().to_owned();
        [format!("{issuer}/"), issuer]
    }
}

/// Rejects a URL whose responses could be changed in transit, or that contains credentials.
///
/// # Errors
///
/// When the scheme is not `https` (`http` is allowed for loopback hosts), or the URL has a user name, a password or a fragment.
pub(super) fn check_secure(url: &Url) -> Result<(), AuthOptionsError> {
    // Checked first, and the URL is not shown, because it may contain a password.
    if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
        return Err(AuthOptionsError::Credentials(url.host_str().unwrap_or_default().to_owned()));
    }
    let is_local = url.host().is_some_and(|host| is_loopback(&host));
    if url.scheme() == "https" || (url.scheme() == "http" && is_local) { Ok(()) } else { Err(AuthOptionsError::NotHttps(url.clone())) }
}
