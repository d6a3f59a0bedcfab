//! Reads the body of a request, with limits on its size and duration.

use axum::{
    body::{Body, Bytes},
    http::StatusCode,
};
use http_body_util::BodyExt as _;
use hyper::body::Body as _;
use std::time::Duration;
use tokio::{sync::Semaphore, time::timeout};

/// The size in bytes above which a body needs a permit. Permits bound the memory for the large bodies of one tenant.
const LARGE_BODY: usize = 64 << 10;

const TOO_LARGE: (StatusCode, &str) = (StatusCode::PAYLOAD_TOO_LARGE, "the body is too large");

/// Reads bodies of at most `max_size` bytes within `timeout`.
pub struct BodyReader {
    max_size: usize,
    timeout: Duration,
}

impl BodyReader {
    pub fn new(max_size: usize, timeout: Duration) -> Self {
        Self { max_size, timeout }
    }

    /// Reads a body, or returns the response for a body that is too large or too slow. `large_bodies` has the permits for large ones.
    pub async fn read(&self, body: Body, large_bodies: &Semaphore) -> Result<Bytes, (StatusCode, &'static str)> {
        if body.size_hint().lower() > self.max_size as u64 {
            return Err(TOO_LARGE);
        }
        let read = timeout(self.timeout, self.collect(body, large_bodies)).await;
        read.unwrap_or(Err((StatusCode::REQUEST_TIMEOUT, "the body took too long")))
    }

    async fn collect(&self, mut body: Body, large_bodies: &Semaphore) -> Result<Bytes, (StatusCode, &'static str)> {
        let (mut bytes, mut permit) = (Vec::new(), None);
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_| (StatusCode::BAD_REQUEST, "can't read the body"))?;
            let Some(data) = frame.data_ref() else { continue };
            let size = bytes.len() + data.len();
            if size > self.max_size {
                return Err(TOO_LARGE);
            }
            if size > LARGE_BODY && permit.is_none() {
                permit = large_bodies.acquire().await.ok();
            }
            bytes.extend_from_slice(data);
        }
        Ok(bytes.into())
    }
}
