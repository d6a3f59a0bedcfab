//! One run: a permit, a fresh instance, one call, and an account of it.

use super::{
    Engine,
    contract::{Failure, Kind, Request, RunFunction},
    limits::{ARGUMENTS, ERROR_TEXT, InvalidLimit, LOG_LINE_OVERHEAD},
    meter::{self, Meter, Stop},
    outcome::{ErrorKind, Outcome, ScriptError},
    receipt::{HostCalls, Receipt},
    script::{RunOptions, Script},
};
use crate::bridge::{Imports, LogBook};
use serde_json::value::RawValue;
use std::{
    future::poll_fn,
    pin::pin,
    sync::atomic::Ordering,
    task::Poll,
    time::{Duration, Instant},
};
use tokio::sync::SemaphorePermit;
use wasmtime::{
    Store, Trap,
    component::{WasmList, WasmStr},
};

/// What came of a run that was made.
#[derive(Debug)]
#[non_exhaustive]
pub struct Run {
    /// For whoever asked: the result or the error, the logs, the files.
    pub outcome: Outcome,
    /// For whoever pays: what it cost.
    pub receipt: Receipt,
}

/// Why a run was not made at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The script is larger than the run's limit.
    #[error("the script is {size} bytes; at most {limit} are allowed")]
    ScriptTooLarge {
        /// Bytes of the script.
        size: usize,
        /// The limit.
        limit: usize,
    },
    /// The arguments are larger than a constant.
    #[error("the arguments are {size} bytes; at most {limit} are allowed")]
    ArgumentsTooLarge {
        /// Bytes of all arguments.
        size: usize,
        /// The limit.
        limit: usize,
    },
    /// A limit that no run could work with.
    #[error(transparent)]
    Limit(#[from] InvalidLimit),
    /// As many runs as allowed are running and waiting.
    #[error("busy: {running} scripts are running and {waiting} are waiting; try again later")]
    Busy {
        /// Runs at once.
        running: usize,
        /// Runs in the queue.
        waiting: usize,
    },
}

/// What belongs to one instance.
pub struct State {
    pub imports: Imports,
    pub meter: Meter,
}

impl AsRef<Imports> for State {
    fn as_ref(&self) -> &Imports {
        &self.imports
    }
}

impl AsMut<Imports> for State {
    fn as_mut(&mut self) -> &mut Imports {
        &mut self.imports
    }
}

/// How the call into the guest ended.
enum Ending {
    Returned(Result<WasmStr, Failure>),
    Stopped(Stop),
    Trapped(wasmtime::Error),
}

impl Engine {
    /// Runs a script in a fresh instance.
    ///
    /// It needs a tokio runtime with time enabled. Dropping the future stops the script at once.
    ///
    /// # Errors
    ///
    /// When the run is not made: the script is too large, a limit makes no sense, or too many runs are waiting. A run that was
    /// made always has an outcome.
    pub async fn run(&self, script: &Script, options: RunOptions) -> Result<Run, Refusal> {
        check(script, &options)?;
        let Some(_permit) = self.permit(&options).await? else {
            return Ok(cancelled_while_waiting());
        };
        let started = Instant::now();
        let meter = Meter::new(options.limits.timeout, options.cancellation.clone(), options.limits.memory);
        let log = LogBook::new(options.limits.logs, LOG_LINE_OVERHEAD, options.listener.clone());
        let mut store = Store::new(&self.shared.engine, State { imports: Imports::new(log), meter });
        let fuel = options.limits.fuel();
        let ending = match meter::install(&mut store, fuel) {
            Ok(()) => self.call(&mut store, script, &options).await,
            Err(error) => Ending::Trapped(error),
        };
        Ok(conclude(store, ending, &options, fuel, started))
    }

