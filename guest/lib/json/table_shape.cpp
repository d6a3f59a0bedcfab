#include "lib/json/json.h"

#include "lapi.h"
#include "lobject.h"
#include "lstate.h"

#include <cmath>

// Returns true if the keys are exactly 1 to `count`.
static bool is_sequence(lua_State* L, int index, int count)
{
    const LuaTable* table = hvalue(luaA_toobject(L, index));
    if (count <= table->sizearray)
    {
        for (int position = 0; position < count; position++)
            if (ttisnil(&table->array[position]))
                return false;
        bool has_other_keys = lua_rawiter(L, index, count) >= 0;
        if (has_other_keys)
            lua_pop(L, 2);
        return !has_other_keys;
    }
    int found = 0;
    for (int iterator = 0; (iterator = lua_rawiter(L, index, iterator)) >= 0; lua_pop(L, 2))
    {
        double key = lua_type(L, -2) == LUA_TNUMBER ? lua_tonumber(L, -2) : 0;
        if (key < 1 || key > count || key != std::trunc(key))
        {
            lua_pop(L, 2);
            return false;
        }
        found++;
    }
    return found == count;
}

bool json_is_array(lua_State* L, int index, int count)
{
    if (json_is_object(L, index))
        return false;
    if (count > 0 && is_sequence(L, index, count))
        return true;
    if (lua_rawiter(L, index, 0) < 0)
        return true;
    lua_pop(L, 2);
    return false;
}
