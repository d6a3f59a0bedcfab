//! MCP over HTTP, for many clients that do not trust each other.
//!
//! Each request passes these checks in order: the limits of its connection, `Host` and `Origin`, the token, the request limit of its
//! tenant, the limits of its body. Only then rmcp receives it, without the token.

mod connections;
mod drain;
mod exchanges;
mod guarded_body;
mod host_check;
mod offload;
mod options;
mod rejection_log;
mod request_body;
mod router;
mod session_transport;
mod sessions;
mod tenant_services;

pub use options::{HttpOptions, HttpOptionsError};

use super::{auth::Authenticator, error::ServeError, state::ServerState, tenant::Tenant};
use crate::engine::IoOptions;
use connections::ConnectionLimits;
use host_check::HostCheck;
use rejection_log::RejectionLog;
use request_body::BodyReader;
use router::{Access, Authenticated, HttpState};
use std::{net::IpAddr, sync::Arc};
use tenant_services::{ServiceLimits, TenantService, TenantServices};
use tokio::net::TcpListener;

/// The maximum number of large request bodies that are received at the same time from all anonymous clients.
const ANONYMOUS_LARGE_BODIES: usize = 64;

/// Assembles the router. `listening` is the address that requests may name in `Host`, besides loopback addresses and the public URL.
pub fn router(
    state: &Arc<ServerState>,
    io: Option<IoOptions>,
    options: &HttpOptions,
    listening: Option<IpAddr>,
) -> Result<axum::Router, HttpOptionsError> {
    let access = match options.auth_settings()? {
        None => {
            let tenant = Tenant::new(Arc::clone(state), io, None);
            // All connections belong to this tenant, so each can have a session and a request.
            let limits = ServiceLimits {
                sessions: options.max_connections,
                session_idle_timeout: options.session_idle_timeout,
                requests: options.max_connections,
                large_bodies: ANONYMOUS_LARGE_BODIES,
            };
            Access::Anonymous(Arc::new(TenantService::new(tenant, limits)))
        }
        Some(settings) => {
            let issuer = settings.options.issuer().to_owned();
            let services = TenantServices::new(Arc::clone(state), options, io, issuer);
            let authenticator = Authenticator::new(settings).map_err(HttpOptionsError::HttpClient)?;
            Access::Authenticated(Box::new(Authenticated { authenticator, services: Arc::new(services) }))
        }
    };
    let host_check = HostCheck::new(options.public_url.clone(), listening);
    let body_reader = BodyReader::new(state.max_message(), options.body_timeout);
    Ok(router::router(Arc::new(HttpState {
        state: Arc::clone(state),
        host_check,
        body_reader,
        access,
        rejections: RejectionLog::default(),
    })))
}

/// Serves until the drain token is cancelled. Then ends idle requests, waits for runs until the drain timeout, and stops the rest.
pub async fn serve(
    state: &Arc<ServerState>,
    io: Option<IoOptions>,
    listener: TcpListener,
    options: &HttpOptions,
) -> Result<(), ServeError> {
    let address = listener.local_addr().map_err(ServeError::Listener)?;
    options.check_address(address)?;
    let router = router(state, io, options, Some(address.ip()))?;
    let limits = ConnectionLimits { max_connections: options.max_connections, header_timeout: options.header_timeout };
    let connections = connections::serve(&listener, &router, limits, state).await;
    drop(listener);
    drain::drain(&connections, state, options.drain_timeout).await;
    Ok(())
}
