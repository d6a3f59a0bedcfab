//! The body of a request: all of it, in time, and not too much.

use axum::{
    body::{Body, Bytes},
    http::StatusCode,
};
use http_body_util::BodyExt as _;
use hyper::body::Body as _;
use std::time::Duration;
use tokio::{sync::Semaphore, time::timeout};

/// Larger bodies are few at once for each tenant: the host holds them while they come.
const SMALL: usize = 64 << 10;

/// Takes bodies.
pub struct Bodies {
    most: usize,
    patience: Duration,
}

impl Bodies {
    /// At most so many bytes each, in at most so long.
    pub fn new(most: usize, patience: Duration) -> Self {
        Self { most, patience }
    }

    /// All of a body, or the answer to a client that sends too much or too slowly; `large` has the places for large ones.
    pub async fn take(&self, body: Body, large: &Semaphore) -> Result<Bytes, (StatusCode, &'static str)> {
        if body.size_hint().lower() > self.most as u64 {
            return Err(TOO_LARGE);
        }
        let taken = timeout(self.patience, self.collect(body, large)).await;
        taken.unwrap_or(Err((StatusCode::REQUEST_TIMEOUT, "the body took too long")))
    }

    async fn collect(&self, mut body: Body, large: &Semaphore) -> Result<Bytes, (StatusCode, &'static str)> {
        let (mut bytes, mut place) = (Vec::new(), None);
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_| (StatusCode::BAD_REQUEST, "the body can't be read"))?;
            let Some(data) = frame.data_ref() else { continue };
            let size = bytes.len() + data.len();
            if size > self.most {
                return Err(TOO_LARGE);
            }
            if size > SMALL && place.is_none() {
                place = large.acquire().await.ok();
            }
            bytes.extend_from_slice(data);
        }
        Ok(bytes.into())
    }
}

const TOO_LARGE: (StatusCode, &str) = (StatusCode::PAYLOAD_TOO_LARGE, "the body is too large");
