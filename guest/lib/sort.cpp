// `table.sort` for the usual case, an array of numbers in their own order; all others are Luau's.
#include "lib/io/buffered_file.h"

#include "lobject.h"
#include "lstate.h"
#include "ltable.h"

#include <algorithm>

static lua_CFunction luau_sort = nullptr;

// NaN has no order: Luau decides what becomes of it.
static bool all_ordered(const TValue* values, int count)
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
        files_note_work(size_t(count) * sizeof(TValue));
        if (!table->readonly && count <= table->sizearray && all_ordered(table->array, count))
        {
            std::sort(table->array, table->array + count, [](const TValue& a, const TValue& b) { return nvalue(&a) < nvalue(&b); });
            return 0;
        }
    }
    // In the same frame, so that tracebacks and the depth of calls are as without this function.
    return luau_sort(L);
}

void guest_open_sort(lua_State* L)
{
    lua_getglobal(L, "table");
    lua_getfield(L, -1, "sort");
    luau_sort = lua_tocfunction(L, -1);
    lua_pop(L, 1);
    lua_pushcfunction(L, table_sort, "sort");
    lua_setfield(L, -2, "sort");
    lua_pop(L, 1);
}
