//! The security schemes of a specification: how a credential is added to a request.

use crate::sdk::{credential::CredentialKind, document::Node, error::SpecError, secret::Secret};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use reqwest::{
    Request,
    header::{AUTHORIZATION, COOKIE, HeaderName, HeaderValue},
};

/// The part of a request that contains the credential.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SecurityScheme {
    Bearer,
    Basic,
    Header(String),
    Query(String),
    Cookie(String),
}

impl SecurityScheme {
    /// Reads a security scheme. Returns `None` for a scheme that needs no credential in the request.
    pub fn read(node: &Node<'_>) -> Result<Option<Self>, SpecError> {
        let name = node.text("name").to_owned();
        Ok(match (node.text("type"), node.text("in"), node.text("scheme").to_ascii_lowercase().as_str()) {
            ("http", _, "basic") => Some(Self::Basic),
            ("http" | "oauth2" | "openIdConnect", ..) => Some(Self::Bearer),
            ("apiKey", "header", _) => Some(Self::Header(name)),
            ("apiKey", "query", _) => Some(Self::Query(name)),
            ("apiKey", "cookie", _) => Some(Self::Cookie(name)),
            ("mutualTLS", ..) => None,
            (kind, location, _) => {
                return Err(SpecError::new(format!("unknown security scheme of type '{kind}' in '{location}'")));
            }
        })
    }

    /// Returns the query parameter or cookie that contains the credential. Scripts must not set it.
    pub fn key(&self) -> Option<&str> {
        match self {
            Self::Query(name) | Self::Cookie(name) => Some(name),
            _ => None,
        }
    }

    /// Returns `true` if a credential of this kind belongs to the scheme.
    pub fn accepts(&self, kind: CredentialKind) -> bool {
        match self {
            Self::Bearer => kind == CredentialKind::Bearer,
            Self::Basic => kind == CredentialKind::Basic,
            Self::Header(_) | Self::Query(_) | Self::Cookie(_) => kind == CredentialKind::ApiKey,
        }
    }

    /// Adds the credential to a request.
    pub fn authorize(&self, request: &mut Request, secret: &Secret) -> Result<(), String> {
        if let Self::Query(name) = self {
            request.url_mut().query_pairs_mut().append_pair(name, secret.reveal());
            return Ok(());
        }
        let headers = request.headers_mut();
        let invalid = || "the credential has a character that is not allowed in a header".to_owned();
        let cookies = headers.get(COOKIE).and_then(|value| value.to_str().ok()).map(|cookies| format!("{cookies}; ")).unwrap_or_default();
        let mut insert = |name: HeaderName, text: String| {
            let mut value = HeaderValue::from_str(&text).map_err(|_| invalid())?;
            value.set_sensitive(true);
            headers.insert(name, value);
            Ok::<_, String>(())
        };
        match self {
            Self::Bearer => insert(AUTHORIZATION, format!("Bearer {}", secret.reveal()))?,
            Self::Basic => insert(AUTHORIZATION, format!("Basic {}", BASE64_STANDARD.encode(secret.reveal())))?,
            Self::Header(name) => insert(HeaderName::try_from(name.as_str()).map_err(|_| invalid())?, secret.reveal().to_owned())?,
            Self::Cookie(name) => insert(COOKIE, format!("{cookies}{name}={}", secret.reveal()))?,
            Self::Query(_) => {}
        }
        Ok(())
    }
}

/// Reads the schemes of a specification, with their names.
pub fn security_schemes(root: &Node<'_>) -> Result<Vec<(String, SecurityScheme)>, SpecError> {
    let Some(all) = root.get("components").and_then(|components| components.get("securitySchemes")) else { return Ok(Vec::new()) };
    let mut schemes = Vec::new();
    for (name, node) in all.members() {
        let location = format!("components.securitySchemes.{name}");
        let scheme = node.resolve().and_then(|node| SecurityScheme::read(&node)).map_err(|error| error.at(&location))?;
        if let Some(scheme) = scheme {
            schemes.push((name, scheme));
        }
    }
    Ok(schemes)
}
