//! The URL of an API, from the options or the `servers` of the specification.

use super::ApiSettings;
use crate::sdk::{
    document::{Document, Node},
    egress::is_http,
    error::SpecError,
};
use url::Url;

/// Returns the URL of the API: `base_url`, or the first server of the specification, or the host that the specification is from.
pub fn base_url(document: &Document, settings: &ApiSettings) -> Result<Url, SpecError> {
    if let Some(url) = &settings.base_url {
        return check_url(url.clone());
    }
    let Some(text) = first_server(&document.root()) else {
        return match &settings.origin {
            Some(origin) => check_url(origin.join("/").map_err(|_| SpecError::new("its URL has no root path; set base_url"))?),
            None => Err(SpecError::new("the specification has no server; set base_url")),
        };
    };
    parse_server(&text, settings)
}

/// Returns the first server of the specification, a path or an operation, with the defaults of its variables.
pub fn first_server(node: &Node<'_>) -> Option<String> {
    let server = node.get("servers")?.get("0")?;
    let mut parts = server.text("url").split('{');
    let mut text = parts.next()?.to_owned();
    for part in parts {
        let (name, rest) = part.split_once('}').unwrap_or((part, ""));
        let variable = server.get("variables").and_then(|variables| variables.get(name));
        text.push_str(variable.map(|variable| variable.text("default")).unwrap_or_default());
        text.push_str(rest);
    }
    Some(text)
}

/// Parses the URL of a server. A relative URL is relative to the URL of the specification.
pub fn parse_server(text: &str, settings: &ApiSettings) -> Result<Url, SpecError> {
    let parsed = match &settings.origin {
        Some(origin) => origin.join(text),
        None => Url::parse(text),
    };
    check_url(parsed.map_err(|_| SpecError::new(format!("the server '{text}' is not an absolute URL; set base_url")))?)
}

fn check_url(url: Url) -> Result<Url, SpecError> {
    let is_plain = url.username().is_empty() && url.password().is_none() && url.query().is_none() && url.fragment().is_none();
    if !is_http(&url) || !is_plain {
        return Err(SpecError::new(format!("the server '{url}' is not an HTTP(S) URL without user, query and fragment; set base_url")));
    }
    Ok(url)
}
