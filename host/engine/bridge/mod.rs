//! The imports of the guest: a thin layer between the values that the guest passes and the functions of the host.
//!
//! This module never trusts a size, a text or a number from the guest. It is the only way for a script to reach the host.
//!
//! The WIT types are written by hand instead of generated, because lists and strings are lifted lazily (`WasmList`, `WasmStr`): the
//! host checks their size in guest memory before it copies them. Generated bindings would copy them first.

mod clocks;
mod function_error;
mod functions;
mod io;
mod log;
mod provider;
mod timer;
mod value;

pub use function_error::FunctionError;
pub use functions::{CallLimitReached, RunFunctions};
pub use log::{Listener, LogBuffer, Progress};
pub use provider::{FunctionCall, FunctionProvider, FunctionResponse, MAX_RESPONSE, ResponseBudget};
pub use value::{Attachment, FunctionValue, JsonValue};

use crate::files::FileSession;
use std::{
    future::poll_fn,
    task::Poll,
    time::{Duration, Instant},
};
use wasmtime::{
    StoreContextMut,
    component::{ComponentNamedList, Lift, Linker, LinkerInstance, Lower},
};

/// The state that the imports of one instance use.
pub(crate) struct ImportState {
    pub log: LogBuffer,
    pub files: Option<FileSession>,
    pub functions: Option<RunFunctions>,
    pub file_io: FileIo,
    /// The script waits until the files of its directory are counted.
    pub waits_for_count: bool,
    clocks: clocks::Clocks,
}

impl ImportState {
    pub fn new(log: LogBuffer, files: Option<FileSession>, functions: Option<RunFunctions>, file_io: FileIo) -> Self {
        Self { log, files, functions, file_io, waits_for_count: false, clocks: clocks::Clocks::default() }
    }
}

/// The thread on which an engine executes the file operations of scripts, which may block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileIo {
    /// A thread of tokio's blocking pool. It works in every runtime, and costs two thread switches per operation.
    #[default]
    ThreadPool,
    /// The thread that polls the run, after tokio has moved its other tasks to another thread. Use it for runs that are tasks of a
    /// multi-threaded runtime, for example in a server. In any other context tokio panics.
    BlockInPlace,
    /// The thread that polls the run. It blocks all other tasks of that thread. Use it in programs that run one script at a time.
    Inline,
}

/// The state of a store that meters the calls to its imports.
pub(crate) trait MeteredState: AsRef<ImportState> + AsMut<ImportState> + Send + Sized + 'static {
    /// Charges for a call that begins. Returns an error if the run must stop, and `true` if the guest must yield to other tasks.
    fn begin_call(store: &mut StoreContextMut<'_, Self>) -> wasmtime::Result<bool>;

    /// Records the duration of a call, and charges for the bytes that it read, wrote or copied.
    fn end_call(store: &mut StoreContextMut<'_, Self>, elapsed: Duration, bytes: usize) -> wasmtime::Result<()>;
}

/// Defines all imports of the world `sandbox`.
pub(crate) fn add_to_linker<T: MeteredState>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    clocks::add_to_linker(linker)?;
    io::add_to_linker(linker)?;
    log::add_to_linker(linker)?;
    timer::add_to_linker(linker)?;
    functions::add_to_linker(linker)
}

/// The results of a call, and the bytes to charge for.
struct Completed<Results> {
    results: Results,
    bytes: usize,
}

/// Defines an import that costs the same for all arguments.
fn define<T: MeteredState, Arguments, Results>(
    interface: &mut LinkerInstance<'_, T>,
    name: &str,
    function: fn(&mut StoreContextMut<'_, T>, Arguments) -> Results,
) -> wasmtime::Result<()>
where
    Arguments: ComponentNamedList + Lift + Send + 'static,
    Results: ComponentNamedList + Lower + Send + 'static,
{
    define_with_cost(interface, name, move |store, arguments| Completed { results: function(store, arguments), bytes: 0 })
}

/// Defines an import whose cost depends on its results.
fn define_with_cost<T: MeteredState, Arguments, Results>(
    interface: &mut LinkerInstance<'_, T>,
    name: &str,
    function: impl Fn(&mut StoreContextMut<'_, T>, Arguments) -> Completed<Results> + Copy + Send + Sync + 'static,
) -> wasmtime::Result<()>
where
    Arguments: ComponentNamedList + Lift + Send + 'static,
    Results: ComponentNamedList + Lower + Send + 'static,
{
    interface.func_wrap_async(name, move |mut store, arguments| {
        Box::new(async move {
            let started = begin_call(&mut store).await?;
            let Completed { results, bytes } = function(&mut store, arguments);
            T::end_call(&mut store, started.elapsed(), bytes)?;
            Ok(results)
        })
    })
}

/// Defines an import that may block. `prepare` reads the arguments, and the function that it returns executes as [`FileIo`] requires.
fn define_blocking<T: MeteredState, Arguments, Work, Results>(
    interface: &mut LinkerInstance<'_, T>,
    name: &str,
    prepare: impl Fn(&StoreContextMut<'_, T>, Arguments) -> Work + Copy + Send + Sync + 'static,
) -> wasmtime::Result<()>
where
    Arguments: ComponentNamedList + Lift + Send + 'static,
    Work: FnOnce() -> Completed<Results> + Send + 'static,
    Results: ComponentNamedList + Lower + Send + 'static,
{
    interface.func_wrap_async(name, move |mut store, arguments| {
        Box::new(async move {
            let started = begin_call(&mut store).await?;
            let work = prepare(&store, arguments);
            let Completed { results, bytes } = run_blocking(&store, work).await?;
            T::end_call(&mut store, started.elapsed(), bytes)?;
            Ok(results)
        })
    })
}

/// Executes work that may block on the thread that [`FileIo`] selects.
fn run_blocking<T: MeteredState, Results, Work>(
    store: &StoreContextMut<'_, T>,
    work: Work,
) -> impl Future<Output = wasmtime::Result<Results>> + Send + use<T, Results, Work>
where
    Results: Send + 'static,
    Work: FnOnce() -> Results + Send + 'static,
{
    let file_io = store.data().as_ref().file_io;
    async move {
        Ok(match file_io {
            FileIo::ThreadPool => tokio::task::spawn_blocking(work).await?,
            FileIo::BlockInPlace => tokio::task::block_in_place(work),
            FileIo::Inline => work(),
        })
    }
}

/// Charges for a call and returns its start time. A script that only calls the host yields to other tasks here.
async fn begin_call<T: MeteredState>(store: &mut StoreContextMut<'_, T>) -> wasmtime::Result<Instant> {
    if T::begin_call(store)? {
        yield_now().await;
    }
    Ok(Instant::now())
}

/// Yields once to the executor, so that the deadline is checked and other tasks proceed.
///
/// It wakes the task immediately. `tokio::task::yield_now` would defer that until the runtime has polled its I/O driver.
async fn yield_now() {
    let mut yielded = false;
    poll_fn(|context| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
