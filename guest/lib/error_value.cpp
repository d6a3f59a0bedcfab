#include "lib/error_value.h"
#include "runtime/table.h"

#include "lapi.h"
#include "lstate.h"
#include "lualib.h"

#include <string.h>

// The names that the build gives to the functions of Luau that this file replaces.
extern "C" const char* luau_checklstring(lua_State* L, int index, size_t* size);

namespace
{

char metatable_key;
// The registry keeps the metatable alive.
const void* metatable = nullptr;

bool is_error_value(lua_State* L, int index)
{
    const TValue* value = luaA_toobject(L, index);
    return value && ttistable(value) && hvalue(value)->metatable == metatable;
}

bool push_message(lua_State* L, int index)
{
    if (!is_error_value(L, index))
        return false;
    lua_rawgetfield(L, index, "message");
    return true;
}

int to_string(lua_State* L)
{
    if (!push_message(L, 1))
        luaL_typeerror(L, 1, "error value");
    return 1;
}

int concatenate(lua_State* L)
{
    lua_settop(L, 2);
    for (int index = 1; index <= 2; index++)
    {
        if (push_message(L, index))
            lua_replace(L, index);
        else if (!lua_isstring(L, index))
            luaL_error(L, "attempt to concatenate %s with %s", luaL_typename(L, 1), luaL_typename(L, 2));
    }
    lua_concat(L, 2);
    return 1;
}

} // namespace

void error_value_init(lua_State* L)
{
    lua_createtable(L, 0, 4);
    lua_pushcfunction(L, to_string, "tostring");
    lua_rawsetfield(L, -2, "__tostring");
    lua_pushcfunction(L, concatenate, "concat");
    lua_rawsetfield(L, -2, "__concat");
    // `err:find(…)` calls `string.find(err, …)`.
    lua_getglobal(L, "string");
    lua_rawsetfield(L, -2, "__index");
    lock_metatable(L);
    lua_setreadonly(L, -1, true);
    metatable = lua_topointer(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &metatable_key);
}

void error_value_seal(lua_State* L)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &metatable_key);
    lua_setmetatable(L, -2);
    lua_setreadonly(L, -1, true);
}

const char* error_value_message(lua_State* L, int index, size_t* size)
{
    if (!push_message(L, index))
        return nullptr;
    const char* text = lua_tolstring(L, -1, size);
    lua_pop(L, 1);
    return text;
}

// Replaces the function of Luau, so that every function that takes a string also takes an error value. An error value becomes its message in
// place, as a number becomes its text.
const char* luaL_checklstring(lua_State* L, int index, size_t* size)
{
    if (const char* text = lua_tolstring(L, index, size))
        return text;
    index = lua_absindex(L, index);
    if (!push_message(L, index))
        return luau_checklstring(L, index, size);
    lua_replace(L, index);
    return lua_tolstring(L, index, size);
}

// As in Luau, but calls the function above.
const char* luaL_optlstring(lua_State* L, int index, const char* otherwise, size_t* size)
{
    if (!lua_isnoneornil(L, index))
        return luaL_checklstring(L, index, size);
    if (size)
        *size = otherwise ? strlen(otherwise) : 0;
    return otherwise;
}
