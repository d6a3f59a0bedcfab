#include "memory/collector.h"
#include "runtime/interrupt.h"

#include "lgc.h"

#include <stdlib.h>

namespace
{

constexpr int kMinGoal = 104;      // at worst, a collection for every 4 % of new objects
constexpr int kTightStepMul = 400; // a higher value would overflow Luau's 32-bit products

size_t max_goal = SIZE_MAX; // in bytes
size_t reserve_size = 0;

// Allocated when memory gets tight and freed when it has run out, so that a script that caught the error can continue to the next interrupt,
// where a collection is safe.
void* reserve = nullptr;
bool is_exhausted = false;

bool collect_at_interrupt(lua_State* L)
{
    collect_if_exhausted(L);
    return false;
}

} // namespace

void collector_set_memory_limit(lua_State* L, uint64_t bytes)
{
    // The C stack and static data lie below the first heap block.
    size_t below_heap = size_t(L->global);
    size_t heap = bytes > below_heap ? size_t(bytes < SIZE_MAX ? bytes : SIZE_MAX) - below_heap : 0;
    collector::tight_from = heap / 3;
    max_goal = heap / 4 * 3;
    reserve_size = heap / 64;
}

void collect_if_exhausted(lua_State* L)
{
    if (is_exhausted)
        lua_gc(L, LUA_GCCOLLECT, 0);
    is_exhausted = false;
}

void collect_to_fit(lua_State* L, size_t size)
{
    // Volatile, so that the compiler does not remove the allocation.
    void* volatile block = malloc(size);
    if (!block)
        lua_gc(L, LUA_GCCOLLECT, 0);
    free(block);
}

void collector_handle_exhaustion(global_State* g)
{
    free(reserve);
    reserve = nullptr;
    is_exhausted = true;
    request_interrupt(g->mainthread, InterruptSlot::collect, collect_at_interrupt);
}

void collector::tighten(global_State* g)
{
    size_t used = g->totalbytes;
    int goal = int(max_goal / (used / 100 + 1));
    g->gcgoal = goal < kMinGoal ? kMinGoal : goal < kDefaultGoal ? goal : kDefaultGoal;
    g->gcstepmul = kTightStepMul;
    // Lowers the threshold of the next collection. Luau sets SIZE_MAX while it loads a script, to disable collections.
    size_t threshold = used / 100 * kMinGoal;
    threshold = threshold < max_goal ? max_goal : threshold;
    if (g->gcstate == GCSpause && g->GCthreshold > threshold && g->GCthreshold != SIZE_MAX)
        g->GCthreshold = threshold;
    if (!reserve && used < max_goal)
        reserve = malloc(reserve_size);
}
