//! How an API wants to be shown a credential: the security schemes of its specification.

use crate::sdk::{
    document::{Node, SpecError},
    secret::Secret,
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use reqwest::{
    Request,
    header::{AUTHORIZATION, COOKIE, HeaderName, HeaderValue},
};

/// How a credential is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scheme {
    Bearer,
    Basic,
    Header(String),
    Query(String),
    Cookie(String),
}

impl Scheme {
    /// One of the specification's security schemes; nothing for those that need no secret of ours.
    pub fn read(node: &Node<'_>) -> Result<Option<Self>, SpecError> {
        let name = node.text("name").to_owned();
        Ok(match (node.text("type"), node.text("in"), node.text("scheme").to_ascii_lowercase().as_str()) {
            ("http", _, "basic") => Some(Self::Basic),
            ("http" | "oauth2" | "openIdConnect", ..) => Some(Self::Bearer),
            ("apiKey", "header", _) => Some(Self::Header(name)),
            ("apiKey", "query", _) => Some(Self::Query(name)),
            ("apiKey", "cookie", _) => Some(Self::Cookie(name)),
            ("mutualTLS", ..) => None,
            (kind, place, _) => return Err(SpecError::new(format!("a security scheme of type '{kind}' in '{place}' is not known"))),
        })
    }

    /// The name in the query or among the cookies that it has, which is not a script's to set.
    pub fn key(&self) -> Option<&str> {
        match self {
            Self::Query(name) | Self::Cookie(name) => Some(name),
            _ => None,
        }
    }

    /// Shows the secret.
    pub fn show(&self, secret: &Secret, request: &mut Request) -> Result<(), String> {
        if let Self::Query(name) = self {
            request.url_mut().query_pairs_mut().append_pair(name, secret.reveal());
            return Ok(());
        }
        let headers = request.headers_mut();
        let unusable = || "the API's credential can't be part of a header".to_owned();
        let mut put = |name: HeaderName, text: String| {
            let mut value = HeaderValue::from_str(&text).map_err(|_| unusable())?;
            value.set_sensitive(true);
            headers.insert(name, value);
            Ok::<_, String>(())
        };
        match self {
            Self::Bearer => put(AUTHORIZATION, format!("Bearer {}", secret.reveal()))?,
            Self::Basic => put(AUTHORIZATION, format!("Basic {}", BASE64_STANDARD.encode(secret.reveal())))?,
            Self::Header(name) => put(HeaderName::try_from(name.as_str()).map_err(|_| unusable())?, secret.reveal().to_owned())?,
            Self::Cookie(name) => {
                let others =
                    headers.get(COOKIE).and_then(|value| value.to_str().ok()).map(|others| format!("{others}; ")).unwrap_or_default();
                let mut value = HeaderValue::from_str(&format!("{others}{name}={}", secret.reveal())).map_err(|_| unusable())?;
                value.set_sensitive(true);
                headers.insert(COOKIE, value);
            }
            Self::Query(_) => {}
        }
        Ok(())
    }
}

/// The schemes that the document defines, by name.
pub fn schemes(root: &Node<'_>) -> Result<Vec<(String, Scheme)>, SpecError> {
    let Some(all) = root.get("components").and_then(|components| components.get("securitySchemes")) else { return Ok(Vec::new()) };
    let mut schemes = Vec::new();
    for (name, node) in all.members() {
        if let Some(scheme) = Scheme::read(&node.resolve()?)? {
            schemes.push((name, scheme));
        }
    }
    Ok(schemes)
}
