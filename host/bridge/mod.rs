//! The imports of the box: thin steps from what the guest passes to what the host does.
//!
//! Nothing in here trusts a size, a text or a number from the guest. What a script may read of the host passes through here and
//! nowhere else.

mod clocks;
mod log;

pub use log::{Listener, LogBook, Progress};

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
    clocks: clocks::Clocks,
}

impl Imports {
    /// Imports of a new instance.
    pub fn new(log: LogBook) -> Self {
        Self { log, clocks: clocks::Clocks::default() }
    }
}

/// The state of a store that has imports, and that meters calls to them.
pub(crate) trait State: AsRef<Imports> + AsMut<Imports> + Send + Sized + 'static {
    /// Charges for a call that begins, and refuses it if the run must end. True if the guest has held its thread for long enough.
    fn begin_call(store: &mut StoreContextMut<'_, Self>) -> wasmtime::Result<bool>;

    /// Takes the time that a call took.
    fn end_call(&mut self, took: Duration);
}

/// Defines all imports of the world `sandbox`.
pub(crate) fn add_to_linker<T: State>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    clocks::add_to_linker(linker)?;
    log::add_to_linker(linker)
}

/// Defines one import, metered. A script that does nothing but call the host lets go of its thread here.
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
            if T::begin_call(&mut store)? {
                let mut yielded = false;
                poll_fn(|context| once(&mut yielded, context)).await;
            }
            let began = Instant::now();
            let results = function(&mut store, arguments);
            store.data_mut().end_call(began.elapsed());
            Ok(results)
        })
    })
}

/// Pending once.
fn once(yielded: &mut bool, context: &mut Context<'_>) -> Poll<()> {
    if std::mem::replace(yielded, true) {
        return Poll::Ready(());
    }
    context.waker().wake_by_ref();
    Poll::Pending
}
