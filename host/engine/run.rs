//! One run: a permit, a fresh instance, one call, and an account of it.

use super::{
    Engine,
    contract::{Failure, Request, RunFunction},
    limits::{ARGUMENTS, InvalidLimit, LOG_LINE_OVERHEAD},
    meter::{self, Meter, Stop},
    outcome::Outcome,
    receipt::Receipt,
    report,
    script::{IoOptions, RunOptions, Script},
};
use crate::{
    engine::bridge::{Imports, LogBook, MAX_ANSWER, RunFunctions},
    files::{FileReport, FileSession},
    random::random,
};
use std::{future::poll_fn, pin::pin, task::Poll, time::Instant};
use wasmtime::{Store, component::WasmStr};

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
pub enum RunRejected {
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
pub enum Ending {
    Returned(Result<WasmStr, Failure>),
    Stopped(Stop),
    Trapped(wasmtime::Error),
}

impl Engine {
    /// Runs a script in a fresh instance.
    ///
    /// It needs a tokio runtime with time enabled. Dropping the future stops the script at once; an operation
    /// on a file that is under way is finished behind it. The wall time counts from the
    /// moment the run has its turn; to bound the wait for it too, cancel the run or drop the future.
    ///
    /// # Errors
    ///
    /// When the run is not made: the script is too large, a limit makes no sense, or too many runs are waiting. A run that was
    /// made always has an outcome.
    pub async fn run(&self, script: &Script, options: RunOptions) -> Result<Run, RunRejected> {
        check(script, &options)?;
        let _turn_of_share = match &options.quota {
            None => None,
            Some(share) => match share.turns().take(&options.cancellation).await? {
                None => return Ok(report::cancelled_while_waiting()),
                turn => turn,
            },
        };
        let Some(_turn) = self.shared.turns.take(&options.cancellation).await? else {
            return Ok(report::cancelled_while_waiting());
        };
        let started = Instant::now();
        let meter = Meter::new(options.limits.timeout, options.cancellation.clone(), options.limits.memory);
        let log = LogBook::new(options.limits.logs, LOG_LINE_OVERHEAD, options.listener.clone());
        let files = OpenFiles(options.io.as_ref().map(IoOptions::session));
        // A run's own functions come in place of the engine's.
        let tools = options.functions.clone().or_else(|| self.shared.tools.clone());
        let tools = tools.map(|tools| RunFunctions::new(tools, options.limits.api_calls));
        let imports = Imports::new(log, files.0.clone(), tools, self.shared.file_io);
        let mut store = Store::new(&self.shared.engine, State { imports, meter });
        let fuel = options.limits.effective_fuel();
        let ending = match meter::install(&mut store, fuel) {
            Ok(()) => self.call(&mut store, script, &options).await,
            Err(error) => Ending::Trapped(error),
        };
        let files = files.close().await;
        Ok(report::conclude(store, ending, files, &options, fuel, started))
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
                // One copy of a large block can't be interrupted, and may end after the deadline.
                let late = ended.is_ok() && Instant::now() >= deadline;
                return Poll::Ready(if late {
                    Ending::Stopped(Stop::Deadline)
                } else {
                    ended.map_or_else(Ending::Trapped, Ending::Returned)
                });
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
            io: options.io.as_ref().map(IoOptions::refusals),
            tools: store.data().imports.tools.as_ref().map(|_| MAX_ANSWER as u64),
            seed: options.seed.unwrap_or_else(random),
            memory: store.data().meter.memory.linear_limit() as u64,
        };
        let instance = self.shared.guest.instantiate_async(&mut *store).await?;
        let run: RunFunction = instance.get_typed_func(&mut *store, self.shared.run_export)?;
        let (result,) = run.call_async(store, (request,)).await?;
        Ok(result)
    }
}

/// The files of a run, which may take time to close.
struct OpenFiles(Option<FileSession>);

impl OpenFiles {
    /// Their account, once an operation that a stop caught under way has ended.
    async fn close(mut self) -> FileReport {
        let Some(files) = self.0.take() else { return FileReport::default() };
        if let Some(account) = files.finish_now() {
            return account;
        }
        tokio::task::spawn_blocking(move || files.finish()).await.unwrap_or_else(|error| {
            tracing::error!(%error, "the account of a run's files was lost");
            FileReport::default()
        })
    }
}

impl Drop for OpenFiles {
    /// Nobody waits for the run any more.
    fn drop(&mut self) {
        if let Some(files) = self.0.take()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            runtime.spawn_blocking(move || files.finish());
        }
    }
}

fn check(script: &Script, options: &RunOptions) -> Result<(), RunRejected> {
    options.limits.check()?;
    let (size, limit) = (script.source.len(), options.limits.script);
    if size > limit {
        return Err(RunRejected::ScriptTooLarge { size, limit });
    }
    // Each argument is an element of a list and of Luau's stack in the guest too.
    let size = script.arguments.iter().map(|argument| argument.len() + 16).sum();
    if size > ARGUMENTS {
        return Err(RunRejected::ArgumentsTooLarge { size, limit: ARGUMENTS });
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
    async fn a_slow_disk_holds_up_its_own_run_only_and_a_stop_waits_for_it() {
        write_to_a_slow_disk(FileIo::ThreadPool).await;
    }

    /// The only worker has something else to do.
    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn a_slow_disk_in_place_holds_up_its_own_run_only() {
        tokio::spawn(write_to_a_slow_disk(FileIo::BlockInPlace)).await.unwrap();
    }

    /// A lock that somebody holds stands for a disk that does not answer.
    async fn write_to_a_slow_disk(blocking: FileIo) {
        let folder = tempfile::TempDir::new().unwrap();
        let files = Files::new(folder.path()).unwrap();
        let engine = Engine::builder().concurrency(2).file_io(blocking).build().unwrap();
        let timeout = Duration::from_millis(200);
        let limits = Limits { timeout, ..Limits::default() };
        let options = RunOptions::default().with_limits(limits).with_io(IoOptions::new(files.clone()));

        let (answer, held) = hold(files);
        held.await.unwrap();
        let slow = tokio::spawn({
            let engine = engine.clone();
            async move { engine.run(&Script::new("io.open('slow', 'w+'):write('all of it') while true do end"), options).await.unwrap() }
        });
        // Others run meanwhile, past the deadline of the one that waits.
        let started = Instant::now();
        while started.elapsed() < 2 * timeout {
            let other = engine.run(&Script::new("return 1"), RunOptions::default()).await.unwrap();
            assert!(other.outcome.result.is_ok());
            tokio::task::yield_now().await;
        }
        assert!(!slow.is_finished());
        answer.send(()).unwrap();

        let run = slow.await.unwrap();
        assert_eq!(run.outcome.result.unwrap_err().kind, ErrorKind::Timeout);
        let [touched] = &run.outcome.files_touched[..] else { panic!("{:?}", run.outcome.files_touched) };
        assert_eq!((touched.name.as_str(), touched.bytes, touched.truncated), ("slow", Some(9), false));
    }

    /// Holds up all writes from the moment that the second answers until the first is told.
    fn hold(files: Files) -> (std::sync::mpsc::Sender<()>, tokio::sync::oneshot::Receiver<()>) {
        let (answer, answered) = std::sync::mpsc::channel();
        let (held, holding) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || {
            let disk = files.truncate_lock().write().unwrap();
            held.send(()).unwrap();
            answered.recv().unwrap();
            drop(disk);
        });
        (answer, holding)
    }
}
