#include "lib/io/unavailable.h"
#include "lib/io/unavailable_names.h"
#include "runtime/table.h"

#include "lualib.h"

#include <initializer_list>

namespace
{

int raise_unavailable(lua_State* L)
{
    luaL_error(L, "%s is not available%s", lua_tostring(L, lua_upvalueindex(1)), lua_tostring(L, lua_upvalueindex(2)));
}

// Pushes a table that raises the error on any access to its fields.
void push_unavailable_stream(lua_State* L, const char* name, const char* hint)
{
    lua_newtable(L);
    lua_newtable(L);
    for (const char* event : {"__index", "__newindex"})
    {
        push_unavailable_function(L, name, hint);
        lua_setfield(L, -2, event);
    }
    lock_metatable(L);
    lua_setreadonly(L, -1, true);
    lua_setmetatable(L, -2);
    lua_setreadonly(L, -1, true);
}

} // namespace

void push_unavailable_function(lua_State* L, const char* name, const char* hint)
{
    lua_pushstring(L, name);
    lua_pushstring(L, hint);
    lua_pushcclosure(L, raise_unavailable, name, 2);
}

void add_unavailable_io_members(lua_State* L)
{
    for (const UnavailableMember& member : kUnavailableFunctions)
    {
        push_unavailable_function(L, member.full_name, member.hint);
        lua_setfield(L, -2, member.key);
    }
    for (const UnavailableMember& member : kUnavailableStreams)
    {
        push_unavailable_stream(L, member.full_name, member.hint);
        lua_setfield(L, -2, member.key);
    }
}
