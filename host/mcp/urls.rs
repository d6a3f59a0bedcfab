//! Hosts and paths of URLs.

use std::net::IpAddr;
use url::{Host, Url};

/// Appends a path to a URL.
pub fn join_path(url: &Url, path: &str) -> String {
    format!("{}{path}", url.as_str().trim_end_matches('/'))
}

/// Returns `true` if the host is `localhost` or a loopback address.
pub fn is_loopback(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => *name == "localhost",
        other => ip_address(other).is_some_and(|ip| ip.is_loopback()),
    }
}

/// Returns the host as an IP address, or `None` if it is a domain name.
pub fn ip_address(host: &Host<&str>) -> Option<IpAddr> {
    match host {
        Host::Domain(_) => None,
        Host::Ipv4(ip) => Some((*ip).into()),
        Host::Ipv6(ip) => Some((*ip).into()),
    }
}
