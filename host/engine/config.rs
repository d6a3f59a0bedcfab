//! The settings that shape the machine code of the guest: one place for the build, which compiles, and the engine, which loads.
//!
//! wasmtime refuses an image whose settings differ, and cargo features change its defaults, so everything that matters is set
//! here by name. This file must use nothing but `wasmtime`: `build.rs` includes it.

use wasmtime::{Collector, Config, WasmFeatures};

/// Bytes of address space for each memory. With the whole of a 32-bit index reserved, accesses need no bounds checks; without
/// it, programs run at half the speed.
const RESERVATION: u64 = 4 << 30;

/// Bytes of address space after each memory that must fault.
const GUARD: u64 = 32 << 20;

/// Applies the settings that the build and the engine must agree on.
pub fn codegen(config: &mut Config) {
    config
        .consume_fuel(true)
        .epoch_interruption(false)
        .memory_reservation(RESERVATION)
        .memory_guard_size(GUARD)
        .memory_may_move(false)
        .guard_before_linear_memory(true)
        .memory_init_cow(true)
        .table_lazy_init(true)
        .signals_based_traps(true)
        .gc_support(true)
        // Exceptions are objects of the collector's heap. The null collector would leak each one that a script raises.
        .collector(Collector::DeferredReferenceCounting)
        .gc_heap_reservation(RESERVATION)
        .gc_heap_guard_size(GUARD)
        .gc_heap_may_move(false)
        .gc_heap_initial_size(0)
        .wasm_features(WasmFeatures::THREADS, false)
        .wasm_component_model(true)
        .wasm_exceptions(true)
        .wasm_function_references(true)
        .wasm_gc(true)
        .wasm_multi_memory(true)
        .wasm_simd(false)
        .wasm_relaxed_simd(false)
        .wasm_memory64(false)
        .wasm_tail_call(false)
        .generate_address_map(false)
        .native_unwind_info(false)
        .concurrency_support(false);
}

/// Bytes of native stack that the guest's calls may use. Luau's own limits (200 C calls, 400 levels of nesting) must be
/// reached before its end, so that a script sees an error it can catch.
const WASM_STACK: usize = 2 << 20;

/// The rest of a fiber's stack is for host functions that the guest calls.
const HOST_STACK: usize = 512 << 10;

/// Applies the settings of the stacks that guests run on.
pub fn stacks(config: &mut Config) {
    config.max_wasm_stack(WASM_STACK).async_stack_size(WASM_STACK + HOST_STACK);
}
