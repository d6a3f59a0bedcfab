//! The pool that instances come from: memory images that are mapped, used once, and reset.

use wasmtime::{Enabled, InstanceAllocationStrategy, PoolingAllocationConfig};

/// Memories of an instance: its own, and the heap that its exceptions live in.
const MEMORIES: u32 = 2;

/// Core modules of the component, with the small ones that wire it up.
const CORE_INSTANCES: u32 = 8;

/// Bytes of a memory that stay mapped in an unused slot, reset by copying: a small run then has no page faults at all.
const KEEP_MEMORY: usize = 2 << 20;

/// The same for tables and for the stacks that guests run on.
const KEEP_TABLES: usize = 64 << 10;
const KEEP_STACK: usize = 128 << 10;

/// Slots for `runs` instances at once.
pub fn strategy(runs: u32) -> InstanceAllocationStrategy {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(runs)
        .total_core_instances(runs * CORE_INSTANCES)
        .max_core_instances_per_component(CORE_INSTANCES)
        .total_memories(runs * MEMORIES)
        .total_tables(runs * CORE_INSTANCES)
        .total_stacks(runs)
        .total_gc_heaps(runs)
        .table_elements(TABLE_ELEMENTS)
        .max_memory_size(super::limits::MAX_MEMORY)
        .max_unused_warm_slots(0)
        .linear_memory_keep_resident(KEEP_MEMORY)
        .table_keep_resident(KEEP_TABLES)
        .async_stack_keep_resident(KEEP_STACK)
        .pagemap_scan(Enabled::Auto);
    if !PoolingAllocationConfig::is_pagemap_scan_available() {
        tracing::info!("this kernel has no PAGEMAP_SCAN (Linux 6.7 and later do): runs start some 100 µs later");
    }
    InstanceAllocationStrategy::Pooling(pool)
}

/// Entries of a table: the guest's functions that are called by address.
const TABLE_ELEMENTS: usize = 10_000;
