//! A response body with a guard, such as a permit, that is dropped when the client has received nearly all of the body.

use axum::body::{Body, Bytes};
use hyper::body::{Frame, SizeHint};
use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

/// The maximum size of one frame in bytes. A connection buffers about this much, so the body ends shortly before the response is sent.
const MAX_FRAME_SIZE: usize = 32 << 10;

/// A body that is split into small frames and holds a guard until it ends.
pub struct GuardedBody<G> {
    body: Body,
    remaining: Bytes,
    _guard: G,
}

impl<G> GuardedBody<G> {
    pub fn new(body: Body, guard: G) -> Self {
        Self { body, remaining: Bytes::new(), _guard: guard }
    }
}

impl<G: Unpin> hyper::body::Body for GuardedBody<G> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.remaining.is_empty() {
            match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.remaining = data,
                    Err(frame) => return Poll::Ready(Some(Ok(frame))),
                },
                other => return Poll::Ready(other),
            }
        }
        let size = self.remaining.len().min(MAX_FRAME_SIZE);
        Poll::Ready(Some(Ok(Frame::data(self.remaining.split_to(size)))))
    }

    fn is_end_stream(&self) -> bool {
        self.remaining.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (inner, remaining) = (self.body.size_hint(), self.remaining.len() as u64);
        let mut hint = SizeHint::new();
        hint.set_lower(inner.lower() + remaining);
        if let Some(upper) = inner.upper() {
            hint.set_upper(upper + remaining);
        }
        hint
    }
}
