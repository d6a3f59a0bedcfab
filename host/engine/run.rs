//! One run: waits for a permit, creates a fresh instance, calls it once and reports the outcome.

use super::{
    Engine,
    bridge::{FileIo, ImportState, LogBuffer, MAX_RESPONSE, RunFunctions},
    check::{CheckMode, Diagnostic},
    contract::{Failure, Request, RunFunction, Success, Variable},
    limits::{InvalidLimit, LOG_LINE_OVERHEAD, MAX_ARGUMENTS, MAX_ENVIRONMENT},
    meter::{self, Meter, Stop},
    options::{IoOptions, RunOptions},
    outcome::{Outcome, ScriptError},
    receipt::Receipt,
    report,
    script::Script,
};
use crate::{
    files::{FileReport, FileSession},
    random::random,
};
use std::{future::poll_fn, pin::pin, task::Poll, time::Instant};
use tokio_util::sync::CancellationToken;
use wasmtime::Store;

/// The size of a result in bytes from which checking it takes so long that other tasks must not wait for it.
const LARGE_RESULT: usize = 256 << 10;

/// Bytes that each argument costs in addition to its text: it is also an element of a list and of the Luau stack in the guest.
const ARGUMENT_OVERHEAD: usize = 16;

/// Bytes that each environment value costs in addition to its name and text: it is also an element of a list and of a Luau table in the
/// guest.
const VARIABLE_OVERHEAD: usize = 64;

/// The start of a script that is only compiled. It is on the first line, so that the numbers of lines do not change. The compiler would skip
/// the rest after a certain return.
const RETURN_FIRST: &str = "if math then return end ";

/// The mark that an editor may write at the start of a file.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A completed run.
#[derive(Debug)]
#[non_exhaustive]
pub struct Run {
    /// The result or the error, the logs and the files, for the caller.
    pub outcome: Outcome,
    /// The cost of the run, for the operator.
    pub receipt: Receipt,
}

