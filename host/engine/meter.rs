//! Fuel, deadline, cancellation and memory: the limits that stop a run.

use super::{bridge, run::RunState};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;
use wasmtime::{ResourceLimiter, Store, StoreContextMut, Trap};

/// Fuel after which a busy guest yields to other tasks: 50 to 200 µs of work, because most scripts burn 1.5 to 6 units per nanosecond.
pub const YIELD_FUEL: u64 = 300_000;

/// Time after which a guest that only calls the host yields to other tasks.
const YIELD_TIME: Duration = Duration::from_micros(100);

/// Fuel that a host call costs: about the fuel that a script burns in the time of the cheapest host call.
const HOST_CALL_FUEL: u64 = 5_000;

/// Fuel that each byte costs that the host reads, writes or copies.
const FUEL_PER_BYTE: u64 = 1;

/// The reason why a run was stopped from outside. wasmtime carries it as the error of a host call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    #[error("the run reached its deadline")]
    Deadline,
    #[error("the run was cancelled")]
    Cancelled,
}

/// Counts what a run uses, and determines when it must stop.
pub struct Meter {
    pub deadline: Instant,
    cancellation: CancellationToken,
    pub memory: MemoryMeter,
    pub host_calls: u64,
    pub host_time: Duration,
    last_yield: Instant,
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
            last_yield: now,
        }
    }

    /// Returns the reason to stop now, if there is one.
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

/// Sets the fuel of a store, and makes its guest interruptible.
pub fn install(store: &mut Store<RunState>, fuel: u64) -> wasmtime::Result<()> {
    store.set_fuel(fuel)?;
    store.fuel_async_yield_interval(Some(YIELD_FUEL))?;
    // Arguments of a host call stay in guest memory, so they can be as large as that memory.
    store.set_hostcall_fuel(store.data().meter.memory.limit);
    store.limiter(|state| &mut state.meter.memory);
    Ok(())
}

/// Setting the fuel restarts the yield interval of wasmtime, so that a script that only calls the host would never yield. Therefore
/// each host call checks the time since the last yield.
impl bridge::MeteredState for RunState {
    fn begin_call(store: &mut StoreContextMut<'_, Self>) -> wasmtime::Result<bool> {
        let now = Instant::now();
        let fuel = store.get_fuel()?;
        store.set_fuel(fuel.saturating_sub(HOST_CALL_FUEL))?;
        let meter = &mut store.data_mut().meter;
        meter.host_calls += 1;
        if let Some(stop) = meter.stop(now) {
            return Err(stop.into());
        }
        if fuel <= HOST_CALL_FUEL {
            return Err(Trap::OutOfFuel.into());
        }
        let must_yield = now.duration_since(meter.last_yield) >= YIELD_TIME;
        if must_yield {
            meter.last_yield = now;
        }
        Ok(must_yield)
    }

    fn end_call(store: &mut StoreContextMut<'_, Self>, elapsed: Duration, bytes: usize) -> wasmtime::Result<()> {
        store.data_mut().meter.host_time += elapsed;
        if bytes > 0 {
            let fuel = store.get_fuel()?;
            store.set_fuel(fuel.saturating_sub(bytes as u64 * FUEL_PER_BYTE))?;
        }
        Ok(())
    }
}

/// Bytes of the memory limit that linear memory can't use. They are reserved for the exception heap, because the guest raises
/// an exception when linear memory is exhausted.
const EXCEPTION_HEAP_RESERVE: usize = 512 << 10;

/// Limits the total size of all memories of an instance.
///
/// Denying growth does not stop the run: the allocator of the guest handles it first.
pub struct MemoryMeter {
    limit: usize,
    sizes: Sizes,
    /// The sizes before the last growth that was allowed, to restore if that growth fails.
    previous: Sizes,
    pub peak: usize,
    pub denied: bool,
}

#[derive(Clone, Copy, Default)]
struct Sizes {
    total: usize,
    linear: usize,
}

impl MemoryMeter {
    pub fn new(limit: usize) -> Self {
        Self { limit, sizes: Sizes::default(), previous: Sizes::default(), peak: 0, denied: false }
    }

    /// Returns the size to which linear memory can grow.
    pub fn linear_limit(&self) -> usize {
        self.limit - EXCEPTION_HEAP_RESERVE
    }
}

impl ResourceLimiter for MemoryMeter {
    fn memory_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        // The current size identifies the memory. The exception heap starts empty (`gc_heap_initial_size` in `config.rs`) and stays
        // far smaller than linear memory. If it did not, only its reserve would be lost.
        let is_linear = current == self.sizes.linear;
        let total = self.sizes.total.saturating_sub(current).saturating_add(desired);
        if total > self.limit || (is_linear && desired > self.linear_limit()) {
            self.denied = true;
            return Ok(false);
        }
        self.previous = self.sizes;
        self.sizes.total = total;
        if is_linear {
            self.sizes.linear = desired;
        }
        self.peak = self.peak.max(total);
        Ok(true)
    }

    fn memory_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        tracing::warn!(%error, "the operating system denied memory to an instance");
        self.sizes = self.previous;
        self.denied = true;
        Ok(())
    }

    fn table_growing(&mut self, _current: usize, _desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        // The table of the guest has a fixed size, which the pool bounds.
        Ok(maximum.is_some())
    }
}
