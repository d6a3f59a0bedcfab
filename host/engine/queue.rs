//! Who may run now, who waits, and who is refused.

use super::run::RunRejected;
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_util::sync::CancellationToken;

/// A part of an engine's runs, for one tenant of many: its runs wait for each other, and then with all others for the engine.
/// Clones are the same share. See [`RunOptions::share`](super::RunOptions::share).
#[derive(Clone, Debug)]
pub struct RunQuota(Arc<RunQueue>);

impl RunQuota {
    /// At most so many runs at once, and so many that wait; one more is refused at once.
    #[must_use]
    pub fn new(running: usize, waiting: usize) -> Self {
        Self(Arc::new(RunQueue::new(running.max(1), waiting)))
    }

    pub(super) fn turns(&self) -> &RunQueue {
        &self.0
    }
}

/// RunQueue of runs, in the order in which they came.
#[derive(Debug)]
pub struct RunQueue {
    permits: Semaphore,
    concurrency: usize,
    waiting: AtomicUsize,
    queue: usize,
}

impl RunQueue {
    pub fn new(concurrency: usize, queue: usize) -> Self {
        Self { permits: Semaphore::new(concurrency), concurrency, waiting: AtomicUsize::new(0), queue }
    }

    /// Waits for a turn; nothing if the run was cancelled meanwhile.
    pub async fn take(&self, cancellation: &CancellationToken) -> Result<Option<SemaphorePermit<'_>>, RunRejected> {
        if let Ok(permit) = self.permits.try_acquire() {
            return Ok(Some(permit));
        }
        let _place = Place::enter(self)?;
        tokio::select! {
            permit = self.permits.acquire() => Ok(permit.ok()),
            () = cancellation.cancelled() => Ok(None),
        }
    }

    pub fn running(&self) -> usize {
        self.concurrency.saturating_sub(self.permits.available_permits())
    }

    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }
}

/// A place in the queue, given back when it is dropped.
struct Place<'a>(&'a RunQueue);

impl<'a> Place<'a> {
    fn enter(turns: &'a RunQueue) -> Result<Self, RunRejected> {
        let waiting = turns.waiting.fetch_add(1, Ordering::Relaxed);
        let place = Self(turns);
        if waiting >= turns.queue {
            return Err(RunRejected::Busy { running: turns.concurrency, waiting });
        }
        Ok(place)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}
