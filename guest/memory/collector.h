// The pacing of Luau's garbage collector near the memory limit.
//
// Luau starts a collection when the heap has doubled since the last one and has no emergency collection: at 40 MiB of live objects it would
// ask for 80 MiB. Near the limit, the goal is therefore lowered to the available memory, and the collector works faster.
#pragma once

#include "lstate.h"

#include <stdint.h>

// Sets the bytes of linear memory that the host will grant.
void collector_set_memory_limit(lua_State* L, uint64_t bytes);

// Collects if memory has run out since the last call. Called where a collection is safe: at interrupts, and after the script, so that there is
// memory to report its outcome.
void collect_if_exhausted(lua_State* L);

// Collects if a block of this size cannot be allocated.
void collect_to_fit(lua_State* L, size_t size);

// Called when an allocation has failed: frees the reserve and requests a collection at the next interrupt.
void collector_handle_exhaustion(global_State* g);

namespace collector
{

constexpr int kDefaultGoal = 200;    // percent: a collection ends when the heap has doubled
constexpr int kDefaultStepMul = 200; // percent: two bytes of work for each allocated byte

// The number of heap bytes from which on the pacing is tightened. No limit before a run.
inline size_t tight_from = SIZE_MAX;

void tighten(global_State* g);

} // namespace collector

// Adjusts the pacing. Called before each allocation that grows the heap.
inline void collector_update(global_State* g)
{
    if (g->totalbytes >= collector::tight_from)
        return collector::tighten(g);
    g->gcgoal = collector::kDefaultGoal;
    g->gcstepmul = collector::kDefaultStepMul;
}
