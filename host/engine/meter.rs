//! Fuel, deadline, cancellation and memory: what stops a run, in one place.

use super::run::State;
use crate::engine::bridge;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;
use wasmtime::{ResourceLimiter, Store, StoreContextMut, Trap};

/// Fuel between two points where a busy guest lets go of its thread: 50 to 200 µs of work, as Luau burns 3 to 12 a nanosecond.
const YIELD_INTERVAL: u64 = 500_000;

/// The same for a guest that only calls the host, by the clock.
const YIELD_TIME: Duration = Duration::from_micros(100);

/// Fuel that a call to the host costs: about what a script could have computed in the time of the cheapest one.
const HOST_CALL: u64 = 5_000;

/// Fuel that a byte costs which the host reads from a disk, writes to it, or copies.
const MOVED_BYTE: u64 = 1;

/// What stopped a run from outside. Travels through wasmtime as the error of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    #[error("the run reached its deadline")]
    Deadline,
    #[error("the run was cancelled")]
    Cancelled,
}

/// Counts what a run uses and knows when it must end.
pub struct Meter {
    pub deadline: Instant,
    cancellation: CancellationToken,
    pub memory: MemoryMeter,
    pub host_calls: u64,
    pub host_time: Duration,
    yielded: Instant,
}

impl Meter {
    pub fn new(timeout: Duration, cancellation: CancellationToken, memory: usize) -> Self {
        let now = Instant::now();
        Self {
            deadline: now + timeout,
            cancellation,
            memory: MemoryMeter::new(memory),
            host_calls: 0,
            host_time: Duration::ZERO,
            yielded: now,
        }
    }

    /// Why the run must end now, if it must.
    fn stop(&self, now: Instant) -> Option<Stop> {
        if self.cancellation.is_cancelled() {
            Some(Stop::Cancelled)
        } else if now >= self.deadline {
            Some(Stop::Deadline)
        } else {
            None
        }
    }
}

/// Fills the tank and lets the guest be interrupted.
pub fn install(store: &mut Store<State>, fuel: u64) -> wasmtime::Result<()> {
    store.set_fuel(fuel)?;
    store.fuel_async_yield_interval(Some(YIELD_INTERVAL))?;
    // What the guest passes in one call stays in its memory, so it may be all of it.
    store.set_hostcall_fuel(store.data().meter.memory.limit);
    store.limiter(|state| &mut state.meter.memory);
    Ok(())
}

/// Setting the fuel restarts wasmtime's yield interval, so a script that only calls the host would never yield: each call
/// checks for itself, and tells when it is time.
impl bridge::State for State {
    fn begin_call(store: &mut StoreContextMut<'_, Self>) -> wasmtime::Result<bool> {
        let now = Instant::now();
        let fuel = store.get_fuel()?;
        store.set_fuel(fuel.saturating_sub(HOST_CALL))?;
        let meter = &mut store.data_mut().meter;
        meter.host_calls += 1;
        if let Some(stop) = meter.stop(now) {
            return Err(stop.into());
        }
        if fuel <= HOST_CALL {
            return Err(Trap::OutOfFuel.into());
        }
        let due = now.duration_since(meter.yielded) >= YIELD_TIME;
        if due {
            meter.yielded = now;
        }
        Ok(due)
    }

    fn end_call(store: &mut StoreContextMut<'_, Self>, took: Duration, moved: usize) -> wasmtime::Result<()> {
        store.data_mut().meter.host_time += took;
        if moved > 0 {
            let fuel = store.get_fuel()?;
            store.set_fuel(fuel.saturating_sub(moved as u64 * MOVED_BYTE))?;
        }
        Ok(())
    }
}

/// Bytes of the limit that the guest's own memory leaves for the heap of its exceptions: running out of memory is raised as one.
const EXCEPTIONS: usize = 512 << 10;

/// Bytes of all memories of an instance together. A refusal is not an error: the guest's own allocator sees it first.
pub struct MemoryMeter {
    limit: usize,
    sizes: Sizes,
    /// Before the growth that was last allowed, in case that it fails.
    before: Sizes,
    pub peak: usize,
    pub denied: bool,
}

#[derive(Clone, Copy, Default)]
struct Sizes {
    total: usize,
    linear: usize,
}

impl MemoryMeter {
    fn new(limit: usize) -> Self {
        Self { limit, sizes: Sizes::default(), before: Sizes::default(), peak: 0, denied: false }
    }

    /// What the guest's own memory may grow to.
    pub fn linear_limit(&self) -> usize {
        self.limit - EXCEPTIONS
    }
}

impl ResourceLimiter for MemoryMeter {
    fn memory_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        // A memory is told by its size. The heap of exceptions is made with nothing in it (`gc_heap_initial_size` in `config.rs`)
        // and stays far smaller than the guest's own; if it did not, only the reserve for it would be lost.
        let is_linear = current == self.sizes.linear;
        let total = self.sizes.total.saturating_sub(current).saturating_add(desired);
        if total > self.limit || (is_linear && desired > self.linear_limit()) {
            self.denied = true;
            return Ok(false);
        }
        self.before = self.sizes;
        self.sizes.total = total;
        if is_linear {
            self.sizes.linear = desired;
        }
        self.peak = self.peak.max(total);
        Ok(true)
    }

    fn memory_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        tracing::warn!(%error, "the system refused memory to an instance");
        self.sizes = self.before;
        self.denied = true;
        Ok(())
    }

    fn table_growing(&mut self, _current: usize, _desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        // The guest's table is fixed; its size is bounded by the pool.
        Ok(maximum.is_some())
    }
}
