//! Moves expensive work to the runtime for scripts, so that no client waits on a thread that serializes the response of another.
//!
//! rmcp parses a request and serializes its response wherever it is polled. A future or a body is polled in place until its request
//! announces that the rest is expensive. From then on, it is polled on the other runtime, in turn with other expensive work of the same
//! tenant. The threads that serve clients receive the body in small frames.

use crate::mcp::large_response::LargeResponse;
use axum::body::{Body, Bytes};
use hyper::body::{Body as _, Frame, SizeHint};
use std::{
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};
use tokio::{
    runtime::{Handle, RuntimeFlavor},
    sync::{Semaphore, mpsc},
    task::{JoinError, block_in_place},
};
use tokio_util::{sync::PollSemaphore, task::AbortOnDropHandle};

/// The frames of a body that are ready before the client receives them.
const FRAME_QUEUE: usize = 1;

/// The maximum size of a frame in bytes. A thread that serves clients sends one, and then serves others until the next one is ready.
const MAX_FRAME_SIZE: usize = 64 << 10;

/// Polls something expensive once.
type ExpensivePoll<'a> = dyn FnMut(&mut Context<'_>) + 'a;

/// The destination of the expensive work of one tenant.
#[derive(Clone)]
pub struct Offload {
    runtime: Handle,
    slots: Arc<Semaphore>,
}

impl Offload {
    /// `slots` bounds the work that is done at the same time on `runtime`.
    pub fn new(runtime: Handle, slots: Arc<Semaphore>) -> Self {
        Self { runtime, slots }
    }

    /// Returns a function that polls something expensive when there is a slot.
    ///
    /// Other tasks of the thread move to another one, if the runtime has several.
    fn in_turn(&self) -> impl FnMut(&mut Context<'_>, &mut ExpensivePoll<'_>) -> Poll<()> + Send + use<> {
        let mut slots = PollSemaphore::new(Arc::clone(&self.slots));
        let may_block = self.runtime.runtime_flavor() == RuntimeFlavor::MultiThread;
        move |context, poll| {
            // The semaphore is never closed.
            let slot = ready!(slots.poll_acquire(context));
            if may_block {
                block_in_place(|| poll(context));
            } else {
                poll(context);
            }
            drop(slot);
            Poll::Ready(())
        }
    }
}

/// Runs a future, from the announcement on as a task of another runtime. The task is aborted if the result is not awaited.
///
/// # Errors
///
/// When the task panicked.
pub async fn run<F>(future: F, announced: &LargeResponse, offload: &Offload) -> Result<F::Output, JoinError>
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
    let mut in_turn = offload.in_turn();
    let task = offload.runtime.spawn(poll_fn(move |context| {
        let mut polled = Poll::Pending;
        ready!(in_turn(context, &mut |context| polled = future.as_mut().poll(context)));
        polled
    }));
    AbortOnDropHandle::new(task).await
}

/// A body that a task of another runtime produces from the announcement on.
pub struct OffloadedBody {
    source: Source,
    announced: LargeResponse,
    offload: Offload,
}

enum Source {
    InPlace(Body),
    /// The frames, and the size of the remaining ones if it is known.
    Task(mpsc::Receiver<Result<Frame<Bytes>, axum::Error>>, Option<u64>),
}

