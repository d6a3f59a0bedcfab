//! `toolscript:sandbox/log`: log lines and progress of a script.

use super::{MeteredState, define};
use std::sync::Arc;
use wasmtime::{
    StoreContextMut,
    component::{Linker, WasmList},
};

/// Size in bytes of a progress message, whose length the guest chooses. Longer messages are truncated.
const MAX_PROGRESS_MESSAGE: usize = 1024;

/// Receives the log lines and the progress of a script while it runs.
///
/// The methods are called on the thread that runs the script, so they must not block.
pub trait Listener: Send + Sync {
    /// Receives a line that the script printed. Lines over the log limit of the run are not reported.
    fn line(&self, line: &str);

    /// Receives a call of `progress`. The default implementation ignores it.
    fn progress(&self, progress: &Progress) {
        let _ = progress;
    }
}

/// The progress that a script reports.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// The amount of work that is done.
    pub done: f64,
    /// The total amount of work.
    pub total: Option<f64>,
    /// A description of the current step.
    pub message: Option<String>,
}

/// The log lines of a run, up to its limit.
pub struct LogBuffer {
    lines: Vec<String>,
    used: usize,
    limit: usize,
    line_overhead: usize,
    truncated: bool,
    listener: Option<Arc<dyn Listener>>,
}

impl LogBuffer {
    /// Creates a buffer of `limit` bytes, in which each line costs its text plus `line_overhead`.
    pub fn new(limit: usize, line_overhead: usize, listener: Option<Arc<dyn Listener>>) -> Self {
        Self { lines: Vec::new(), used: 0, limit, line_overhead, truncated: false, listener }
    }

    /// Returns the number of bytes that count against the limit.
    pub fn used(&self) -> usize {
        self.used
    }

    /// Returns the lines, and `true` if they were truncated.
    pub fn finish(self) -> (Vec<String>, bool) {
        (self.lines, self.truncated)
    }

    /// Returns the size in bytes that the text of the next line can have, or `None` if no line fits.
    fn remaining(&self) -> Option<usize> {
        self.limit.checked_sub(self.used + self.line_overhead)
    }

    /// Adds a line that fits. `truncated` is `true` if text is missing at its end.
    fn push(&mut self, text: String, truncated: bool) {
        self.truncated |= truncated;
        self.used += text.len() + self.line_overhead;
        if let Some(listener) = &self.listener {
            listener.line(&text);
        }
        self.lines.push(text);
    }
}

/// Decodes at most `limit` bytes into at most `limit` bytes of text, and returns `true` if the text is truncated.
///
/// Invalid UTF-8 becomes U+FFFD, which is longer than the bytes that it replaces.
fn decode_text(bytes: &[u8], limit: usize) -> (String, bool) {
    let mut text = String::from_utf8_lossy(&bytes[..bytes.len().min(limit)]).into_owned();
    let truncated = bytes.len() > limit || text.len() > limit;
    text.truncate(text.floor_char_boundary(limit));
    (text, truncated)
}

pub fn add_to_linker<T: MeteredState>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    let mut log = linker.instance("toolscript:sandbox/log@0.3.0")?;
    define(&mut log, "line", line)?;
    define(&mut log, "progress", progress)
}

fn line<T: MeteredState>(store: &mut StoreContextMut<'_, T>, (bytes,): (WasmList<u8>,)) {
    let log = &store.data().as_ref().log;
    match log.remaining().filter(|_| !log.truncated) {
        None => store.data_mut().as_mut().log.truncated = true,
        Some(remaining) => {
            let (text, truncated) = decode_text(bytes.as_le_slice(&*store), remaining);
            store.data_mut().as_mut().log.push(text, truncated);
        }
    }
}

type ProgressArguments = (f64, Option<f64>, Option<WasmList<u8>>);

fn progress<T: MeteredState>(store: &mut StoreContextMut<'_, T>, (done, total, message): ProgressArguments) {
    let message = message.map(|bytes| decode_text(bytes.as_le_slice(&*store), MAX_PROGRESS_MESSAGE).0);
    if let Some(listener) = &store.data().as_ref().log.listener {
        listener.progress(&Progress { done, total, message });
    }
}