    /// Waits for a turn; nothing if the run was cancelled meanwhile.
    async fn permit(&self, options: &RunOptions) -> Result<Option<SemaphorePermit<'_>>, Refusal> {
        let shared = &self.shared;
        if let Ok(permit) = shared.permits.try_acquire() {
            return Ok(Some(permit));
        }
        let waiting = Waiting::enter(shared)?;
        let permit = tokio::select! {
            permit = shared.permits.acquire() => permit.ok(),
            () = options.cancellation.cancelled() => None,
        };
        drop(waiting);
        Ok(permit)
    }

    async fn call(&self, store: &mut Store<State>, script: &Script, options: &RunOptions) -> Ending {
        let deadline = store.data().meter.deadline;
        let mut timer = pin!(tokio::time::sleep_until(deadline.into()));
        let mut cancelled = pin!(options.cancellation.cancelled());
        let mut call = pin!(self.enter(store, script, options));
        // The guest yields about every 100 µs; the clock is read at each, as a busy runtime may be late with its timers. A run that
        // ends before its first yield pays for no timer.
        poll_fn(|context| {
            if options.cancellation.is_cancelled() {
                return Poll::Ready(Ending::Stopped(Stop::Cancelled));
            }
            if let Poll::Ready(ended) = call.as_mut().poll(context) {
                return Poll::Ready(ended.map_or_else(Ending::Trapped, Ending::Returned));
            }
            if cancelled.as_mut().poll(context).is_ready() {
                return Poll::Ready(Ending::Stopped(Stop::Cancelled));
            }
            if timer.as_mut().poll(context).is_ready() || Instant::now() >= deadline {
                return Poll::Ready(Ending::Stopped(Stop::Deadline));
            }
            Poll::Pending
        })
        .await
    }

    async fn enter(&self, store: &mut Store<State>, script: &Script, options: &RunOptions) -> wasmtime::Result<Result<WasmStr, Failure>> {
        let request = Request {
            script: script.source.clone(),
            arguments: script.arguments.clone(),
            io: None,
            seed: options.seed.unwrap_or_else(seed),
            memory: store.data().meter.memory.linear_limit() as u64,
        };
        let instance = self.shared.guest.instantiate_async(&mut *store).await?;
        let run: RunFunction = instance.get_typed_func(&mut *store, self.shared.run_export)?;
        let (result,) = run.call_async(store, (request,)).await?;
        Ok(result)
    }
}

/// A place in the queue, given back when it is dropped.
struct Waiting<'a>(&'a super::Shared);