/// The reason why a run did not start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunRejected {
    /// The script exceeds [`Limits::script`](super::Limits::script).
    #[error("the script is {size} bytes; at most {limit} are allowed")]
    ScriptTooLarge {
        /// The size of the script in bytes.
        size: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// The arguments exceed 1 MiB.
    #[error("the arguments are {size} bytes; at most {limit} are allowed")]
    ArgumentsTooLarge {
        /// The size of all arguments in bytes.
        size: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// The environment values exceed 256 KiB.
    #[error("the environment values are {size} bytes; at most {limit} are allowed")]
    EnvironmentTooLarge {
        /// The size of all names and values in bytes.
        size: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// A limit is out of range.
    #[error(transparent)]
    Limit(#[from] InvalidLimit),
    /// The queue of the engine or of the quota is full.
    #[error("busy: {running} scripts are running and {waiting} are waiting; try again later")]
    Busy {
        /// The number of running scripts.
        running: usize,
        /// The number of waiting scripts.
        waiting: usize,
    },
}

/// The state of one instance.
pub struct RunState {
    pub imports: ImportState,
    pub meter: Meter,
}

impl AsRef<ImportState> for RunState {
    fn as_ref(&self) -> &ImportState {
        &self.imports
    }
}

impl AsMut<ImportState> for RunState {
    fn as_mut(&mut self) -> &mut ImportState {
        &mut self.imports
    }
}

/// The end of the call into the guest.
pub enum Ending {
    Returned(Result<Success, Failure>),
    Stopped(Stop),
    Trapped(wasmtime::Error),
}

impl Engine {
    /// Runs a script in a fresh instance.
    ///
    /// Requires a tokio runtime with time enabled. Dropping the future stops the script at once; a file operation in progress
    /// completes in the background. The wall time starts when the run leaves the queue. To limit the wait in the queue, cancel the
    /// run or drop the future.
    ///
    /// # Errors
    ///
    /// Returns an error if the run does not start: the script is too large, a limit is out of range, or the queue is full. A run that
    /// starts always has an outcome.
    pub async fn run(&self, script: &Script, options: RunOptions) -> Result<Run, RunRejected> {
        check(script, &options)?;
        let _quota_permit = match &options.quota {
            None => None,
            Some(quota) => match quota.queue().acquire(&options.cancellation).await? {
                None => return Ok(report::cancelled_while_waiting()),
                permit => permit,
            },
        };
        let Some(_permit) = self.shared.queue.acquire(&options.cancellation).await? else {
            return Ok(report::cancelled_while_waiting());
        };
        let functions = options.functions.clone().or_else(|| self.shared.functions.clone());
        let diagnostics = match options.check {
            CheckMode::Off => Vec::new(),
            CheckMode::Warn | CheckMode::Errors => {
                let provider = functions.as_deref();
                let mut found = self.check_before_run(script, provider, options.io.is_some(), &options.cancellation).await;
                found.retain(Diagnostic::is_error);
                found
            }
        };
        if options.check == CheckMode::Errors && !diagnostics.is_empty() {
            return Ok(report::rejected_by_check(diagnostics));
        }
        let started = Instant::now();
        let meter = Meter::new(options.limits.timeout, options.cancellation.clone(), options.limits.memory);
        let log = LogBuffer::new(options.limits.logs, LOG_LINE_OVERHEAD, options.listener.clone());
        let files = OpenFiles(options.io.as_ref().map(IoOptions::session));
        let functions = functions.map(|provider| RunFunctions::new(provider, options.limits.api_calls));
        let imports = ImportState::new(log, files.0.clone(), functions, self.shared.file_io);
        let mut store = Store::new(&self.shared.engine, RunState { imports, meter });
        let fuel = options.limits.effective_fuel();
        let ending = match meter::install(&mut store, fuel) {
            Ok(()) => self.call_until_stopped(&mut store, script, &options).await,
            Err(error) => Ending::Trapped(error),
        };
        let copied = match &ending {
            Ending::Returned(Ok(success)) => Some(report::copy_result(&store, &success.json, options.limits.result)),
            _ => None,
        };
        let parsed = match copied {
            Some(Ok(text)) => Some(self.parse_result(text).await),
            Some(Err(error)) => Some(Err(error)),
            None => None,
        };
        let files = files.close().await;
        let mut run = report::conclude(store, (ending, parsed), files, &options, fuel, started);
        run.outcome.diagnostics = diagnostics;
        Ok(run)
    }

    /// Compiles a script without running it. Returns the syntax error if it has one, or the reason why it can't be compiled.
    ///
    /// # Errors
    ///
    /// Returns an error if the compilation does not start, as [`run`](Self::run) does.
    pub async fn compile(&self, script: &Script, options: RunOptions) -> Result<Option<ScriptError>, RunRejected> {
        let text = script.source.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&script.source);
        // A script after this statement is compiled and not run. A `#!` line is a comment.
        let rest = text.strip_prefix(b"#!").map(|rest| [b"--", rest].concat());
        let source = [RETURN_FIRST.as_bytes(), rest.as_deref().unwrap_or(text)].concat();
        let mut options = options;
        options.limits.script = options.limits.script.saturating_add(RETURN_FIRST.len());
        let run = self.run(&Script::new(source), options.with_check(CheckMode::Off)).await?;
        Ok(run.outcome.result.err().map(|mut error| {
            let is_first_line = error.message.starts_with("script:1: ");
            let shift = u32::try_from(RETURN_FIRST.len()).unwrap_or(0);
            error.column = error.column.map(|column| if is_first_line { column.saturating_sub(shift).max(1) } else { column });
            error
        }))
    }

    /// Checks that a result is JSON. Other tasks of the thread do not wait until a large one is checked.
    async fn parse_result(&self, text: String) -> report::ParsedResult {
        match self.shared.file_io {
            FileIo::ThreadPool if text.len() >= LARGE_RESULT => {
                let parsed = tokio::task::spawn_blocking(|| report::parse_result(text)).await;
                parsed.unwrap_or_else(|error| {
                    tracing::error!(%error, "the result of a run was lost");
                    Err(report::internal_error())
                })
            }
            FileIo::BlockInPlace if text.len() >= LARGE_RESULT => tokio::task::block_in_place(|| report::parse_result(text)),
            _ => report::parse_result(text),
        }
    }

    /// Calls the guest, and stops it at the deadline or when the run is cancelled.
    async fn call_until_stopped(&self, store: &mut Store<RunState>, script: &Script, options: &RunOptions) -> Ending {
        let deadline = store.data().meter.deadline;
        let ended = until_stopped(self.call(store, script, options), deadline, &options.cancellation).await;
        ended.map_or_else(Ending::Stopped, |returned| returned.map_or_else(Ending::Trapped, Ending::Returned))
    }

    /// Instantiates the guest and calls its `run` export.
    async fn call(&self, store: &mut Store<RunState>, script: &Script, options: &RunOptions) -> wasmtime::Result<Result<Success, Failure>> {
        let variable = |(name, value): (&String, &String)| Variable { name: name.clone(), value: value.clone() };
        let request = Request {
            script: script.source.clone(),
            arguments: script.arguments.clone(),
            environment: script.environment.as_ref().map(|environment| environment.iter().map(variable).collect()),
            io: options.io.as_ref().map(IoOptions::os_error_mode),
            tools: store.data().imports.functions.as_ref().map(|_| MAX_RESPONSE as u64),
            seed: options.seed.unwrap_or_else(random),
            memory: store.data().meter.memory.linear_limit() as u64,
        };
        let instance = self.shared.guest.instantiate_async(&mut *store).await?;
        let run: RunFunction = instance.get_typed_func(&mut *store, self.shared.run_export)?;
        let (result,) = run.call_async(store, (request,)).await?;
        Ok(result)
    }
}

/// Polls a call of a guest until it returns, the deadline has passed or the call is cancelled.
///
/// The guest yields about every 100 µs. Each poll reads the clock, because the timers of a busy runtime can be late. A call that returns
/// before its first yield never registers the timer.
pub async fn until_stopped<T>(
    call: impl Future<Output = wasmtime::Result<T>>,
    deadline: Instant,
    cancellation: &CancellationToken,
) -> Result<wasmtime::Result<T>, Stop> {
    let mut timer = pin!(tokio::time::sleep_until(deadline.into()));
    let mut cancelled = pin!(cancellation.cancelled());
    let mut call = pin!(call);
    poll_fn(|context| {
        if cancellation.is_cancelled() {
            return Poll::Ready(Err(Stop::Cancelled));
        }
        if let Poll::Ready(returned) = call.as_mut().poll(context) {
            // Copying a large block can't be interrupted, so the call can return after the deadline.
            let is_late = returned.is_ok() && Instant::now() >= deadline;
            return Poll::Ready(if is_late { Err(Stop::Deadline) } else { Ok(returned) });
        }
        if cancelled.as_mut().poll(context).is_ready() {
            return Poll::Ready(Err(Stop::Cancelled));
        }
        if timer.as_mut().poll(context).is_ready() || Instant::now() >= deadline {
            return Poll::Ready(Err(Stop::Deadline));
        }
        Poll::Pending
    })
    .await
}

/// The files of a run. Closing them may block.
struct OpenFiles(Option<FileSession>);

impl OpenFiles {
    /// Closes the files and returns the report on them. Waits for an operation that was in progress when the run stopped.
    async fn close(mut self) -> FileReport {
        let Some(files) = self.0.take() else { return FileReport::default() };
        if let Some(report) = files.finish_now() {
            return report;
        }
        tokio::task::spawn_blocking(move || files.finish()).await.unwrap_or_else(|error| {
            tracing::error!(%error, "the report on the files of a run was lost");
            FileReport::default()
        })
    }
}

impl Drop for OpenFiles {
    /// Closes the files in the background if the future of the run was dropped.
    fn drop(&mut self) {
        if let Some(files) = self.0.take()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            runtime.spawn_blocking(move || files.finish());
        }
    }
}

/// Checks the limits, and the sizes of the script, its arguments and its environment values.
fn check(script: &Script, options: &RunOptions) -> Result<(), RunRejected> {
    options.limits.check()?;
    let (size, limit) = (script.source.len(), options.limits.script);
    if size > limit {
        return Err(RunRejected::ScriptTooLarge { size, limit });
    }
    let size = script.arguments.iter().map(|argument| argument.len() + ARGUMENT_OVERHEAD).sum();
    if size > MAX_ARGUMENTS {
        return Err(RunRejected::ArgumentsTooLarge { size, limit: MAX_ARGUMENTS });
    }
    let size = script.environment.iter().flatten().map(|(name, value)| name.len() + value.len() + VARIABLE_OVERHEAD).sum();
    if size > MAX_ENVIRONMENT {
        return Err(RunRejected::EnvironmentTooLarge { size, limit: MAX_ENVIRONMENT });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::{
        Engine, ErrorKind, Files, Limits, RunOptions, Script,
        engine::{FileIo, IoOptions},
    };
    use std::time::{Duration, Instant};

    #[tokio::test(flavor = "current_thread")]
    async fn a_slow_disk_blocks_only_its_own_run_and_a_stop_waits_for_it() {
        write_to_a_slow_disk(FileIo::ThreadPool).await;
    }

    /// The runtime has one worker, which must also execute the other runs.
    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn a_slow_disk_with_block_in_place_blocks_only_its_own_run() {
        tokio::spawn(write_to_a_slow_disk(FileIo::BlockInPlace)).await.unwrap();
    }

    /// Runs a script whose write blocks. A lock simulates a disk that does not respond.
    async fn write_to_a_slow_disk(file_io: FileIo) {
        let directory = tempfile::TempDir::new().unwrap();
        let files = Files::new(directory.path()).unwrap();
        let engine = Engine::builder().concurrency(2).file_io(file_io).build().unwrap();
        let timeout = Duration::from_millis(200);
        let options = RunOptions::default().with_limits(Limits::default().with_timeout(timeout)).with_io(IoOptions::new(files.clone()));

        let (unblock, blocked) = block_writes(files);
        blocked.await.unwrap();
        let slow = tokio::spawn({
            let engine = engine.clone();
            async move { engine.run(&Script::new("io.open('slow', 'w+'):write('all of it') while true do end"), options).await.unwrap() }
        });
        // Other runs complete in the meantime, even after the deadline of the blocked run.
        let started = Instant::now();
        while started.elapsed() < 2 * timeout {
            let other = engine.run(&Script::new("return 1"), RunOptions::default()).await.unwrap();
            assert!(other.outcome.result.is_ok());
            tokio::task::yield_now().await;
        }
        assert!(!slow.is_finished());
        unblock.send(()).unwrap();

        let run = slow.await.unwrap();
        assert_eq!(run.outcome.result.unwrap_err().kind, ErrorKind::Timeout);
        let [touched] = &run.outcome.files_touched[..] else { panic!("{:?}", run.outcome.files_touched) };
        assert_eq!((touched.name.as_str(), touched.bytes, touched.truncated), ("slow", Some(9), false));
    }

    /// Blocks all writes until the sender is used. The receiver resolves when writes are blocked.
    fn block_writes(files: Files) -> (std::sync::mpsc::Sender<()>, tokio::sync::oneshot::Receiver<()>) {
        let (unblock, unblocked) = std::sync::mpsc::channel();
        let (block, blocked) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || {
            let lock = files.truncate_lock().write().unwrap();
            block.send(()).unwrap();
            unblocked.recv().unwrap();
            drop(lock);
        });
        (unblock, blocked)
    }
}