impl OffloadedBody {
    pub fn new(body: Body, announced: LargeResponse, offload: Offload) -> Self {
        Self { source: Source::InPlace(body), announced, offload }
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
            let (size, body) = (body.size_hint().exact(), std::mem::take(body));
            self.offload.runtime.spawn(forward(body, sender, self.offload.clone()));
            self.source = Source::Task(frames, size);
        }
        match &mut self.source {
            Source::InPlace(body) => Pin::new(body).poll_frame(context),
            Source::Task(frames, size) => {
                let frame = ready!(frames.poll_recv(context));
                if let (Some(Ok(frame)), Some(size)) = (&frame, size) {
                    *size = size.saturating_sub(frame.data_ref().map_or(0, |data| data.len() as u64));
                }
                Poll::Ready(frame)
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.source, Source::InPlace(body) if body.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        match &self.source {
            Source::InPlace(body) => body.size_hint(),
            Source::Task(_, size) => size.map_or_else(SizeHint::default, SizeHint::with_exact),
        }
    }
}

/// Sends the frames of a body in small parts, until it ends or the client is gone.
async fn forward(mut body: Body, frames: mpsc::Sender<Result<Frame<Bytes>, axum::Error>>, offload: Offload) {
    let mut in_turn = offload.in_turn();
    let mut next = |context: &mut Context<'_>| {
        let mut polled = Poll::Pending;
        ready!(in_turn(context, &mut |context| polled = Pin::new(&mut body).poll_frame(context)));
        polled
    };
    loop {
        let frame = tokio::select! {
            frame = poll_fn(&mut next) => frame,
            () = frames.closed() => return,
        };
        let mut data = match frame {
            None => return,
            Some(Ok(frame)) if frame.is_data() => frame.into_data().unwrap_or_default(),
            Some(other) => {
                if frames.send(other).await.is_err() {
                    return;
                }
                continue;
            }
        };
        while !data.is_empty() {
            let part = data.split_to(data.len().min(MAX_FRAME_SIZE));
            if frames.send(Ok(Frame::data(part))).await.is_err() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_FRAME_SIZE, Offload, OffloadedBody, run};
    use crate::mcp::large_response::LargeResponse;
    use axum::body::{Body, Bytes};
    use futures_util::{StreamExt as _, stream};
    use http_body_util::BodyExt as _;
    use std::{
        convert::Infallible,
        future::poll_fn,
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
        task::Poll,
        thread,
    };
    use tokio::{
        runtime::{Builder, Runtime},
        sync::Semaphore,
    };

    fn other_runtime() -> Runtime {
        Builder::new_multi_thread().worker_threads(4).thread_name("other").enable_all().build().unwrap()
    }

    fn offload(runtime: &Runtime) -> Offload {
        Offload::new(runtime.handle().clone(), Arc::new(Semaphore::new(1)))
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
            run(future, &announced, &offload(&other)).await.unwrap()
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
        let body = OffloadedBody::new(Body::from_stream(events), announced, offload(&other));
        let text = body.collect().await.unwrap().to_bytes();
        let here = thread_name();
        assert_eq!(text, format!("{here};{here};other;"));
        other.shutdown_background();
    }

    #[tokio::test]
    async fn a_large_body_arrives_in_small_frames() {
        let other = other_runtime();
        let announced = LargeResponse::default();
        announced.announce();
        let contents: Vec<u8> = (0..3 * MAX_FRAME_SIZE + 1).map(|number| (number % 251) as u8).collect();
        let mut body = OffloadedBody::new(Body::from(contents.clone()), announced, offload(&other));
        let mut received = Vec::new();
        let mut sizes = Vec::new();
        while let Some(frame) = body.frame().await {
            let data = frame.unwrap().into_data().unwrap();
            sizes.push(data.len());
            received.extend_from_slice(&data);
        }
        assert_eq!(sizes, [MAX_FRAME_SIZE, MAX_FRAME_SIZE, MAX_FRAME_SIZE, 1]);
        assert!(received == contents);
        other.shutdown_background();
    }

    #[tokio::test]
    async fn expensive_work_of_one_tenant_is_done_one_at_a_time() {
        let other = other_runtime();
        let (active, maximum) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let offload = offload(&other);
        let work = || {
            let announced = LargeResponse::default();
            announced.announce();
            let (active, maximum, offload) = (Arc::clone(&active), Arc::clone(&maximum), offload.clone());
            let mut polls = 0;
            let future = poll_fn(move |context| {
                maximum.fetch_max(active.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                // Another thread could begin its poll now.
                for _ in 0..100 {
                    thread::yield_now();
                }
                active.fetch_sub(1, Ordering::SeqCst);
                polls += 1;
                context.waker().wake_by_ref();
                if polls == 20 { Poll::Ready(polls) } else { Poll::Pending }
            });
            tokio::spawn(async move { run(future, &announced, &offload).await.unwrap() })
        };
        let tasks: Vec<_> = (0..4).map(|_| work()).collect();
        for task in tasks {
            assert_eq!(task.await.unwrap(), 20);
        }
        assert_eq!(maximum.load(Ordering::SeqCst), 1);
        other.shutdown_background();
    }
}