impl<'a> Waiting<'a> {
    fn enter(shared: &'a super::Shared) -> Result<Self, Refusal> {
        let waiting = shared.waiting.fetch_add(1, Ordering::Relaxed);
        let place = Self(shared);
        if waiting >= shared.queue {
            return Err(Refusal::Busy { running: shared.concurrency, waiting });
        }
        Ok(place)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

fn check(script: &Script, options: &RunOptions) -> Result<(), Refusal> {
    options.limits.check()?;
    let (size, limit) = (script.source.len(), options.limits.script);
    if size > limit {
        return Err(Refusal::ScriptTooLarge { size, limit });
    }
    // Each argument is an element of a list in the guest too.
    let size = script.arguments.iter().map(|argument| argument.len() + 8).sum();
    if size > ARGUMENTS {
        return Err(Refusal::ArgumentsTooLarge { size, limit: ARGUMENTS });
    }
    Ok(())
}

/// From the same source as the keys of the standard library's hash maps.
fn seed() -> u64 {
    use std::hash::{BuildHasher as _, RandomState};
    RandomState::new().hash_one(0)
}

fn cancelled_while_waiting() -> Run {
    let error = stop_error(Stop::Cancelled, Duration::ZERO);
    let outcome = Outcome { result: Err(error), logs: Vec::new(), files_touched: Vec::new(), truncated: Vec::new() };
    Run { outcome, receipt: Receipt { stopped_by: Some(ErrorKind::Cancelled), ..Receipt::default() } }
}

/// Takes the account of a run, whatever its end.
fn conclude(store: Store<State>, ending: Ending, options: &RunOptions, fuel: u64, started: Instant) -> Run {
    let mut truncated = Vec::new();
    let result = match ending {
        Ending::Returned(Ok(json)) => take_result(&store, &json, options.limits.result),
        Ending::Returned(Err(failure)) => Err(take_failure(&store, &failure, &mut truncated)),
        Ending::Stopped(stop) => Err(stop_error(stop, options.limits.timeout)),
        Ending::Trapped(error) => Err(trap_error(&error, &store.data().meter, options, fuel)),
    };
    let fuel_left = store.get_fuel().unwrap_or(0);
    let State { imports, meter } = store.into_data();
    let log_bytes = imports.log.used() as u64;
    let (logs, logs_cut) = imports.log.finish();
    if logs_cut {
        truncated.insert(0, "logs");
    }
    let stopped_by = result.as_ref().err().map(|error| error.kind).filter(|kind| matches!(kind.exit_code(), 3 | 130));
    let receipt = Receipt {
        fuel: fuel.saturating_sub(fuel_left),
        microseconds: microseconds(started.elapsed()),
        memory_peak: meter.memory.peak as u64,
        log_bytes,
        result_bytes: result.as_ref().map_or(0, |json| json.get().len() as u64),
        host_calls: HostCalls { count: meter.host_calls, microseconds: microseconds(meter.host_time) },
        stopped_by,
    };
    tracing::debug!(?receipt, "run ended");
    Run { outcome: Outcome { result, logs, files_touched: Vec::new(), truncated }, receipt }
}

fn microseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// The result is read in the guest's memory, and copied only if it is small enough and JSON.
fn take_result(store: &Store<State>, json: &WasmStr, limit: usize) -> Result<Box<RawValue>, ScriptError> {
    let invalid = |error: &dyn std::fmt::Display| {
        tracing::error!(%error, "the guest returned a result that is not JSON");
        internal()
    };
    let text = json.to_str(store).map_err(|error| invalid(&error))?;
    if text.len() > limit {
        let message =
            format!("the result is {} bytes as JSON; at most {limit} are allowed: return less, or print or write it in parts", text.len());
        return Err(error(ErrorKind::Result, message));
    }
    RawValue::from_string(text.into_owned()).map_err(|error| invalid(&error))
}

fn take_failure(store: &Store<State>, failure: &Failure, truncated: &mut Vec<&'static str>) -> ScriptError {
    let mut take = |bytes: &WasmList<u8>, name| {
        let bytes = bytes.as_le_slice(store);
        if bytes.len() > ERROR_TEXT {
            truncated.push(name);
        }
        String::from_utf8_lossy(&bytes[..bytes.len().min(ERROR_TEXT)]).into_owned()
    };
    let message = one_line(&take(&failure.message, "message"));
    let traceback = Some(take(&failure.traceback, "traceback")).filter(|text| !text.is_empty());
    let kind = match failure.kind {
        Kind::Syntax => ErrorKind::Syntax,
        Kind::Runtime => ErrorKind::Runtime,
        Kind::Result => ErrorKind::Result,
        Kind::Memory => ErrorKind::Memory,
    };
    ScriptError { kind, message, traceback }
}

/// A script may raise any text; the message is one line, with what would break it shown as an escape.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\t' => line.push('\t'),
            control if control.is_control() => line.extend(control.escape_default()),
            other => line.push(other),
        }
    }
    line
}

fn trap_error(trap: &wasmtime::Error, meter: &Meter, options: &RunOptions, fuel: u64) -> ScriptError {
    if let Some(stop) = trap.downcast_ref::<Stop>() {
        return stop_error(*stop, options.limits.timeout);
    }
    match trap.downcast_ref::<Trap>() {
        Some(Trap::OutOfFuel) => error(ErrorKind::Fuel, format!("the script used up its fuel ({fuel})")),
        Some(Trap::StackOverflow) => error(ErrorKind::Runtime, "stack overflow".into()),
        // Where the guest could not turn a refused allocation into an error, it ends itself.
        _ if meter.memory.denied => {
            tracing::info!(error = format!("{trap:#}"), "the guest ended itself for lack of memory");
            error(ErrorKind::Memory, "not enough memory".into())
        }
        _ => {
            tracing::error!(error = format!("{trap:#}"), "the sandbox failed");
            internal()
        }
    }
}

fn stop_error(stop: Stop, timeout: Duration) -> ScriptError {
    match stop {
        Stop::Deadline => error(ErrorKind::Timeout, format!("the script ran longer than {} s", timeout.as_secs_f64())),
        Stop::Cancelled => error(ErrorKind::Cancelled, "the run was cancelled".into()),
    }
}

fn internal() -> ScriptError {
    error(ErrorKind::Internal, "the sandbox failed; the cause is in the host's log".into())
}

fn error(kind: ErrorKind, message: String) -> ScriptError {
    ScriptError { kind, message, traceback: None }
}
