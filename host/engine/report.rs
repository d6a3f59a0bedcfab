//! Builds the outcome and the receipt of a run that ended.
//!
//! Every value from the guest is measured in guest memory, then truncated or rejected, and only then copied.

use super::{
    bridge::CallLimitReached,
    check::Diagnostic,
    contract::{Failure, Kind},
    limits::{MAX_ERROR_TEXT, MAX_RESULT_DEPTH},
    meter::{Meter, Stop},
    options::RunOptions,
    outcome::{ErrorKind, Outcome, ScriptError},
    receipt::{HostCalls, Receipt},
    run::{Ending, Run, RunState},
};
use crate::{
    files::FileReport,
    text::{grouped, one_line},
};
use serde_json::value::RawValue;
use std::time::{Duration, Instant};
use wasmtime::{
    Store, Trap,
    component::{WasmList, WasmStr},
};

/// The message of a Luau out-of-memory error.
const OUT_OF_MEMORY: &str = "not enough memory";

/// Returns the report on a run that was cancelled before it started.
pub fn cancelled_while_waiting() -> Run {
    let error = stop_error(Stop::Cancelled, Duration::ZERO);
    Run { outcome: Outcome::new(Err(error)), receipt: Receipt { stopped_by: Some(ErrorKind::Cancelled), ..Receipt::default() } }
}

/// Returns the report on a script that did not run because of its mistakes.
pub fn rejected_by_check(diagnostics: Vec<Diagnostic>) -> Run {
    let count = diagnostics.len();
    let texts: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
    let message = match count {
        1 => format!("{} (found before the run; nothing was executed)", texts.concat()),
        _ => format!("{count} mistakes were found before the run, and nothing was executed: {}", texts.join("; ")),
    };
    let error = ScriptError { diagnostics, ..ScriptError::new(ErrorKind::Check, message) };
    Run { outcome: Outcome::new(Err(error)), receipt: Receipt::default() }
}

/// Returns the report on a run that started, however it ended. `parsed` is the result of a run that returned one.
pub fn conclude(
    store: Store<RunState>,
    (ending, parsed): (Ending, Option<ParsedResult>),
    files: FileReport,
    options: &RunOptions,
    fuel: u64,
    started: Instant,
) -> Run {
    let (mut truncated, mut replaced) = (Vec::new(), Vec::new());
    let result = match ending {
        Ending::Returned(Ok(success)) => {
            let parsed = parsed.unwrap_or_else(|| Err(internal_error()));
            parsed.inspect(|_| replaced = read_lines(&store, &success.replaced))
        }
        Ending::Returned(Err(failure)) => Err(read_failure(&store, &failure, &mut truncated)),
        Ending::Stopped(Stop::Deadline) if store.data().imports.waits_for_count => Err(count_timeout(options.limits.timeout)),
        Ending::Stopped(stop) => Err(stop_error(stop, options.limits.timeout)),
        Ending::Trapped(error) => Err(trap_error(&error, &store.data().meter, options, fuel)),
    };
    let fuel_left = store.get_fuel().unwrap_or(0);
    let RunState { imports, meter } = store.into_data();
    let log_bytes = imports.log.used() as u64;
    let (logs, logs_truncated) = imports.log.finish();
    if logs_truncated {
        truncated.insert(0, "logs");
    }
    let stopped_by = result.as_ref().err().map(|error| error.kind).filter(|kind| kind.is_stop());
    let receipt = Receipt {
        fuel: fuel.saturating_sub(fuel_left),
        microseconds: microseconds(started.elapsed()),
        memory_peak: meter.memory.peak as u64,
        log_bytes,
        result_bytes: result.as_ref().map_or(0, |json| json.get().len() as u64),
        bytes_read: files.bytes_read,
        bytes_written: files.bytes_written,
        files_created: files.files_created,
        host_calls: HostCalls { count: meter.host_calls, microseconds: microseconds(meter.host_time) },
        stopped_by,
    };
    tracing::debug!(?receipt, "run ended");
    let outcome = Outcome { logs, files_touched: files.touched, truncated, replaced, ..Outcome::new(result) };
    Run { outcome, receipt }
}

