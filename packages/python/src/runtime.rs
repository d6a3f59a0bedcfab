//! The tokio runtime of the module, which all sandboxes share, and the executor of blocking calls.

use crate::attach;
use pyo3::{exceptions::PyRuntimeError, prelude::*};
use std::{
    pin::pin,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
    thread::Thread,
    time::{Duration, Instant},
};
use tokio::runtime::Runtime;
use toolscript::CancellationToken;

/// The maximum number of threads for file operations. They never wait for each other, so more operations wait without a deadlock.
const MAX_BLOCKING_THREADS: usize = 128;

/// The time between two checks for signals during a blocking call.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// A runtime, and the process that started it.
struct Started {
    runtime: Runtime,
    process: u32,
}

/// Returns the runtime, which the first call starts.
///
/// A process that was forked from one with a runtime has none of its threads, so it gets an error instead of waiting forever.
pub fn runtime() -> PyResult<&'static Runtime> {
    static STARTED: OnceLock<Started> = OnceLock::new();
    static STARTING: Mutex<()> = Mutex::new(());
    if STARTED.get().is_none() {
        let _one_at_a_time = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
        if STARTED.get().is_none() {
            let mut builder = tokio::runtime::Builder::new_multi_thread();
            builder.enable_all().thread_name("toolscript").on_thread_start(attach::mark_worker).max_blocking_threads(MAX_BLOCKING_THREADS);
            let runtime = builder.build().map_err(|error| PyRuntimeError::new_err(format!("can't start the runtime: {error}")))?;
            let _ = STARTED.set(Started { runtime, process: std::process::id() });
        }
    }
    match STARTED.get() {
        Some(started) if started.process == std::process::id() => Ok(&started.runtime),
        _ => Err(PyRuntimeError::new_err(
            "toolscript was used before this process was forked; start the process with the 'spawn' method, or use toolscript only after the fork",
        )),
    }
}

/// Unparks the thread that polls a future.
struct Unpark {
    thread: Thread,
    is_woken: AtomicBool,
}

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.is_woken.swap(true, Ordering::AcqRel) {
            self.thread.unpark();
        }
    }
}

/// Polls a future on this thread without the GIL, and handles signals such as Ctrl-C.
///
/// The exception of a signal handler cancels the token and is raised after the future has completed. Without a token, or at the second
/// exception, the future is dropped at once.
///
/// `Runtime::block_on` would panic if a function that a script calls uses a sandbox itself.
pub fn block_on<F: Future + Send>(py: Python<'_>, future: F, cancellation: Option<&CancellationToken>) -> PyResult<F::Output>
where
    F::Output: Send,
{
    let runtime = runtime()?;
    py.detach(|| {
        let _in_runtime = runtime.enter();
        let mut future = pin!(future);
        let unpark = Arc::new(Unpark { thread: std::thread::current(), is_woken: AtomicBool::new(false) });
        let waker = Waker::from(Arc::clone(&unpark));
        let mut context = Context::from_waker(&waker);
        let (mut checked, mut interrupted) = (Instant::now(), None);
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                return interrupted.map_or(Ok(output), Err);
            }
            if !unpark.is_woken.swap(false, Ordering::AcqRel) {
                std::thread::park_timeout(SIGNAL_INTERVAL);
                unpark.is_woken.store(false, Ordering::Release);
            }
            if checked.elapsed() < SIGNAL_INTERVAL {
                continue;
            }
            checked = Instant::now();
            if let Err(error) = Python::attach(|py| py.check_signals()) {
                let Some(cancellation) = cancellation.filter(|_| interrupted.is_none()) else { return Err(error) };
                cancellation.cancel();
                interrupted = Some(error);
            }
        }
    })
}
