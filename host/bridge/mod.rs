//! The imports of the box: thin steps from what the guest passes to what the host does.
//!
//! Nothing in here trusts a size, a text or a number from the guest. What a script may read of the host passes through here and
//! nowhere else.

mod clocks;
mod log;

pub use log::{Listener, LogBook, Progress};

use wasmtime::{StoreContextMut, component::Linker};

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
    /// Charges for a call that begins, and refuses it if the run must end.
    fn begin_call(store: &mut StoreContextMut<'_, Self>) -> wasmtime::Result<()>;

    /// Takes the time of a call that ends.
    fn end_call(store: &mut StoreContextMut<'_, Self>);
}

/// Defines all imports of the world `sandbox`.
pub(crate) fn add_to_linker<T: State>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    clocks::add_to_linker(linker)?;
    log::add_to_linker(linker)
}

/// Wraps a function of the host's so that each call of it is metered.
fn metered<T: State, Arguments, Result>(
    function: impl Fn(&mut StoreContextMut<'_, T>, Arguments) -> Result,
) -> impl Fn(StoreContextMut<'_, T>, Arguments) -> wasmtime::Result<Result> {
    move |mut store, arguments| {
        T::begin_call(&mut store)?;
        let result = function(&mut store, arguments);
        T::end_call(&mut store);
        Ok(result)
    }
}
