#include "lib/clock.h"
#include "lib/io/io.h"
#include "runtime/bindings.h"

#include "lualib.h"

// Returns the seconds of a monotonic clock. Only the difference between two calls is meaningful.
static int os_clock(lua_State* L)
{
    lua_pushnumber(L, double(wasi_clocks_monotonic_clock_now()) * 1e-9);
    return 1;
}

// `sleep(seconds)`: waits. Buffered bytes are written first, because the run may reach its deadline while it waits.
static int clock_sleep(lua_State* L)
{
    // About 31 years. A longer wait ends with the run in any case.
    constexpr double kMaxSeconds = 1e9;
    double seconds = luaL_checknumber(L, 1);
    luaL_argcheck(L, seconds >= 0, 1, "expected a number of seconds that is 0 or more");
    io_flush();
    toolscript_sandbox_timer_sleep(uint64_t((seconds < kMaxSeconds ? seconds : kMaxSeconds) * 1e9));
    return 0;
}

void clock_open_library(lua_State* L)
{
    lua_pushcfunction(L, clock_sleep, "sleep");
    lua_setglobal(L, "sleep");
    lua_getglobal(L, "os");
    lua_pushcfunction(L, os_clock, "clock");
    lua_setfield(L, -2, "clock");
    lua_pop(L, 1);
}
