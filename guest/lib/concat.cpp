// As in Luau's `ltablib.cpp`, but an error value is its message.
#include "lib/concat.h"
#include "lib/error_value.h"

#include "lstate.h"
#include "lualib.h"

namespace
{

void add_entry(lua_State* L, luaL_Strbuf* buffer, int index, const LuaTable* table)
{
    if (unsigned(index - 1) < unsigned(table->sizearray) && ttisstring(&table->array[index - 1]))
    {
        const TString* text = tsvalue(&table->array[index - 1]);
        return luaL_addlstring(buffer, getstr(text), text->len);
    }
    int type = lua_rawgeti(L, 1, index);
    // The buffer requires that its own storage is on top of the stack, unless the value to add is.
    size_t size = 0;
    if (const char* message = type == LUA_TTABLE ? error_value_message(L, -1, &size) : nullptr)
    {
        lua_pushlstring(L, message, size);
        lua_replace(L, -2);
    }
    else if (type != LUA_TSTRING && type != LUA_TNUMBER)
        luaL_error(L, "invalid value (%s) at index %d in table for 'concat'", luaL_typename(L, -1), index);
    luaL_addvalue(buffer);
}

int table_concat(lua_State* L)
{
    size_t separator_size;
    const char* separator = luaL_optlstring(L, 2, "", &separator_size);
    luaL_checktype(L, 1, LUA_TTABLE);
    int index = luaL_optinteger(L, 3, 1);
    int last = luaL_opt(L, luaL_checkinteger, 4, lua_objlen(L, 1));
    const LuaTable* table = hvalue(L->base);

    luaL_Strbuf buffer;
    luaL_buffinit(L, &buffer);
    for (; index < last; index++)
    {
        add_entry(L, &buffer, index, table);
        if (separator_size != 0)
            luaL_addlstring(&buffer, separator, separator_size);
    }
    if (index == last)
        add_entry(L, &buffer, index, table);
    luaL_pushresult(&buffer);
    return 1;
}

} // namespace

void concat_open_library(lua_State* L)
{
    lua_getglobal(L, "table");
    lua_pushcfunction(L, table_concat, "concat");
    lua_setfield(L, -2, "concat");
    lua_pop(L, 1);
}
