//! Which `Host` and `Origin` a server answers to. A page in somebody's browser must not reach a server on their machine, whatever
//! name it has made the browser look up.

use crate::mcp::address::{ip, is_loopback};
use axum::http::{
    HeaderMap, Uri,
    header::{HOST, ORIGIN},
    uri::Authority,
};
use std::net::{IpAddr, SocketAddr};
use url::{Host, Url};

/// What is let through.
#[derive(Clone, Debug)]
pub struct Guard {
    /// The address that clients use, where it is another than the one that is listened on.
    public_url: Option<Url>,
    listening: IpAddr,
}

impl Guard {
    pub fn new(public_url: Option<Url>, listening: SocketAddr) -> Self {
        Self { public_url, listening: listening.ip() }
    }

    /// What is wrong with a request's `Host` or `Origin`, if anything is.
    pub fn refuses(&self, uri: &Uri, headers: &HeaderMap) -> Option<&'static str> {
        let mut hosts = headers.get_all(HOST).iter();
        let authority: Option<Authority> = match (uri.authority(), hosts.next(), hosts.next()) {
            (Some(authority), _, None) => Some(authority.clone()),
            (None, Some(host), None) => host.to_str().ok().and_then(|host| host.parse().ok()),
            _ => None,
        };
        if !authority.is_some_and(|authority| self.answers_to(&authority)) {
            return Some("this server does not answer to that Host; --public-url names the address that clients use");
        }
        let mut origins = headers.get_all(ORIGIN).iter();
        match (origins.next(), origins.next()) {
            (None, None) => None,
            (Some(origin), None) if origin.to_str().is_ok_and(|origin| self.trusts(origin)) => None,
            _ => Some("this server does not answer to pages of that Origin"),
        }
    }

    fn answers_to(&self, authority: &Authority) -> bool {
        // What the parser for addresses takes for the same host is the same host.
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

    /// Pages of the public address; without one, those of this machine.
    fn trusts(&self, origin: &str) -> bool {
        let Ok(url) = Url::parse(origin) else { return false };
        match &self.public_url {
            Some(public) => public.origin() == url.origin(),
            None => matches!(url.scheme(), "http" | "https") && url.host().is_some_and(|host| is_loopback(&host)),
        }
    }

    fn is_listening(&self, host: &Host<&str>) -> bool {
        !self.listening.is_unspecified() && ip(host) == Some(self.listening)
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
    use super::Guard;
    use axum::http::{HeaderMap, HeaderName, Uri};

    fn allows(guard: &Guard, headers: &[(&str, &str)]) -> bool {
        let headers: HeaderMap =
            headers.iter().map(|(name, value)| (name.parse::<HeaderName>().unwrap(), value.parse().unwrap())).collect();
        guard.refuses(&Uri::from_static("/mcp"), &headers).is_none()
    }

    #[test]
    fn a_local_server_answers_to_this_machine_only() {
        let guard = Guard::new(None, "127.0.0.1:8080".parse().unwrap());
        for host in ["localhost:8080", "LOCALHOST", "127.0.0.1:8080", "[::1]:1", "127.0.0.1"] {
            assert!(allows(&guard, &[("host", host)]), "{host}");
            assert!(allows(&guard, &[("host", host), ("origin", "http://localhost:3000")]), "{host}");
        }
        for host in
            ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "localhost@evil.example", "", "10.0.0.1", "0.0.0.0"]
        {
            assert!(!allows(&guard, &[("host", host)]), "{host}");
        }
        for origin in ["http://evil.example", "null", "", "http://localhost.evil.example", "file:///", "localhost", "ftp://localhost"] {
            assert!(!allows(&guard, &[("host", "localhost"), ("origin", origin)]), "{origin}");
        }
        assert!(!allows(&guard, &[]), "no host at all");
    }

    #[test]
    fn a_public_server_answers_to_its_name() {
        let guard = Guard::new(Some("https://tools.example".parse().unwrap()), "0.0.0.0:8080".parse().unwrap());
        for host in ["tools.example", "TOOLS.example:443", "localhost:8080"] {
            assert!(allows(&guard, &[("host", host)]), "{host}");
        }
        for host in ["tools.example:8080", "other.example", "tools.example.", "0.0.0.0:8080"] {
            assert!(!allows(&guard, &[("host", host)]), "{host}");
        }
        assert!(allows(&guard, &[("host", "tools.example"), ("origin", "https://tools.example")]));
        for origin in ["http://tools.example", "https://tools.example:8443", "http://localhost", "https://x.tools.example"] {
            assert!(!allows(&guard, &[("host", "tools.example"), ("origin", origin)]), "{origin}");
        }
    }

    #[test]
    fn a_server_on_one_address_answers_to_it() {
        let guard = Guard::new(None, "192.0.2.7:8080".parse().unwrap());
        assert!(allows(&guard, &[("host", "192.0.2.7:8080")]));
        assert!(!allows(&guard, &[("host", "192.0.2.8:8080")]));
    }

    #[test]
    fn two_hosts_or_origins_are_none() {
        let guard = Guard::new(None, "127.0.0.1:8080".parse().unwrap());
        let twice = |name: &str, value: &'static str| {
            let mut headers: HeaderMap = [("host", "localhost"), ("origin", "http://localhost")]
                .into_iter()
                .map(|(name, value)| (name.parse::<HeaderName>().unwrap(), value.parse().unwrap()))
                .collect();
            headers.append(name.parse::<HeaderName>().unwrap(), value.parse().unwrap());
            guard.refuses(&Uri::from_static("/mcp"), &headers).is_none()
        };
        assert!(!twice("host", "localhost"));
        assert!(!twice("origin", "http://localhost"));
    }
}
