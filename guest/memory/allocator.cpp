// Memory: the VM's allocator, C++'s `new`, and the blocks that the host fills when it calls in.
//
// Running out is an error that a script can see, never an abort: the VM's allocator answers with null, which Luau raises as
// "not enough memory", and `new` throws, which `run.cpp` catches around the compiler.
#include "lib/io/buffered_file.h"

#include "ldo.h"
#include "lgc.h"
#include "lstate.h"

#include <new>
#include <stdlib.h>

// Where the next block of bytes from the host is to land.
static char* landing = nullptr;
static size_t landing_size = 0;

void guest_land(char* place, size_t size)
{
    landing = place;
    landing_size = size;
}

// A null would be an address like any other to the host, so there is none.
extern "C" __attribute__((export_name("cabi_realloc"))) void* cabi_realloc(void* block, size_t, size_t alignment, size_t new_size)
{
    if (new_size == 0)
        return reinterpret_cast<void*>(alignment);
    if (landing && !block && alignment == 1 && new_size <= landing_size)
    {
        void* place = landing;
        landing = nullptr;
        return place;
    }
    void* result = realloc(block, new_size);
    if (!result)
        __builtin_trap();
    return result;
}

void* operator new(size_t size)
{
    if (void* block = malloc(size ? size : 1))
        return block;
    throw std::bad_alloc();
}

void* operator new[](size_t size)
{
    return operator new(size);
}

void operator delete(void* block) noexcept
{
    free(block);
}

void operator delete[](void* block) noexcept
{
    free(block);
}

void operator delete(void* block, size_t) noexcept
{
    free(block);
}

void operator delete[](void* block, size_t) noexcept
{
    free(block);
}

// The collector's pace. Luau starts a collection when the heap has doubled since the last one, and has no emergency collection:
// at 40 MiB live it would ask for 80. So near the limit the goal is set to what there is, and the work is done sooner.
struct Pace
{
    size_t comfortable; // below this many bytes, Luau's own pace
    size_t ceiling;     // the goal is never above this
    size_t reserve;
};

static Pace pace = {SIZE_MAX, SIZE_MAX, 0};

constexpr int kGoal = 200;         // Luau's default: a collection ends when the heap has doubled
constexpr int kTightestGoal = 104; // at worst, a collection for each few percent of new objects
constexpr int kWork = 200;         // Luau's default: two bytes of work for each that is allocated
constexpr int kTightWork = 400;    // more would overflow Luau's products with it, which have 32 bits

// Taken when memory gets short, and given back when it has run out, so that a script that caught the error can go on to the next
// point where it is safe to collect.
static void* reserve = nullptr;
static bool ran_out = false;

void guest_set_memory(lua_State* L, uint64_t bytes)
{
    // What is not the VM's heap: the C stack and static data lie below the first block.
    size_t below = size_t(L->global);
    size_t heap = bytes > below ? size_t(bytes < SIZE_MAX ? bytes : SIZE_MAX) - below : 0;
    pace.comfortable = heap / 3;
    pace.ceiling = heap / 4 * 3;
    pace.reserve = heap / 64;
}

void guest_collect_if_short(lua_State* L)
{
    if (ran_out)
        lua_gc(L, LUA_GCCOLLECT, 0);
    ran_out = false;
}

void guest_make_room(lua_State* L, size_t size)
{
    // Volatile, or the compiler would take it for granted.
    void* volatile block = malloc(size);
    if (!block)
        lua_gc(L, LUA_GCCOLLECT, 0);
    free(block);
}

void* guest_allocate_block(lua_State* L, size_t size)
{
    guest_make_room(L, size);
    void* block = malloc(size);
    if (!block)
        luaD_throw(L, LUA_ERRMEM);
    return block;
}

static void set_pace(global_State* g)
{
    size_t used = g->totalbytes;
    if (used < pace.comfortable)
    {
        g->gcgoal = kGoal;
        g->gcstepmul = kWork;
    }
    else
    {
        int goal = int(pace.ceiling / (used / 100 + 1));
        g->gcgoal = goal < kTightestGoal ? kTightestGoal : goal < kGoal ? goal : kGoal;
        g->gcstepmul = kTightWork;
        // A collection that was to start later than this starts here; one that is not to start at all (Luau says so while it loads
        // a script) does not.
        size_t latest = used / 100 * kTightestGoal;
        latest = latest < pace.ceiling ? pace.ceiling : latest;
        if (g->gcstate == GCSpause && g->GCthreshold > latest && g->GCthreshold != SIZE_MAX)
            g->GCthreshold = latest;
    }
    if (!reserve && used >= pace.comfortable && used < pace.ceiling)
        reserve = malloc(pace.reserve);
}

void* guest_allocate(void* userdata, void* block, size_t old_size, size_t new_size)
{
    if (new_size == 0)
    {
        free(block);
        return nullptr;
    }
    global_State* g = static_cast<global_State*>(userdata);
    if (!g || new_size <= old_size)
        return realloc(block, new_size);
    set_pace(g);
    files_note_work(new_size - old_size);
    void* result = realloc(block, new_size);
    if (!result)
    {
        free(reserve);
        reserve = nullptr;
        ran_out = true;
        guest_interrupt_soon(g->mainthread);
    }
    return result;
}
