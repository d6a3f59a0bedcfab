//! An answer on its way out: whatever it holds is held until a client has taken nearly all of it.

use axum::body::{Body, Bytes};
use hyper::body::{Frame, SizeHint};
use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

/// Bytes that are passed on at once. A connection buffers about as much, so the end of the body is near the end of the answer.
const PIECE: usize = 32 << 10;

/// A body in pieces, and what is let go when it ends.
pub struct Held<G> {
    body: Body,
    piece: Bytes,
    _guard: G,
}

impl<G> Held<G> {
    pub fn new(body: Body, guard: G) -> Self {
        Self { body, piece: Bytes::new(), _guard: guard }
    }
}

impl<G: Unpin> hyper::body::Body for Held<G> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.piece.is_empty() {
            match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.piece = data,
                    Err(frame) => return Poll::Ready(Some(Ok(frame))),
                },
                other => return Poll::Ready(other),
            }
        }
        let size = self.piece.len().min(PIECE);
        Poll::Ready(Some(Ok(Frame::data(self.piece.split_to(size)))))
    }

    fn is_end_stream(&self) -> bool {
        self.piece.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (rest, here) = (self.body.size_hint(), self.piece.len() as u64);
        let mut hint = SizeHint::new();
        hint.set_lower(rest.lower() + here);
        if let Some(most) = rest.upper() {
            hint.set_upper(most + here);
        }
        hint
    }
}
