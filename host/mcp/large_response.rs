//! Announces that the response to a request is large, before it is serialized.

use axum::http::request::Parts;
use rmcp::{RoleServer, service::RequestContext};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// The size of a response in bytes from which serializing it takes so long that other clients must not wait for it.
pub const LARGE_RESPONSE: usize = 64 << 10;

/// Set if the rest of a request takes long. The HTTP server adds it to the extensions of a request.
#[derive(Clone, Debug, Default)]
pub struct LargeResponse(Arc<AtomicBool>);

impl LargeResponse {
    pub fn announce(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub fn is_announced(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Announces a response of this size, if it is large and the client is connected over HTTP.
pub fn announce(context: &RequestContext<RoleServer>, bytes: usize) {
    if bytes >= LARGE_RESPONSE
        && let Some(large) = context.extensions.get::<Parts>().and_then(|request| request.extensions.get::<LargeResponse>())
    {
        large.announce();
    }
}
