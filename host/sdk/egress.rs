//! Outgoing HTTP requests to the configured servers.
//!
//! Security: the address check uses the addresses that a host name resolves to, and the connection uses exactly those addresses. Redirects
//! are not followed, proxies from the environment are not used, and the size of a response is limited.

use crate::functions::ResponseBudget;
use reqwest::{
    Client, Request,
    dns::{Addrs, Name, Resolve, Resolving},
    header::{CONTENT_ENCODING, HeaderMap},
    redirect::Policy,
};
use rmcp::transport::streamable_http_client::StreamableHttpError;
use std::{
    error::Error,
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::{Arc, OnceLock},
    time::Duration,
};
use url::{Host, Url};

/// The time to connect. The timeout of the script bounds the whole call.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The length in characters of an encoding in an error message.
const MAX_ENCODING: usize = 40;

/// The host is, or resolves to, a private or loopback address.
#[derive(Debug, thiserror::Error)]
#[error("has a private address; set allow_private = true to allow it")]
struct PrivateAddress;

/// The name of the host has no address.
#[derive(Debug, thiserror::Error)]
#[error("its name can't be resolved")]
struct UnknownHost;

/// The HTTP client of one API or MCP server.
pub struct Egress {
    client: OnceLock<Option<Client>>,
    allow_private: bool,
}

/// The response to a request.
pub struct Response {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Egress {
    /// Creates a client that decodes compressed responses. The code that reads a response must bound its decoded size.
    pub fn new(allow_private: bool) -> Self {
        Self { client: OnceLock::new(), allow_private }
    }

    /// Returns the client, for a protocol on top of HTTP. Check the host with [`check_host`](Self::check_host) first.
    ///
    /// The client is created on first use, because it reads all certificates that the system trusts.
    pub fn client(&self) -> Result<Client, String> {
        let create = || {
            let mut builder = Client::builder().redirect(Policy::none()).no_proxy().connect_timeout(CONNECT_TIMEOUT);
            builder = builder.user_agent(concat!("toolscript/", env!("CARGO_PKG_VERSION")));
            builder = builder.dns_resolver(Arc::new(CheckedResolver { allow_private: self.allow_private }));
            builder.build().inspect_err(|error| tracing::error!(%error, "can't create the HTTP client")).ok()
        };
        self.client.get_or_init(create).clone().ok_or_else(|| "the host can't create an HTTP client".into())
    }

    /// Sends a request and reads the response within the budget, which counts decompressed bytes. An error is the message for the script.
    pub async fn send(&self, request: Request, budget: &ResponseBudget) -> Result<Response, String> {
        self.check_host(request.url()).map_err(|reason| format!("the server {reason}"))?;
        let mut response = self.client()?.execute(request).await.map_err(|error| public_message(&error))?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let mut body = Vec::new();
        let encoding = unknown_encoding(&headers);
        while let Some(chunk) = response.chunk().await.map_err(|error| public_message(&error))? {
            match &encoding {
                Some(encoding) if status < 400 => {
                    return Err(format!("the response has the content encoding '{encoding}', which is not supported"));
                }
                // The status says more than the bytes.
                Some(_) => break,
                None => {}
            }
            budget.reserve(chunk.len())?;
            body.extend_from_slice(&chunk);
        }
        Ok(Response { status, headers, body })
    }

