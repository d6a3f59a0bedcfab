//! The check of `Host` and `Origin`.
//!
//! It stops DNS rebinding: a page in a browser must not reach a local server through a host name that resolves to it.

use crate::mcp::urls::{ip_address, is_loopback};
use axum::http::{
    HeaderMap, Uri,
    header::{HOST, ORIGIN},
    uri::Authority,
};
use std::net::IpAddr;
use url::{Host, Url};

/// The hosts and origins that a server accepts.
#[derive(Clone, Debug)]
pub struct HostCheck {
    /// The URL that clients use, if it differs from the listening address.
    public_url: Option<Url>,
    listening: Option<IpAddr>,
}

impl HostCheck {
    pub fn new(public_url: Option<Url>, listening: Option<IpAddr>) -> Self {
        Self { public_url, listening }
    }

    /// Checks the `Host` and `Origin` of a request.
    ///
    /// # Errors
    ///
    /// The reason for the client.
    pub fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), &'static str> {
        let mut hosts = headers.get_all(HOST).iter();
        let authority: Option<Authority> = match (uri.authority(), hosts.next(), hosts.next()) {
            (Some(authority), _, None) => Some(authority.clone()),
            (None, Some(host), None) => host.to_str().ok().and_then(|host| host.parse().ok()),
            _ => None,
        };
        if !authority.is_some_and(|authority| self.accepts_host(&authority)) {
            return Err("this Host is not allowed; set the public URL of the server (--public-url) to the URL that clients use");
        }
        let mut origins = headers.get_all(ORIGIN).iter();
        match (origins.next(), origins.next()) {
            (None, None) => Ok(()),
            (Some(origin), None) if origin.to_str().is_ok_and(|origin| self.accepts_origin(origin)) => Ok(()),
            _ => Err("this Origin is not allowed"),
        }
    }

    fn accepts_host(&self, authority: &Authority) -> bool {
        // The URL parser normalizes the host, so that equal hosts compare as equal.
        let Ok(url) = Url::parse(&format!("http://{authority}/")) else { return false };
        if !url.username().is_empty() || url.password().is_some() {
            return false;
        }
        let public = self.public_url.as_ref().is_some_and(|public| {
            let port = authority.port_u16().or_else(|| default_port(public));
            public.host() == url.host() && public.port_or_known_default() == port
        });
        public || url.host().is_some_and(|host| is_loopback(&host) || self.is_listening(&host))
    }

    /// Returns `true` for the origin of the public URL, or without one for loopback origins.
    fn accepts_origin(&self, origin: &str) -> bool {
        let Ok(url) = Url::parse(origin) else { return false };
        match &self.public_url {
            Some(public) => public.origin() == url.origin(),
            None => matches!(url.scheme(), "http" | "https") && url.host().is_some_and(|host| is_loopback(&host)),
        }
    }

    fn is_listening(&self, host: &Host<&str>) -> bool {
        self.listening.is_some_and(|address| !address.is_unspecified() && ip_address(host) == Some(address))
    }
}

fn default_port(url: &Url) -> Option<u16> {
    match url.scheme() {
        "https" => Some(443),
        "http" => Some(80),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::HostCheck;
    use axum::http::{HeaderMap, HeaderName, Uri};

    fn allows(check: &HostCheck, headers: &[(&str, &str)]) -> bool {
        let headers: HeaderMap =
            headers.iter().map(|(name, value)| (name.parse::<HeaderName>().unwrap(), value.parse().unwrap())).collect();
        check.check(&Uri::from_static("/mcp"), &headers).is_ok()
    }

    #[test]
    fn a_local_server_accepts_loopback_hosts_only() {
        let check = HostCheck::new(None, "127.0.0.1".parse().ok());
        for host in ["localhost:8080", "LOCALHOST", "127.0.0.1:8080", "[::1]:1", "127.0.0.1"] {
            assert!(allows(&check, &[("host", host)]), "{host}");
            assert!(allows(&check, &[("host", host), ("origin", "http://localhost:3000")]), "{host}");
        }
        for host in
            ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "localhost@evil.example", "", "10.0.0.1", "0.0.0.0"]
        {
            assert!(!allows(&check, &[("host", host)]), "{host}");
        }
        for origin in ["http://evil.example", "null", "", "http://localhost.evil.example", "file:///", "localhost", "ftp://localhost"] {
            assert!(!allows(&check, &[("host", "localhost"), ("origin", origin)]), "{origin}");
        }
        assert!(!allows(&check, &[]), "a request without Host");
    }

    #[test]
    fn a_public_server_accepts_its_name() {
        let check = HostCheck::new(Some("https://tools.example".parse().unwrap()), "0.0.0.0".parse().ok());
        for host in ["tools.example", "TOOLS.example:443", "localhost:8080"] {
            assert!(allows(&check, &[("host", host)]), "{host}");
        }
        for host in ["tools.example:8080", "other.example", "tools.example.", "0.0.0.0:8080"] {
            assert!(!allows(&check, &[("host", host)]), "{host}");
        }
        assert!(allows(&check, &[("host", "tools.example"), ("origin", "https://tools.example")]));
        for origin in ["http://tools.example", "https://tools.example:8443", "http://localhost", "https://x.tools.example"] {
            assert!(!allows(&check, &[("host", "tools.example"), ("origin", origin)]), "{origin}");
        }
    }

    #[test]
    fn a_server_accepts_the_address_it_listens_on() {
        let check = HostCheck::new(None, "192.0.2.7".parse().ok());
        assert!(allows(&check, &[("host", "192.0.2.7:8080")]));
        assert!(!allows(&check, &[("host", "192.0.2.8:8080")]));
    }

    #[test]
    fn repeated_hosts_and_origins_are_rejected() {
        let check = HostCheck::new(None, "127.0.0.1".parse().ok());
        let twice = |name: &str, value: &'static str| {
            let mut headers: HeaderMap = [("host", "localhost"), ("origin", "http://localhost")]
                .into_iter()
                .map(|(name, value)| (name.parse::<HeaderName>().unwrap(), value.parse().unwrap()))
                .collect();
            headers.append(name.parse::<HeaderName>().unwrap(), value.parse().unwrap());
            check.check(&Uri::from_static("/mcp"), &headers).is_ok()
        };
        assert!(!twice("host", "localhost"));
        assert!(!twice("origin", "http://localhost"));
    }
}
