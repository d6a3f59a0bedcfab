//! The exceptions of Python code that a run calls, and the token that stops the run.

use pyo3::prelude::*;
use std::sync::{Mutex, MutexGuard, PoisonError};
use toolscript::CancellationToken;

/// The maximum number of exceptions that are kept as possible causes. A script can catch any number of them, and each keeps its frames.
const MAX_CAUSES: usize = 16;

/// The state of one run that its functions and listeners share.
#[derive(Default)]
pub struct RunState {
    pub cancellation: CancellationToken,
    raised: Mutex<Option<PyErr>>,
    causes: Mutex<Vec<(String, PyErr)>>,
}

impl RunState {
    /// Stops the run, which then raises the exception. The first exception wins.
    pub fn stop(&self, error: PyErr) {
        lock(&self.raised).get_or_insert(error);
        self.cancellation.cancel();
    }

    /// Keeps an exception that a script gets as an error with this message.
    pub fn add_cause(&self, message: &str, error: PyErr) {
        let mut causes = lock(&self.causes);
        if causes.len() == MAX_CAUSES {
            causes.remove(0);
        }
        // The engine escapes line breaks in messages, so only the first line is compared.
        causes.push((message.lines().next().unwrap_or_default().to_owned(), error));
    }

    /// Returns the exception that stopped the run.
    pub fn take_raised(&self) -> Option<PyErr> {
        lock(&self.raised).take()
    }

    /// Returns the exception that caused an error with this message: the latest one whose message it contains.
    pub fn take_cause(&self, message: &str) -> Option<PyErr> {
        let mut causes = std::mem::take(&mut *lock(&self.causes));
        let position = causes.iter().rposition(|(text, _)| message.contains(text.as_str()))?;
        Some(causes.swap_remove(position).1)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
