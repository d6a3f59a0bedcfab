//! The run queue: limits how many runs execute and wait at the same time.

use super::run::RunRejected;
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_util::sync::CancellationToken;

/// A share of an engine's concurrency, for one tenant of many. Clones refer to the same quota.
///
/// Runs of a quota wait for each other first, and then in the queue of the engine. See
/// [`RunOptions::quota`](super::RunOptions::quota).
#[derive(Clone, Debug)]
pub struct RunQuota {
    queue: Arc<RunQueue>,
}

impl RunQuota {
    /// Creates a quota of `concurrency` running scripts and `queue_limit` waiting ones. Further runs are rejected at once.
    #[must_use]
    pub fn new(concurrency: usize, queue_limit: usize) -> Self {
        Self { queue: Arc::new(RunQueue::new(concurrency.max(1), queue_limit)) }
    }

    pub(super) fn queue(&self) -> &RunQueue {
        &self.queue
    }
}

/// A first-in, first-out queue of runs.
#[derive(Debug)]
pub struct RunQueue {
    permits: Semaphore,
    concurrency: usize,
    waiting: AtomicUsize,
    queue_limit: usize,
}

impl RunQueue {
    pub fn new(concurrency: usize, queue_limit: usize) -> Self {
        Self { permits: Semaphore::new(concurrency), concurrency, waiting: AtomicUsize::new(0), queue_limit }
    }

    /// Waits for a permit. Returns `None` if the run is cancelled while it waits.
    pub async fn acquire(&self, cancellation: &CancellationToken) -> Result<Option<SemaphorePermit<'_>>, RunRejected> {
        if let Ok(permit) = self.permits.try_acquire() {
            return Ok(Some(permit));
        }
        let _slot = QueueSlot::enter(self)?;
        tokio::select! {
            permit = self.permits.acquire() => Ok(permit.ok()),
            () = cancellation.cancelled() => Ok(None),
        }
    }

    pub fn concurrency(&self) -> usize {
        self.concurrency
    }

    pub fn queue_limit(&self) -> usize {
        self.queue_limit
    }

    pub fn running(&self) -> usize {
        self.concurrency.saturating_sub(self.permits.available_permits())
    }

    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }
}

/// A slot in the queue, released on drop.
struct QueueSlot<'a> {
    queue: &'a RunQueue,
}

impl<'a> QueueSlot<'a> {
    fn enter(queue: &'a RunQueue) -> Result<Self, RunRejected> {
        let waiting = queue.waiting.fetch_add(1, Ordering::Relaxed);
        // Created before the check, so that a rejected run is subtracted again.
        let slot = Self { queue };
        if waiting >= queue.queue_limit {
            return Err(RunRejected::Busy { running: queue.concurrency, waiting });
        }
        Ok(slot)
    }
}

impl Drop for QueueSlot<'_> {
    fn drop(&mut self) {
        self.queue.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}
