#include "lib/sdk/headers.h"
#include "runtime/table.h"

#include "lualib.h"

namespace
{

// The registry key of the metatable.
char metatable_key;

// The `__index` of headers, for a name that is not in lower case or does not exist.
int find_header(lua_State* L)
{
    if (lua_type(L, 2) != LUA_TSTRING)
        return 0;
    size_t size = 0;
    const char* name = lua_tolstring(L, 2, &size);
    luaL_Strbuf buffer;
    char* lower = luaL_buffinitsize(L, &buffer, size);
    for (size_t index = 0; index < size; index++)
        lower[index] = name[index] >= 'A' && name[index] <= 'Z' ? char(name[index] + ('a' - 'A')) : name[index];
    luaL_pushresultsize(&buffer, size);
    lua_rawget(L, 1);
    return 1;
}

} // namespace

void headers_open_library(lua_State* L)
{
    lua_newtable(L);
    lua_pushcfunction(L, find_header, "index");
    lua_setfield(L, -2, "__index");
    lock_metatable(L);
    lua_setreadonly(L, -1, true);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &metatable_key);
}

void headers_ignore_case(lua_State* L)
{
    int top = lua_gettop(L);
    // An empty table already has a metatable, which marks JSON objects.
    if (lua_rawgetfield(L, -1, "headers") == LUA_TTABLE && !lua_getmetatable(L, -1))
    {
        lua_rawgetp(L, LUA_REGISTRYINDEX, &metatable_key);
        lua_setmetatable(L, -2);
    }
    lua_settop(L, top);
}
