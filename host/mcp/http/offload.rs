//! Moves expensive work to the runtime for scripts, so that no client waits on a thread that serializes the response of another.
//!
//! rmcp parses a request and serializes its response wherever it is polled. A future or a body is polled in place until its request
//! announces that the rest is expensive.

use crate::mcp::large_response::LargeResponse;
use axum::body::{Body, Bytes};
use hyper::body::Frame;
use std::{
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll},
};
use tokio::{
    runtime::{Handle, RuntimeFlavor},
    sync::mpsc,
    task::{JoinError, block_in_place},
};
use tokio_util::task::AbortOnDropHandle;

/// The frames of a body that are ready before the client receives them.
const FRAME_QUEUE: usize = 1;

/// Runs a future, from the announcement on as a task of `runtime`. The task is aborted if the result is not awaited.
///
/// # Errors
///
/// When the task panicked.
pub async fn run<F>(future: F, announced: &LargeResponse, runtime: &Handle) -> Result<F::Output, JoinError>
where
    F: Future<Output: Send> + Send + 'static,
{
    let mut future = Box::pin(future);
    let in_place = poll_fn(|context| match announced.is_announced() {
        true => Poll::Ready(None),
        false => future.as_mut().poll(context).map(Some),
    });
    if let Some(output) = in_place.await {
        return Ok(output);
    }
    let may_block = may_block(runtime);
    let task = runtime.spawn(poll_fn(move |context| blocking(may_block, || future.as_mut().poll(context))));
    AbortOnDropHandle::new(task).await
}

/// A body that a task of another runtime produces from the announcement on.
pub struct OffloadedBody {
    source: Source,
    announced: LargeResponse,
    runtime: Handle,
}

enum Source {
    InPlace(Body),
    Task(mpsc::Receiver<Result<Frame<Bytes>, axum::Error>>),
}

impl OffloadedBody {
    pub fn new(body: Body, announced: LargeResponse, runtime: Handle) -> Self {
        Self { source: Source::InPlace(body), announced, runtime }
    }
}

impl hyper::body::Body for OffloadedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.announced.is_announced()
            && let Source::InPlace(body) = &mut self.source
        {
            let (sender, frames) = mpsc::channel(FRAME_QUEUE);
            let body = std::mem::take(body);
            self.runtime.spawn(forward(body, sender, may_block(&self.runtime)));
            self.source = Source::Task(frames);
        }
        match &mut self.source {
            Source::InPlace(body) => Pin::new(body).poll_frame(context),
            Source::Task(frames) => frames.poll_recv(context),
        }
    }
}

/// Sends the frames of a body until it ends or the client is gone.
async fn forward(mut body: Body, frames: mpsc::Sender<Result<Frame<Bytes>, axum::Error>>, may_block: bool) {
    let next = |body: &mut Body, context: &mut Context<'_>| {
        use hyper::body::Body as _;
        blocking(may_block, || Pin::new(body).poll_frame(context))
    };
    loop {
        let frame = tokio::select! {
            frame = poll_fn(|context| next(&mut body, context)) => frame,
            () = frames.closed() => return,
        };
        let Some(frame) = frame else { return };
        if frames.send(frame).await.is_err() {
            return;
        }
    }
}

fn may_block(runtime: &Handle) -> bool {
    runtime.runtime_flavor() == RuntimeFlavor::MultiThread
}

/// Calls a function that uses the CPU for long. Other tasks of the thread move to another one, if the runtime has several.
fn blocking<R>(may_block: bool, function: impl FnOnce() -> R) -> R {
    if may_block { block_in_place(function) } else { function() }
}

#[cfg(test)]
mod tests {
    use super::{OffloadedBody, run};
    use crate::mcp::large_response::LargeResponse;
    use axum::body::{Body, Bytes};
    use futures_util::{StreamExt as _, stream};
    use http_body_util::BodyExt as _;
    use std::{convert::Infallible, thread};
    use tokio::runtime::{Builder, Runtime};

    fn other_runtime() -> Runtime {
        Builder::new_multi_thread().worker_threads(1).thread_name("other").enable_all().build().unwrap()
    }

    fn thread_name() -> String {
        thread::current().name().unwrap_or_default().to_owned()
    }

    #[tokio::test]
    async fn a_future_moves_to_the_other_runtime_when_it_is_announced_as_expensive() {
        let other = other_runtime();
        let names = async |announce: bool| {
            let announced = LargeResponse::default();
            let inner = announced.clone();
            let future = async move {
                let before = thread_name();
                if announce {
                    inner.announce();
                }
                tokio::task::yield_now().await;
                (before, thread_name())
            };
            run(future, &announced, other.handle()).await.unwrap()
        };
        let here = thread_name();
        assert_eq!(names(false).await, (here.clone(), here.clone()));
        assert_eq!(names(true).await, (here, "other".to_owned()));
        other.shutdown_background();
    }

    #[tokio::test]
    async fn a_body_moves_to_the_other_runtime_when_it_is_announced_as_expensive() {
        let other = other_runtime();
        let announced = LargeResponse::default();
        let inner = announced.clone();
        let events = stream::iter(0..3).map(move |number| {
            if number == 1 {
                inner.announce();
            }
            Ok::<_, Infallible>(Bytes::from(format!("{};", thread_name())))
        });
        let body = OffloadedBody::new(Body::from_stream(events), announced, other.handle().clone());
        let text = body.collect().await.unwrap().to_bytes();
        let here = thread_name();
        assert_eq!(text, format!("{here};{here};other;"));
        other.shutdown_background();
    }
}