fn microseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// The result of a run as JSON.
pub type ParsedResult = Result<Box<RawValue>, ScriptError>;

/// Checks the size of the result in guest memory, then copies it.
pub fn copy_result(store: &Store<RunState>, json: &WasmStr, limit: usize) -> Result<String, ScriptError> {
    let text = json.to_str(store).map_err(|error| invalid_result(&error))?;
    if text.len() > limit {
        let message =
            format!("the result is {} bytes as JSON; at most {limit} are allowed: return less, or print or write it in parts", text.len());
        return Err(ScriptError::new(ErrorKind::Result, message));
    }
    Ok(text.into_owned())
}

/// Checks that the result is JSON.
pub fn parse_result(text: String) -> ParsedResult {
    if !is_one_line_and_shallow(&text) {
        return Err(invalid_result(&"it contains control characters or is nested too deeply"));
    }
    RawValue::from_string(text).map_err(|error| invalid_result(&error))
}

fn invalid_result(error: &dyn std::fmt::Display) -> ScriptError {
    tracing::error!(%error, "the guest returned a result that is not JSON");
    internal_error()
}

/// Returns `true` if the JSON contains no control characters and is not nested too deeply.
///
/// Readers rely on both: a line break between tokens would end a line of JSON early, and a deep value would overflow the stack of a
/// recursive decoder. The encoder of the guest guarantees them, but the host does not trust the guest.
fn is_one_line_and_shallow(json: &str) -> bool {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    json.bytes().all(|byte| {
        if in_string {
            (in_string, escaped) = (escaped || byte != b'"', !escaped && byte == b'\\');
        } else {
            match byte {
                b'"' => in_string = true,
                b'[' | b'{' => depth += 1,
                b']' | b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        byte >= b' ' && depth <= MAX_RESULT_DEPTH
    })
}

/// Copies at most [`MAX_ERROR_TEXT`] bytes of text, as lines. Control characters are escaped.
fn read_lines(store: &Store<RunState>, bytes: &WasmList<u8>) -> Vec<String> {
    let bytes = bytes.as_le_slice(store);
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_ERROR_TEXT)]);
    text.lines().map(one_line).collect()
}

fn read_failure(store: &Store<RunState>, failure: &Failure, truncated: &mut Vec<&'static str>) -> ScriptError {
    let mut read = |bytes: &WasmList<u8>, name| {
        let bytes = bytes.as_le_slice(store);
        if bytes.len() > MAX_ERROR_TEXT {
            truncated.push(name);
        }
        String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_ERROR_TEXT)]).into_owned()
    };
    let mut message = escape_message(&read(&failure.message, "message"));
    let traceback = Some(read(&failure.traceback, "traceback")).filter(|text| !text.is_empty());
    // Escape sequences are longer than the characters that they replace.
    if message.len() > MAX_ERROR_TEXT {
        message.truncate(message.floor_char_boundary(MAX_ERROR_TEXT));
        if truncated.first() != Some(&"message") {
            truncated.insert(0, "message");
        }
    }
    // `coroutine.wrap` raises the message again as a runtime error, prefixed with a position.
    let out_of_memory = store.data().meter.memory.denied && message.ends_with(OUT_OF_MEMORY);
    let kind = match failure.kind {
        Kind::Syntax => ErrorKind::Syntax,
        Kind::Runtime if out_of_memory => ErrorKind::Memory,
        Kind::Runtime => ErrorKind::Runtime,
        Kind::Result => ErrorKind::Result,
        Kind::Memory => ErrorKind::Memory,
    };
    ScriptError { traceback, column: failure.column, ..ScriptError::new(kind, message) }
}

/// Escapes all control characters in an error message, except tabs.
fn escape_message(text: &str) -> String {
    text.split('\t').map(one_line).collect::<Vec<_>>().join("\t")
}

