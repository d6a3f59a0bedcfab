//! The imports of the box: thin steps from what the guest passes to what the host does.
//!
//! Nothing in here trusts a size, a text or a number from the guest. What a script may read of the host passes through here and
//! nowhere else.

mod clocks;
mod functions;
mod io;
mod log;

pub use functions::{FunctionCall, FunctionProvider, FunctionResponse, FunctionValue, MAX_ANSWER, ResponseBudget, RunFunctions};
pub use log::{Listener, LogBook, Progress};

use crate::files::FileSession;
use std::{
    future::poll_fn,
    task::{Context, Poll},
    time::{Duration, Instant},
};
use wasmtime::{
    StoreContextMut,
    component::{ComponentNamedList, Lift, Linker, LinkerInstance, Lower},
};

/// What the imports of one instance work on.
pub(crate) struct Imports {
    /// What the script said.
    pub log: LogBook,
    /// The files of the run, if it has any.
    pub files: Option<FileSession>,
    /// The functions of the run, if it has any.
    pub tools: Option<RunFunctions>,
    /// Where work that may block is done.
    pub file_io: FileIo,
    clocks: clocks::Clocks,
}

impl Imports {
    /// Imports of a new instance.
    pub fn new(log: LogBook, files: Option<FileSession>, tools: Option<RunFunctions>, file_io: FileIo) -> Self {
        Self { log, files, tools, file_io, clocks: clocks::Clocks::default() }
    }
}

/// Where an engine does what a script asks of its files, which may block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileIo {
    /// On tokio's threads for blocking work: right everywhere, at the price of two changes of thread for each block.
    #[default]
    ThreadPool,
    /// On the thread that polls the run, after tokio has handed its other tasks to another thread: for runs that are tasks of a
    /// multi-threaded runtime, such as a server's. In any other place tokio panics.
    BlockInPlace,
    /// On the thread that polls the run, which does nothing else meanwhile: for programs that run one script at a time.
    Inline,
}

/// The state of a store that has imports, and that meters calls to them.
pub(crate) trait State: AsRef<Imports> + AsMut<Imports> + Send + Sized + 'static {
    /// Charges for a call that begins, and refuses it if the run must end. True if the guest has held its thread for long enough.
    fn begin_call(store: &mut StoreContextMut<'_, Self>) -> wasmtime::Result<bool>;

    /// Takes the time that a call took, and charges for the bytes that it moved.
    fn end_call(store: &mut StoreContextMut<'_, Self>, took: Duration, moved: usize) -> wasmtime::Result<()>;
}

/// Defines all imports of the world `sandbox`.
pub(crate) fn add_to_linker<T: State>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    clocks::add_to_linker(linker)?;
    io::add_to_linker(linker)?;
    log::add_to_linker(linker)?;
    functions::add_to_linker(linker)
}

/// Defines one import, metered.
fn define<T: State, Arguments, Results>(
    interface: &mut LinkerInstance<'_, T>,
    name: &str,
    function: fn(&mut StoreContextMut<'_, T>, Arguments) -> Results,
) -> wasmtime::Result<()>
where
    Arguments: ComponentNamedList + Lift + Send + 'static,
    Results: ComponentNamedList + Lower + Send + 'static,
{
    interface.func_wrap_async(name, move |mut store, arguments| {
        Box::new(async move {
            let began = begin(&mut store).await?;
            let results = function(&mut store, arguments);
            T::end_call(&mut store, began.elapsed(), 0)?;
            Ok(results)
        })
    })
}

/// What blocking work came to.
struct Done<Results> {
    results: Results,
    /// Bytes that were moved, as far as they cost.
    moved: usize,
}

/// Defines one import, metered, whose work may block: it is prepared here and done where it may.
fn define_blocking<T: State, Arguments, Work, Results>(
    interface: &mut LinkerInstance<'_, T>,
    name: &str,
    prepare: impl Fn(&StoreContextMut<'_, T>, Arguments) -> Work + Copy + Send + Sync + 'static,
) -> wasmtime::Result<()>
where
    Arguments: ComponentNamedList + Lift + Send + 'static,
    Work: FnOnce() -> Done<Results> + Send + 'static,
    Results: ComponentNamedList + Lower + Send + 'static,
{
    interface.func_wrap_async(name, move |mut store, arguments| {
        Box::new(async move {
            let began = begin(&mut store).await?;
            let work = prepare(&store, arguments);
            let Done { results, moved } = blocking(&store, work).await?;
            T::end_call(&mut store, began.elapsed(), moved)?;
            Ok(results)
        })
    })
}

/// Does work that may block, where the engine was told to.
fn blocking<T: State, Results, Work>(
    store: &StoreContextMut<'_, T>,
    work: Work,
) -> impl Future<Output = wasmtime::Result<Results>> + Send + use<T, Results, Work>
where
    Results: Send + 'static,
    Work: FnOnce() -> Results + Send + 'static,
{
    let place = store.data().as_ref().file_io;
    async move {
        Ok(match place {
            FileIo::ThreadPool => tokio::task::spawn_blocking(work).await?,
            FileIo::BlockInPlace => tokio::task::block_in_place(work),
            FileIo::Inline => work(),
        })
    }
}

/// A script that does nothing but call the host lets go of its thread here.
async fn begin<T: State>(store: &mut StoreContextMut<'_, T>) -> wasmtime::Result<Instant> {
    if T::begin_call(store)? {
        give_way().await;
    }
    Ok(Instant::now())
}

/// Lets the deadline and other tasks have their turn.
async fn give_way() {
    let mut yielded = false;
    poll_fn(|context| once(&mut yielded, context)).await;
}

/// Pending once.
fn once(yielded: &mut bool, context: &mut Context<'_>) -> Poll<()> {
    if std::mem::replace(yielded, true) {
        return Poll::Ready(());
    }
    context.waker().wake_by_ref();
    Poll::Pending
}
