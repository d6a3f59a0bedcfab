#include "lib/sort.h"
#include "runtime/work.h"

#include "lobject.h"
#include "lstate.h"
#include "ltable.h"
#include "lualib.h"

#include <algorithm>

static lua_CFunction luau_sort = nullptr;

// Returns true if all values are numbers and none is NaN, which has no order.
static bool are_ordered_numbers(const TValue* values, int count)
{
    for (const TValue* value = values; value < values + count; value++)
        if (!ttisnumber(value) || nvalue(value) != nvalue(value))
            return false;
    return true;
}

static int table_sort(lua_State* L)
{
    if (lua_istable(L, 1) && lua_isnoneornil(L, 2))
    {
        LuaTable* table = hvalue(L->base);
        int count = luaH_getn(table);
        count_work(size_t(count) * sizeof(TValue));
        if (!table->readonly && count <= table->sizearray && are_ordered_numbers(table->array, count))
        {
            std::sort(table->array, table->array + count, [](const TValue& a, const TValue& b) { return nvalue(&a) < nvalue(&b); });
            return 0;
        }
    }
    // Runs in the same frame, so that tracebacks and call depth do not show this function.
    return luau_sort(L);
}

void sort_open_library(lua_State* L)
{
    lua_getglobal(L, "table");
    lua_getfield(L, -1, "sort");
    luau_sort = lua_tocfunction(L, -1);
    lua_pop(L, 1);
    lua_pushcfunction(L, table_sort, "sort");
    lua_setfield(L, -2, "sort");
    lua_pop(L, 1);
}