fn trap_error(trap: &wasmtime::Error, meter: &Meter, options: &RunOptions, fuel: u64) -> ScriptError {
    if let Some(stop) = trap.downcast_ref::<Stop>() {
        return stop_error(*stop, options.limits.timeout);
    }
    if let Some(CallLimitReached(limit)) = trap.downcast_ref() {
        let message =
            format!("{} function calls were made, the limit; if this is a loop over pages, check that the cursor ends", grouped(*limit));
        return ScriptError::new(ErrorKind::Calls, message);
    }
    match trap.downcast_ref::<Trap>() {
        Some(Trap::OutOfFuel) => ScriptError::new(ErrorKind::Fuel, format!("the script used up its fuel ({fuel})")),
        Some(Trap::StackOverflow) => ScriptError::new(ErrorKind::Runtime, "stack overflow".into()),
        // Where the guest can't handle a denied allocation, it aborts, or fails to allocate the exception.
        Some(Trap::UnreachableCodeReached) | None if meter.memory.denied => {
            tracing::info!(error = format!("{trap:#}"), "the guest aborted for lack of memory");
            ScriptError::new(ErrorKind::Memory, OUT_OF_MEMORY.into())
        }
        _ => {
            tracing::error!(error = format!("{trap:#}"), "the sandbox failed");
            internal_error()
        }
    }
}

fn stop_error(stop: Stop, timeout: Duration) -> ScriptError {
    match stop {
        Stop::Deadline => ScriptError::new(ErrorKind::Timeout, format!("the script ran longer than {} s", timeout.as_secs_f64())),
        Stop::Cancelled => ScriptError::new(ErrorKind::Cancelled, "the run was cancelled".into()),
    }
}

/// The error of a script that waited until the files of its directory are counted.
fn count_timeout(timeout: Duration) -> ScriptError {
    let timeout = timeout.as_secs_f64();
    let message = format!("the script ran longer than {timeout} s, because its many files are still being counted; try again later");
    ScriptError::new(ErrorKind::Timeout, message)
}

pub fn internal_error() -> ScriptError {
    ScriptError::new(ErrorKind::Internal, "the sandbox failed; the cause is in the host's log".into())
}

#[cfg(test)]
mod tests {
    use super::{Meter, escape_message, is_one_line_and_shallow, trap_error};
    use crate::engine::{ErrorKind, RunOptions};
    use wasmtime::Trap;

    #[test]
    fn a_trap_is_an_internal_error_and_reveals_nothing_about_the_host() {
        let options = RunOptions::default();
        let meter = Meter::new(options.limits.timeout, options.cancellation.clone(), options.limits.memory);
        for error in [Trap::UnreachableCodeReached.into(), Trap::MemoryOutOfBounds.into(), wasmtime::Error::msg("/home/user/secret")] {
            let error = trap_error(&error, &meter, &options, 1);
            assert_eq!(error.kind, ErrorKind::Internal);
            assert_eq!(error.message, "the sandbox failed; the cause is in the host's log");
        }
    }

    #[test]
    fn a_denied_allocation_does_not_hide_other_traps() {
        let options = RunOptions::default();
        let mut meter = Meter::new(options.limits.timeout, options.cancellation.clone(), options.limits.memory);
        meter.memory.denied = true;
        let kind = |trap: Trap| trap_error(&trap.into(), &meter, &options, 1).kind;
        assert_eq!(kind(Trap::UnreachableCodeReached), ErrorKind::Memory);
        assert_eq!(kind(Trap::MemoryOutOfBounds), ErrorKind::Internal);
        assert_eq!(kind(Trap::BadSignature), ErrorKind::Internal);
    }

    #[test]
    fn a_result_from_the_guest_is_checked() {
        assert!(is_one_line_and_shallow(r#"{"a":["[[\"{",1],"\\":{}}"#));
        assert!(is_one_line_and_shallow(&format!("{}{}", "[".repeat(128), "]".repeat(128))));
        assert!(!is_one_line_and_shallow(&format!("{}{}", "[".repeat(129), "]".repeat(129))));
        assert!(!is_one_line_and_shallow("[1,\n2]"));
    }

    #[test]
    fn a_message_is_one_line() {
        assert_eq!(escape_message("a\nb\tc\u{1b}[1m\u{2028}é"), "a\\nb\tc\\u{1b}[1m\u{2028}é");
    }
}
