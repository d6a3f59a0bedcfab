//! The WASI clocks. The guest imports nothing else from WASI.

use super::{MeteredState, define};
use wasmtime::{
    StoreContextMut,
    component::{ComponentType, Linker, Lower},
};
use wasmtime_wasi::clocks::{HostMonotonicClock as _, HostWallClock as _, MonotonicClock, WallClock};

/// The clocks of one instance. The monotonic clock starts with the instance, so that a script can't learn the uptime of the host.
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

pub fn add_to_linker<T: MeteredState>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    define(&mut linker.instance("wasi:clocks/wall-clock@0.2.0")?, "now", wall_now)?;
    define(&mut linker.instance("wasi:clocks/monotonic-clock@0.2.0")?, "now", monotonic_now)
}

fn wall_now<T: MeteredState>(store: &mut StoreContextMut<'_, T>, (): ()) -> (Datetime,) {
    let now = store.data().as_ref().clocks.wall.now();
    (Datetime { seconds: now.as_secs(), nanoseconds: now.subsec_nanos() },)
}

fn monotonic_now<T: MeteredState>(store: &mut StoreContextMut<'_, T>, (): ()) -> (u64,) {
    (store.data().as_ref().clocks.monotonic.now(),)
}
