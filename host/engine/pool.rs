//! The pool of instances: memory images that are mapped, used for one run, and reset.

use super::limits::MAX_MEMORY;
use wasmtime::{Enabled, InstanceAllocationStrategy, PoolingAllocationConfig};

/// Memories per instance: its linear memory and the heap of its exceptions.
const MEMORIES: u32 = 2;

/// Memories of checkers per concurrent run. A run and the check before it do not use them at the same time, but each keeps its own image
/// mapped: changing the image of a slot takes longer than a small run.
const CHECKER_MEMORIES: u32 = 1;

/// Core instances per component, including the small adapter modules that connect them.
const CORE_INSTANCES: u32 = 8;

/// Table entries: the guest functions that are called indirectly.
const TABLE_ELEMENTS: usize = 10_000;

/// Bytes of a memory that stay mapped in an unused slot and are reset by copying. A small run then causes no page faults.
const KEEP_RESIDENT_MEMORY: usize = 2 << 20;

/// Bytes of each table and of each stack that stay mapped in the same way.
const KEEP_RESIDENT_TABLE: usize = 64 << 10;
const KEEP_RESIDENT_STACK: usize = 128 << 10;

/// Returns a pool with slots for `concurrency` instances.
pub fn strategy(concurrency: u32) -> InstanceAllocationStrategy {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(concurrency)
        .total_core_instances(concurrency * CORE_INSTANCES)
        .max_core_instances_per_component(CORE_INSTANCES)
        .total_memories(concurrency * (MEMORIES + CHECKER_MEMORIES))
        .total_tables(concurrency * CORE_INSTANCES)
        .total_stacks(concurrency)
        .total_gc_heaps(concurrency)
        .table_elements(TABLE_ELEMENTS)
        .max_memory_size(MAX_MEMORY)
        .max_unused_warm_slots(concurrency * (MEMORIES + CHECKER_MEMORIES))
        .linear_memory_keep_resident(KEEP_RESIDENT_MEMORY)
        .table_keep_resident(KEEP_RESIDENT_TABLE)
        .async_stack_keep_resident(KEEP_RESIDENT_STACK)
        .pagemap_scan(Enabled::Auto);
    if !PoolingAllocationConfig::is_pagemap_scan_available() {
        tracing::info!("this kernel has no PAGEMAP_SCAN (Linux 6.7 or later): each run starts about 100 µs later");
    }
    InstanceAllocationStrategy::Pooling(pool)
}
