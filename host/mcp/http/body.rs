//! The body of a request: all of it, in time, and not too much.

use axum::{
    body::{Body, Bytes},
    http::StatusCode,
};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::Body as _;
use std::time::Duration;
use tokio::{sync::Semaphore, time::timeout};

/// Larger bodies, and those that do not say how large they are, are few at once for each tenant: the host holds them while they come.
const SMALL: u64 = 64 << 10;

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
        let (least, most) = (body.size_hint().lower(), body.size_hint().upper());
        if least > self.most as u64 {
            return Err(TOO_LARGE);
        }
        let taking = async {
            let _place = if most.is_none_or(|most| most > SMALL) { large.acquire().await.ok() } else { None };
            Limited::new(body, self.most).collect().await
        };
        match timeout(self.patience, taking).await {
            Err(_) => Err((StatusCode::REQUEST_TIMEOUT, "the body took too long")),
            Ok(Ok(body)) => Ok(body.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => Err(TOO_LARGE),
            Ok(Err(_)) => Err((StatusCode::BAD_REQUEST, "the body can't be read")),
        }
    }
}

const TOO_LARGE: (StatusCode, &str) = (StatusCode::PAYLOAD_TOO_LARGE, "the body is too large");
