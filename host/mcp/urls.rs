//! Checks on URLs of servers.

use super::auth::AuthOptionsError;
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

/// Rejects a URL whose responses could be changed in transit, or that contains credentials.
///
/// # Errors
///
/// When the scheme is not `https` (`http` is allowed for loopback hosts), or the URL has a user name, a password or a fragment.
pub fn check_secure(url: &Url) -> Result<(), AuthOptionsError> {
    let is_local = url.host().is_some_and(|host| is_loopback(&host));
    if url.scheme() != "https" && !(url.scheme() == "http" && is_local) {
        return Err(AuthOptionsError::NotHttps(url.clone()));
    }
    if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
        // The URL itself is not shown: it may contain a password.
        return Err(AuthOptionsError::Credentials(url.host_str().unwrap_or_default().to_owned()));
    }
    Ok(())
}
