// The C library's time functions, with the clocks of the contract.
//
// The garbage collector reads a constant time. Otherwise its pacing would depend on the machine, and the same script would use a different
// amount of fuel in each run.
#include "libc/clock.h"
#include "runtime/bindings.h"

#include <time.h>
#include <wasi/api.h>

// False during the build, which has no clocks. Luau's `math` library reads the time there to seed itself. The host seeds each run.
static bool is_running = false;

void clock_start()
{
    is_running = true;
}

extern "C" clock_t clock()
{
    return 0;
}

// Called by `time` and `clock_gettime`.
extern "C" int32_t __imported_wasi_snapshot_preview1_clock_time_get(int32_t id, int64_t, int32_t result)
{
    uint64_t nanoseconds = 0;
    if (is_running && uint32_t(id) == __WASI_CLOCKID_REALTIME)
    {
        wasi_clocks_wall_clock_datetime_t now;
        wasi_clocks_wall_clock_now(&now);
        nanoseconds = now.seconds * 1000000000 + now.nanoseconds;
    }
    else if (is_running)
        nanoseconds = wasi_clocks_monotonic_clock_now();
    *reinterpret_cast<uint64_t*>(result) = nanoseconds;
    return __WASI_ERRNO_SUCCESS;
}

// Replaces the function in Luau's `lperf.cpp`, which would call WASI at each step of a collection.
extern "C" double lua_clock()
{
    return 0.0;
}
