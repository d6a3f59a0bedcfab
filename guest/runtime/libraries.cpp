#include "runtime/libraries.h"

#include "lib/base64.h"
#include "lib/clock.h"
#include "lib/concat.h"
#include "lib/date.h"
#include "lib/error_value.h"
#include "lib/io/io.h"
#include "lib/json/json.h"
#include "lib/log.h"
#include "lib/messages.h"
#include "lib/modules.h"
#include "lib/sdk/sdk.h"
#include "lib/sort.h"
#include "lib/string_rep.h"
#include "memory/vm_allocator.h"

#include "Luau/Common.h"
#include "lstate.h"
#include "lualib.h"

// Makes Luau check the heap at the end of each loop iteration and collect in proportion to the allocated bytes. Without this flag, a loop of
// `table.clone` never collects.
LUAU_FASTFLAG(LuauBackedgeHeapCheck)

// Keeps a table valid if memory runs out while it grows. A script can catch that error and use the table again.
LUAU_DYNAMIC_FASTFLAG(LuauTableRobustOom)

// Limits the nesting of a script. The compiler visits inlined functions again, up to five deep: at the default of 1,000 it could overflow
// its stack.
LUAU_FASTINT(LuauRecursionLimit)
constexpr int kMaxNesting = 400;

// Removed because it reveals the state of the collector, which depends on the limits that the host sets.
static const char* const kRemovedGlobals[] = {"gcinfo"};

lua_State* new_state()
{
    FFlag::LuauBackedgeHeapCheck.value = true;
    DFFlag::LuauTableRobustOom.value = true;
    FInt::LuauRecursionLimit.value = kMaxNesting;

    lua_State* L = lua_newstate(vm_allocate, nullptr);
    if (!L)
        return nullptr;
    L->global->ud = L->global;

    luaL_openlibs(L);
    for (const char* name : kRemovedGlobals)
    {
        lua_pushnil(L);
        lua_setglobal(L, name);
    }
    error_value_init(L);
    clock_open_library(L);
    messages_open_library(L);
    date_open_library(L);
    base64_open_library(L);
    log_open_library(L);
    json_open_library(L);
    sort_open_library(L);
    concat_open_library(L);
    string_rep_open_library(L);
    io_open_library(L);
    modules_open_library(L);
    sdk_open_library(L);

    luaL_sandbox(L);
    return L;
}
