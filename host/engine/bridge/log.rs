//! `toolscript:sandbox/log`: what a script says while it runs.

use super::{State, define};
use std::sync::Arc;
use wasmtime::{
    StoreContextMut,
    component::{Linker, WasmList},
};

/// Bytes of a progress message that are kept; the guest chooses its length.
const PROGRESS_MESSAGE: usize = 1024;

/// Hears of what a script says, as it says it.
///
/// It is called on the thread that runs the script, so it must not block.
pub trait Listener: Send + Sync {
    /// A line that was printed. Lines over the run's log limit are not heard of.
    fn line(&self, line: &str);

    /// A call of `progress`.
    fn progress(&self, progress: &Progress) {
        let _ = progress;
    }
}

/// How far a script says that it is.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// How much is done.
    pub done: f64,
    /// Of how much.
    pub total: Option<f64>,
    /// A word on it.
    pub message: Option<String>,
}

/// The lines of a run, up to its limit.
pub struct LogBook {
    lines: Vec<String>,
    used: usize,
    limit: usize,
    line_overhead: usize,
    cut: bool,
    listener: Option<Arc<dyn Listener>>,
}

impl LogBook {
    /// Keeps lines up to `limit` bytes, each counted with `line_overhead` more.
    pub fn new(limit: usize, line_overhead: usize, listener: Option<Arc<dyn Listener>>) -> Self {
        Self { lines: Vec::new(), used: 0, limit, line_overhead, cut: false, listener }
    }

    /// Bytes that count against the limit.
    pub fn used(&self) -> usize {
        self.used
    }

    /// The lines, and whether some were cut.
    pub fn finish(self) -> (Vec<String>, bool) {
        (self.lines, self.cut)
    }

    /// Bytes of text that the next line may have, or nothing if there is no room for a line.
    fn room(&self) -> Option<usize> {
        self.limit.checked_sub(self.used + self.line_overhead)
    }

    /// Keeps a line of which `text` is what fitted; `cut` if that is not all.
    fn keep(&mut self, text: String, cut: bool) {
        self.cut |= cut;
        self.used += text.len() + self.line_overhead;
        if let Some(listener) = &self.listener {
            listener.line(&text);
        }
        self.lines.push(text);
    }
}

/// The text of at most `most` bytes, and whether that is not all; what is not UTF-8 becomes U+FFFD, which is longer. At most
/// `most` bytes are looked at.
fn text(bytes: &[u8], most: usize) -> (String, bool) {
    let mut text = String::from_utf8_lossy(&bytes[..bytes.len().min(most)]).into_owned();
    let cut = bytes.len() > most || text.len() > most;
    text.truncate(text.floor_char_boundary(most));
    (text, cut)
}

pub fn add_to_linker<T: State>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    let mut log = linker.instance("toolscript:sandbox/log@0.1.0")?;
    define(&mut log, "line", line)?;
    define(&mut log, "progress", progress)
}

fn line<T: State>(store: &mut StoreContextMut<'_, T>, (bytes,): (WasmList<u8>,)) {
    let log = &store.data().as_ref().log;
    match log.room().filter(|_| !log.cut) {
        None => store.data_mut().as_mut().log.cut = true,
        Some(room) => {
            let (text, cut) = text(bytes.as_le_slice(&*store), room);
            store.data_mut().as_mut().log.keep(text, cut);
        }
    }
}

type ProgressArguments = (f64, Option<f64>, Option<WasmList<u8>>);

fn progress<T: State>(store: &mut StoreContextMut<'_, T>, (done, total, message): ProgressArguments) {
    let message = message.map(|bytes| text(bytes.as_le_slice(&*store), PROGRESS_MESSAGE).0);
    if let Some(listener) = &store.data().as_ref().log.listener {
        listener.progress(&Progress { done, total, message });
    }
}
