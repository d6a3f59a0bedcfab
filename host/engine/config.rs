//! The wasmtime settings that the build, which compiles the guest, and the engine, which loads it, must share.
//!
//! wasmtime rejects an image that was compiled with other settings, and cargo features change its defaults. Therefore this file sets
//! every relevant option explicitly. It must depend on `wasmtime` only, because `build.rs` includes it.

use wasmtime::{Collector, Config, OperatorCost, VariableOperatorCost, WasmFeatures};

/// Bytes of address space per memory. Reserving the whole 32-bit range makes bounds checks unnecessary, which doubles the speed of
/// guest code.
const MEMORY_RESERVATION: u64 = 4 << 30;

/// Bytes of unmapped address space after each memory.
const MEMORY_GUARD: u64 = 32 << 20;

/// Fuel that an iteration of a loop of the guest costs. The build marks the loops with the operator `nop` (`guest/build/metering.rs`).
const LOOP_FUEL: u8 = 10;

/// Fuel that throwing an exception costs, which is the work of some hundred operators in the host.
const THROW_FUEL: u8 = u8::MAX;

/// Expands to an `OperatorCost` in which every operator is free.
macro_rules! free_operators {
    ($(@$proposal:ident $operator:ident $({ $($argument:ident: $type:ty),* })? => $visit:ident ($($annotation:tt)*))*) => {
        OperatorCost { $($operator: 0,)* variable: VariableOperatorCost::new() }
    };
}

/// Returns the price of each operator. Iterations of loops and exceptions are charged here. wasmtime charges 1 for each call of a function, and 1 for each byte
/// that an operator copies or fills. Everything else is a bounded number of operators between two charges.
fn operator_cost() -> OperatorCost {
    OperatorCost { Nop: LOOP_FUEL, Throw: THROW_FUEL, ThrowRef: THROW_FUEL, ..wasmtime::wasmparser::for_each_operator!(free_operators) }
}

/// Applies the settings that must be identical in the build and in the engine.
pub fn codegen(config: &mut Config) {
    config
        .consume_fuel(true)
        .operator_cost(operator_cost())
        .epoch_interruption(false)
        .memory_reservation(MEMORY_RESERVATION)
        .memory_guard_size(MEMORY_GUARD)
        .memory_may_move(false)
        .guard_before_linear_memory(true)
        .memory_init_cow(true)
        .table_lazy_init(true)
        .signals_based_traps(true)
        .gc_support(true)
        // Exceptions are garbage-collected objects. The null collector would leak every exception that a script raises.
        .collector(Collector::DeferredReferenceCounting)
        .gc_heap_reservation(MEMORY_RESERVATION)
        .gc_heap_guard_size(MEMORY_GUARD)
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

/// Bytes of native stack for guest code. They must suffice until Luau reaches its own limits (200 C calls, 400 levels of nesting),
/// so that a script gets an error that it can catch.
const WASM_STACK: usize = 2 << 20;

/// Bytes of native stack for the host functions that the guest calls.
const HOST_STACK: usize = 512 << 10;

/// Applies the settings of the stacks that guests run on.
pub fn stacks(config: &mut Config) {
    config.max_wasm_stack(WASM_STACK).async_stack_size(WASM_STACK + HOST_STACK);
}
