#include "lib/clock.h"
#include "runtime/bindings.h"

// Returns the seconds of a monotonic clock. Only the difference between two calls is meaningful.
static int os_clock(lua_State* L)
{
    lua_pushnumber(L, double(wasi_clocks_monotonic_clock_now()) * 1e-9);
    return 1;
}

void clock_open_library(lua_State* L)
{
    lua_getglobal(L, "os");
    lua_pushcfunction(L, os_clock, "clock");
    lua_setfield(L, -2, "clock");
    lua_pop(L, 1);
}
