//! Operations that block the calling thread, or complete on an asyncio event loop.

use crate::{attach, run_state::RunState, runtime};
use futures_util::FutureExt as _;
use pyo3::{exceptions::PyRuntimeError, prelude::*};
use std::{panic::AssertUnwindSafe, sync::Arc};
use tokio::task::AbortHandle;

/// The event loop that waits for an operation, and the function that it calls with the value and the exception.
#[derive(FromPyObject)]
pub struct Completion {
    #[pyo3(attribute("loop"))]
    event_loop: Py<PyAny>,
    done: Py<PyAny>,
}

/// An operation that an event loop waits for.
#[pyclass(frozen)]
pub struct Job {
    task: AbortHandle,
    state: Option<Arc<RunState>>,
}

#[pymethods]
impl Job {
    /// Stops the operation. Returns `True` if the event loop is still called: a run completes, with the files and logs up to that point.
    fn cancel(&self) -> bool {
        match &self.state {
            Some(state) => state.cancellation.cancel(),
            None => self.task.abort(),
        }
        self.state.is_some()
    }
}

/// Executes an operation on this thread, or starts it as a task and returns a [`Job`] if an event loop waits for it.
pub fn execute<T: Send + 'static>(
    py: Python<'_>,
    completion: Option<Completion>,
    state: Option<Arc<RunState>>,
    operation: impl Future<Output = T> + Send + 'static,
    convert: impl FnOnce(Python<'_>, T) -> PyResult<Py<PyAny>> + Send + 'static,
) -> PyResult<Py<PyAny>> {
    let Some(Completion { event_loop, done }) = completion else {
        let cancellation = state.as_ref().map(|state| &state.cancellation);
        let output = runtime::block_on(py, operation, cancellation)?;
        return convert(py, output);
    };
    if attach::is_closed() {
        return Err(PyRuntimeError::new_err("the interpreter is exiting"));
    }
    let task = runtime::runtime()?.spawn(async move {
        let output = AssertUnwindSafe(operation).catch_unwind().await;
        // The interpreter may be exiting, and the loop may be closed. Then nobody waits.
        attach::attach(|py| {
            let result = output.map_err(|_| PyRuntimeError::new_err("the operation panicked")).and_then(|output| convert(py, output));
            let (value, error) = match result {
                Ok(value) => (Some(value), None),
                Err(error) => (None, Some(error.into_value(py))),
            };
            event_loop.call_method1(py, "call_soon_threadsafe", (done, value, error)).is_ok()
        });
    });
    let job = Job { task: task.abort_handle(), state };
    Ok(Py::new(py, job)?.into_any())
}
