//! The limit behind an error or a truncation: its value, and the flag or key that raises it.
//!
//! Only people see these notes. A model can't raise a limit, so messages of the engine do not name flags.

use crate::{
    ErrorKind, Limits, Outcome, ScriptError,
    engine::IoOptions,
    text::{grouped, size},
};

/// The limits of a run that the notes refer to.
pub struct LimitHints {
    limits: Limits,
    /// The bytes and files that a run may write, if it has files.
    io: Option<(u64, u64)>,
}

impl LimitHints {
    pub fn new(limits: &Limits, io: Option<&IoOptions>) -> Self {
        Self { limits: limits.clone(), io: io.map(|io| (io.max_bytes, io.max_files)) }
    }

    /// Returns one note for each limit that ended the run or shortened its output.
    pub fn notes(&self, outcome: &Outcome) -> Vec<String> {
        let mut notes: Vec<String> = outcome.result.as_ref().err().and_then(|error| self.note(error)).into_iter().collect();
        if outcome.truncated.contains(&"logs") {
            notes.push(note(&format!("the log is truncated at {}", size(self.limits.logs as u64)), "[limits] logs"));
        }
        let others: Vec<&str> = outcome.truncated.iter().copied().filter(|part| *part != "logs").collect();
        if !others.is_empty() {
            notes.push(format!("truncated: {}", others.join(", ")));
        }
        notes
    }

    fn note(&self, error: &ScriptError) -> Option<String> {
        let limits = &self.limits;
        let (limit, remedy) = match error.kind {
            ErrorKind::Fuel => (format!("the fuel limit is {}", grouped(limits.effective_fuel())), "--fuel or [limits] fuel"),
            ErrorKind::Timeout => (format!("the time limit is {} s", limits.timeout.as_secs_f64()), "--timeout or [limits] timeout"),
            ErrorKind::Memory => (format!("the memory limit is {}", size(limits.memory as u64)), "--memory-limit or [limits] memory"),
            ErrorKind::Calls => {
                (format!("the limit on function calls is {}", grouped(limits.api_calls)), "--max-api-calls or [limits] api_calls")
            }
            ErrorKind::Result if error.message.contains("bytes as JSON; at most") => {
                (format!("the result limit is {}", size(limits.result as u64)), "[limits] result")
            }
            // The limits of files are runtime errors, which a script can catch.
            ErrorKind::Runtime => {
                let (max_bytes, max_files) = self.io?;
                if error.message.contains("I/O write limit exceeded (") {
                    (format!("the limit on written bytes is {}", size(max_bytes)), "[io] max_bytes")
                } else if error.message.contains(" created (max ") {
                    (format!("the limit on created files is {}", grouped(max_files)), "[io] max_files")
                } else {
                    return None;
                }
            }
            _ => return None,
        };
        Some(note(&limit, remedy))
    }
}

fn note(limit: &str, remedy: &str) -> String {
    format!("{limit}; raise it with {remedy} in toolscript.toml")
}
