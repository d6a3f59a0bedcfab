//! Passes log lines and progress to JavaScript while a script runs.

use crate::events::{EventKind, Events, Text};
use serde_json::json;
use std::sync::{Arc, Mutex, PoisonError};
use toolscript::engine::{Listener, Progress};

/// Sends an event for each log line, and for progress.
///
/// The log limit of the run bounds the lines. Progress has no limit, so a report that JavaScript has not received yet is replaced by the next.
pub struct EventListener {
    pub events: Arc<Events>,
    pub operation: u32,
    pub on_print: bool,
    pub on_progress: bool,
    pub latest_progress: Arc<Mutex<Option<String>>>,
}

impl Listener for EventListener {
    fn line(&self, line: &str) {
        if self.on_print {
            self.events.send(EventKind::Print, self.operation, line.to_owned(), Vec::new());
        }
    }

    fn progress(&self, progress: &Progress) {
        if !self.on_progress {
            return;
        }
        let text = json!({ "done": progress.done, "total": progress.total, "message": progress.message }).to_string();
        let replaced = self.latest_progress.lock().unwrap_or_else(PoisonError::into_inner).replace(text);
        if replaced.is_none() {
            self.events.send(EventKind::Progress, self.operation, Text::Latest(Arc::clone(&self.latest_progress)), Vec::new());
        }
    }
}