    /// Checks a host that is an IP address, because the resolver only sees host names. The subject of the error is the server.
    pub fn check_host(&self, url: &Url) -> Result<(), String> {
        let ip = match url.host() {
            Some(Host::Ipv4(ip)) => IpAddr::from(ip),
            Some(Host::Ipv6(ip)) => IpAddr::from(ip),
            Some(Host::Domain(_)) => return Ok(()),
            None => return Err("has no host in its URL".into()),
        };
        if self.allow_private || is_public(ip) { Ok(()) } else { Err(PrivateAddress.to_string()) }
    }
}

/// Returns `true` for an HTTP or HTTPS URL with a host.
pub fn is_http(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https") && url.has_host()
}

/// Returns the encoding of a body that the client did not decode, if it has one. The client removes the header when it decodes a body.
pub fn unknown_encoding(headers: &HeaderMap) -> Option<String> {
    let encoding = String::from_utf8_lossy(headers.get(CONTENT_ENCODING)?.as_bytes()).trim().to_owned();
    let is_plain = encoding.is_empty() || encoding.eq_ignore_ascii_case("identity");
    (!is_plain).then(|| encoding.chars().take(MAX_ENCODING).collect())
}

/// Resolves host names, to public addresses only unless others are allowed.
struct CheckedResolver {
    allow_private: bool,
}

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let allow_private = self.allow_private;
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await.map_err(|_| UnknownHost)?;
            let allowed: Vec<SocketAddr> = found.filter(|address| allow_private || is_public(address.ip())).collect();
            if allowed.is_empty() {
                return Err(Box::<dyn Error + Send + Sync>::from(PrivateAddress));
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

/// Returns the message of a failed request for the script. It contains no URL, because a URL may contain a credential.
pub fn public_message(error: &(dyn Error + 'static)) -> String {
    format!("the server {}", public_reason(error))
}

/// Returns `true` if the server has a private address. Another attempt would fail, too.
pub fn is_private(error: &(dyn Error + 'static)) -> bool {
    causes(error).any(|cause| cause.is::<PrivateAddress>())
}

/// Returns the reason of a failed request for the script, without the subject, which is the server. It contains no address.
pub fn public_reason(error: &(dyn Error + 'static)) -> String {
    if is_private(error) {
        return PrivateAddress.to_string();
    }
    let Some(failed) = causes(error).find_map(|cause| cause.downcast_ref::<reqwest::Error>()) else {
        return "sent an invalid response".into();
    };
    tracing::debug!(cause = failed.source().map(ToString::to_string), "a request failed");
    if failed.is_connect() {
        let reason = causes(failed).find_map(connect_reason).or(failed.is_timeout().then_some("the connection timed out"));
        return reason.map_or_else(|| "can't be reached".into(), |reason| format!("can't be reached: {reason}"));
    }
    if failed.is_timeout() {
        "did not respond in time".into()
    } else if failed.is_decode() {
        "sent a response that can't be decoded".into()
    } else {
        "closed the connection or does not speak HTTP".into()
    }
}

/// Returns the reason why a connection can't be established, if it is known.
fn connect_reason(cause: &(dyn Error + 'static)) -> Option<&'static str> {
    if cause.is::<UnknownHost>() {
        return Some("its name can't be resolved");
    }
    let error = cause.downcast_ref::<io::Error>()?;
    // An error of TLS is inside of another one, and `source` skips it.
    if let Some(reason) = error.get_ref().and_then(|inner| connect_reason(inner)) {
        return Some(reason);
    }
    match error.kind() {
        io::ErrorKind::ConnectionRefused => Some("it refused the connection"),
        io::ErrorKind::TimedOut => Some("the connection timed out"),
        io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => Some("there is no route to it"),
        // rustls reports its errors as invalid data.
        io::ErrorKind::InvalidData if error.to_string().contains("certificate") => Some("its TLS certificate is not trusted"),
        io::ErrorKind::InvalidData => Some("the TLS handshake failed"),
        io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted | io::ErrorKind::UnexpectedEof => {
            Some("it closed the connection")
        }
        _ => None,
    }
}

/// Returns `true` if the request can't have reached the server.
pub fn was_not_sent(error: &(dyn Error + 'static)) -> bool {
    causes(error).any(|cause| match cause.downcast_ref::<reqwest::Error>() {
        Some(failed) => failed.is_connect(),
        None => cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe),
    })
}

fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error: &&'a (dyn Error + 'static)| match error.downcast_ref() {
        // Its `source` does not return the error of the client.
        Some(StreamableHttpError::<reqwest::Error>::Client(cause)) => Some(cause),
        _ => (*error).source(),
    })
}

/// Returns `true` for an address of the public internet.
fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => is_public_v6(ip),
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [first, second, third, _] = ip.octets();
    let is_shared = first == 100 && (64..128).contains(&second);
    let is_assigned = (first, second, third) == (192, 0, 0) || (first, second, third) == (192, 88, 99);
    let is_benchmark = first == 198 && matches!(second, 18 | 19);
    !(ip.is_private()
        || ip.is_loopback()
        || ip.is_link_local()
        || ip.is_documentation()
        || ip.is_multicast()
        || first == 0
        || first >= 240
        || is_shared
        || is_assigned
        || is_benchmark)
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    let segments = ip.segments();
    // IPv4-mapped, NAT64 and 6to4 addresses: packets reach the IPv4 address inside.
    let embedded = match segments {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] => Some((high, low)),
        _ => None,
    };
    if let Some((high, low)) = embedded {
        return is_public_v4(Ipv4Addr::from(u32::from(high) << 16 | u32::from(low)));
    }
    // 2000::/3 has all public addresses. Parts of it are reserved for documentation and protocols.
    let is_global = segments[0] & 0xe000 == 0x2000;
    let is_documentation = segments[0] == 0x2001 && segments[1] == 0xdb8 || segments[0] == 0x3fff && segments[1] < 0x1000;
    let is_protocol = segments[0] == 0x2001 && segments[1] < 0x200;
    is_global && !is_documentation && !is_protocol
}

#[cfg(test)]
mod tests {
    use super::is_public;

    #[test]
    fn private_and_loopback_addresses_are_not_public() {
        for private in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "127.0.0.1",
            "127.255.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.1",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2002:a00:1::",
            "fc00::1",
            "fd00::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "2001:db8::1",
            "2001::1",
            "3fff::1",
            "100::1",
            "::127.0.0.1",
        ] {
            assert!(!is_public(private.parse().unwrap()), "{private}");
        }
        for public in [
            "1.1.1.1",
            "8.8.8.8",
            "100.63.0.1",
            "100.128.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "2606:4700::1111",
            "2001:4860::8888",
            "::ffff:8.8.8.8",
            "64:ff9b::808:808",
        ] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
    }
}
