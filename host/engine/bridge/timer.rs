//! `toolscript:sandbox/timer`: waiting.

use super::{MeteredState, begin_call};
use std::time::Duration;
use wasmtime::component::Linker;

pub fn add_to_linker<T: MeteredState>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    let mut timer = linker.instance("toolscript:sandbox/timer@0.3.0")?;
    timer.func_wrap_async("sleep", |mut store, (nanoseconds,): (u64,)| {
        Box::new(async move {
            let started = begin_call(&mut store).await?;
            // The deadline and a cancellation drop this future.
            tokio::time::sleep(Duration::from_nanos(nanoseconds)).await;
            T::end_call(&mut store, started.elapsed(), 0)
        })
    })
}
