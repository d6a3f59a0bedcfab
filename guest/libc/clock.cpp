// Time. The collector must not see it: its pace would depend on the machine, and the same script would cost other fuel each time.
#include "runtime/bindings.h"

#include <time.h>
#include <wasi/api.h>

// Luau's `math` library seeds itself with these when it is opened. That happens in the build, where there is no clock; each run
// is seeded by the host.
static bool running = false;

void guest_start_clock()
{
    running = true;
}

extern "C" clock_t clock()
{
    return 0;
}

// What the C library's `time` and `clock_gettime` ask WASI for.
extern "C" int32_t __imported_wasi_snapshot_preview1_clock_time_get(int32_t id, int64_t, int32_t result)
{
    uint64_t nanoseconds = 0;
    if (running && uint32_t(id) == __WASI_CLOCKID_REALTIME)
    {
        wasi_clocks_wall_clock_datetime_t now;
        wasi_clocks_wall_clock_now(&now);
        nanoseconds = now.seconds * 1000000000 + now.nanoseconds;
    }
    else if (running)
        nanoseconds = wasi_clocks_monotonic_clock_now();
    *reinterpret_cast<uint64_t*>(result) = nanoseconds;
    return __WASI_ERRNO_SUCCESS;
}

// Luau's own asks WASI for the time at each step of a collection.
extern "C" double lua_clock()
{
    return 0.0;
}

// Seconds on a clock that only moves forward; the difference of two calls counts.
static int os_clock(lua_State* L)
{
    lua_pushnumber(L, double(wasi_clocks_monotonic_clock_now()) * 1e-9);
    return 1;
}

void guest_open_clock(lua_State* L)
{
    lua_getglobal(L, "os");
    lua_pushcfunction(L, os_clock, "clock");
    lua_setfield(L, -2, "clock");
    lua_pop(L, 1);
}
