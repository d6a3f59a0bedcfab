//! WASI's clocks, which are all of WASI that the guest imports.

use super::{State, metered};
use wasmtime::{
    StoreContextMut,
    component::{ComponentType, Linker, Lower},
};
use wasmtime_wasi::clocks::{HostMonotonicClock as _, HostWallClock as _, MonotonicClock, WallClock};

/// The clocks of one instance. The monotonic one starts with it.
#[derive(Default)]
pub struct Clocks {
    wall: WallClock,
    monotonic: MonotonicClock,
}

#[derive(ComponentType, Lower)]
#[component(record)]
struct Datetime {
    seconds: u64,
    nanoseconds: u32,
}

pub fn add_to_linker<T: State>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    let mut wall = linker.instance("wasi:clocks/wall-clock@0.2.0")?;
    wall.func_wrap("now", metered(|store: &mut StoreContextMut<'_, T>, ()| {
        let now = store.data().as_ref().clocks.wall.now();
        (Datetime { seconds: now.as_secs(), nanoseconds: now.subsec_nanos() },)
    }))?;
    let mut monotonic = linker.instance("wasi:clocks/monotonic-clock@0.2.0")?;
    monotonic.func_wrap("now", metered(|store: &mut StoreContextMut<'_, T>, ()| (store.data().as_ref().clocks.monotonic.now(),)))
}
