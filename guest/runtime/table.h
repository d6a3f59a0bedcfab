// Access to tables that scripts see as read-only.
#pragma once

#include "lua.h"

// Removes an existing field from the table on top of the stack, even if the table is read-only. Needs no memory, because the key exists.
inline void remove_field(lua_State* L, const char* name)
{
    bool is_read_only = lua_getreadonly(L, -1);
    lua_setreadonly(L, -1, false);
    lua_pushnil(L);
    lua_rawsetfield(L, -2, name);
    lua_setreadonly(L, -1, is_read_only);
}

// Sets a field of the table below the top of the stack to the value on top of it, even if the table is read-only. Pops the value.
inline void set_field(lua_State* L, const char* name)
{
    bool is_read_only = lua_getreadonly(L, -2);
    lua_setreadonly(L, -2, false);
    lua_rawsetfield(L, -2, name);
    lua_setreadonly(L, -1, is_read_only);
}

// Sets the field `__metatable` of the metatable on top of the stack, so that scripts cannot read or replace it.
inline void lock_metatable(lua_State* L)
{
    lua_pushstring(L, "The metatable is locked");
    lua_rawsetfield(L, -2, "__metatable");
}
