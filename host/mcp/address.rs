//! Addresses of servers.

use anyhow::{Result, ensure};
use std::net::IpAddr;
use url::{Host, Url};

/// The address of a path below another.
pub fn below(url: &Url, path: &str) -> String {
    format!("{}{path}", url.as_str().trim_end_matches('/'))
}

/// Whether a host is this machine to everybody.
pub fn is_loopback(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => *name == "localhost",
        other => ip(other).is_some_and(|ip| ip.is_loopback()),
    }
}

/// The host's address, if it is written as one.
pub fn ip(host: &Host<&str>) -> Option<IpAddr> {
    match host {
        Host::Domain(_) => None,
        Host::Ipv4(ip) => Some((*ip).into()),
        Host::Ipv6(ip) => Some((*ip).into()),
    }
}

/// Refuses an address on whose way somebody else could change what comes from there, or that holds a password.
///
/// # Errors
///
/// When it is not `https`, but for this machine, or has a user, a password or a fragment.
pub fn check_secure(url: &Url) -> Result<()> {
    let is_local = url.host().is_some_and(|host| is_loopback(&host));
    ensure!(url.scheme() == "https" || (url.scheme() == "http" && is_local), "{url} must begin with https://");
    let is_plain = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
    ensure!(is_plain, "the address of {} must not have a user, a password or a fragment in it", url.host_str().unwrap_or_default());
    Ok(())
}
