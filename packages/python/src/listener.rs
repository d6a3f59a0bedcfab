//! Passes log lines and progress to Python callbacks.

use crate::{attach, run_state::RunState};
use pyo3::prelude::*;
use std::sync::Arc;
use toolscript::engine::{Listener, Progress};

/// Calls `on_print` and `on_progress` on the thread that runs the script. An exception of theirs stops the run.
pub struct PythonListener {
    pub on_print: Option<Py<PyAny>>,
    pub on_progress: Option<Py<PyAny>>,
    pub state: Arc<RunState>,
}

impl PythonListener {
    fn notify(&self, callback: Option<&Py<PyAny>>, call: impl Fn(&Bound<'_, PyAny>) -> PyResult<()>) {
        let Some(callback) = callback else { return };
        // The interpreter may be exiting.
        if let Some(Err(error)) = attach::attach(|py| call(callback.bind(py))) {
            self.state.stop(error);
        }
    }
}

impl Listener for PythonListener {
    fn line(&self, line: &str) {
        self.notify(self.on_print.as_ref(), |on_print| on_print.call1((line,)).map(drop));
    }

    fn progress(&self, progress: &Progress) {
        self.notify(self.on_progress.as_ref(), |on_progress| {
            on_progress.call1((progress.done, progress.total, &progress.message)).map(drop)
        });
    }
}
