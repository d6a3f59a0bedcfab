//! Calls of Python from the threads of the runtime. They end before the interpreter exits.
//!
//! CPython ends a foreign thread that waits for the GIL while the interpreter exits, in the middle of Rust code. That crashes the process.

use pyo3::prelude::*;
use std::{
    cell::Cell,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// The time that the exit of the interpreter waits for calls. They only pass a value to an event loop, or call `on_print`.
const EXIT_TIMEOUT: Duration = Duration::from_secs(5);

thread_local! {
    static IS_WORKER: Cell<bool> = const { Cell::new(false) };
}

struct Calls {
    running: usize,
    is_closed: bool,
}

static CALLS: Mutex<Calls> = Mutex::new(Calls { running: 0, is_closed: false });
static CALL_ENDED: Condvar = Condvar::new();

fn calls() -> MutexGuard<'static, Calls> {
    CALLS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Marks this thread as one of the runtime.
pub fn mark_worker() {
    IS_WORKER.set(true);
}

/// Calls a function with the GIL. Returns `None` if the interpreter is exiting.
pub fn attach<R>(call: impl FnOnce(Python<'_>) -> R) -> Option<R> {
    let _running = if IS_WORKER.get() { Some(Running::start()?) } else { None };
    Python::try_attach(call)
}

/// Returns `true` if the interpreter is exiting, so that no event loop is called any more.
pub fn is_closed() -> bool {
    calls().is_closed
}

/// Stops the calls of Python from the threads of the runtime, and waits for those in progress. ``atexit`` calls this function.
#[pyfunction]
pub fn stop_calls(py: Python<'_>) {
    py.detach(|| {
        let mut calls = calls();
        calls.is_closed = true;
        drop(CALL_ENDED.wait_timeout_while(calls, EXIT_TIMEOUT, |calls| calls.running > 0));
    });
}

/// A call in progress.
struct Running;

impl Running {
    fn start() -> Option<Self> {
        let mut calls = calls();
        (!calls.is_closed).then(|| {
            calls.running += 1;
            Self
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        calls().running -= 1;
        CALL_ENDED.notify_all();
    }
}
