#include "lib/messages.h"
#include "runtime/frames.h"

#include "lualib.h"

#include <stdio.h>
#include <string.h>

namespace
{

// As in Luau's `lbaselib.cpp`. The interpreter calls it only if the assertion fails.
int check_assertion(lua_State* L)
{
    luaL_checkany(L, 1);
    if (lua_toboolean(L, 1))
        return lua_gettop(L);
    size_t size = 0;
    const char* message = luaL_optlstring(L, 2, "assertion failed!", &size);
    luaL_where(L, 1);
    lua_pushlstring(L, message, size);
    lua_concat(L, 2);
    lua_error(L);
}

// As in Luau's `ldblib.cpp` and `laux.cpp`, but takes time in proportion to the number of calls.
int traceback(lua_State* L)
{
    lua_State* thread = lua_tothread(L, 1);
    int first = thread ? 2 : 1;
    thread = thread ? thread : L;
    size_t size = 0;
    const char* message = luaL_optlstring(L, first, nullptr, &size);
    int level = luaL_optinteger(L, first + 1, thread == L ? 1 : 0);
    luaL_argcheck(L, level >= 0, first + 1, "level can't be negative");

    luaL_Strbuf buffer;
    luaL_buffinit(L, &buffer);
    if (message)
    {
        luaL_addlstring(&buffer, message, size);
        luaL_addchar(&buffer, '\n');
    }
    for (Frames frames(thread); frames.is_valid(); frames.next(), level--)
    {
        lua_Debug frame;
        frames.describe("sln", &frame);
        if (level > 0 || strcmp(frame.what, "C") == 0)
            continue;
        luaL_addstring(&buffer, frame.short_src);
        if (frame.currentline > 0)
        {
            char line[16];
            luaL_addlstring(&buffer, line, snprintf(line, sizeof(line), ":%d", frame.currentline));
        }
        if (frame.name)
        {
            luaL_addstring(&buffer, " function ");
            luaL_addstring(&buffer, frame.name);
        }
        luaL_addchar(&buffer, '\n');
    }
    luaL_pushresult(&buffer);
    return 1;
}

} // namespace

void messages_open_library(lua_State* L)
{
    lua_pushcfunction(L, check_assertion, "assert");
    lua_setglobal(L, "assert");
    lua_getglobal(L, "debug");
    lua_pushcfunction(L, traceback, "traceback");
    lua_setfield(L, -2, "traceback");
    lua_pop(L, 1);
}
