// Every global that a script sees.
#include "runtime/bindings.h"

#include "Luau/Common.h"
#include "lstate.h"

// Upstream's own, still behind a flag: checks the heap where a loop goes round, and collects in proportion to what was allocated.
// Without it, a loop of `table.clone` never collects.
LUAU_FASTFLAG(LuauBackedgeHeapCheck)

// Nesting in a script. The compiler goes through what it inlines once more, up to five functions deep: at Luau's own 1,000, it
// could overflow its stack.
LUAU_FASTINT(LuauRecursionLimit)
constexpr int kNesting = 400;

// Out of the box in Luau, and not for scripts: it looks into the collector, whose state depends on the host's limits.
static const char* const kRemoved[] = {"gcinfo"};

lua_State* guest_new_state()
{
    FFlag::LuauBackedgeHeapCheck.value = true;
    FInt::LuauRecursionLimit.value = kNesting;

    lua_State* L = lua_newstate(guest_allocate, nullptr);
    if (!L)
        return nullptr;
    L->global->ud = L->global;

    luaL_openlibs(L);
    for (const char* name : kRemoved)
    {
        lua_pushnil(L);
        lua_setglobal(L, name);
    }
    guest_open_clock(L);
    guest_open_log(L);
    guest_open_json(L);
    guest_open_sort(L);
    guest_open_io(L);
    guest_open_sdk(L);

    luaL_sandbox(L);
    return L;
}

void guest_clear(lua_State* L, const char* name)
{
    // The key is there, so this needs no memory.
    bool read_only = lua_getreadonly(L, -1);
    lua_setreadonly(L, -1, false);
    lua_pushnil(L);
    lua_rawsetfield(L, -2, name);
    lua_setreadonly(L, -1, read_only);
}
