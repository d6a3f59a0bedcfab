#include "lib/log.h"
#include "lib/json/json.h"
#include "runtime/bindings.h"

#include "lualib.h"

// Returns true if the value is a table that `print` shows as JSON.
static bool is_plain_table(lua_State* L, int index)
{
    if (!lua_istable(L, index))
        return false;
    if (!luaL_getmetafield(L, index, "__tostring"))
        return true;
    lua_pop(L, 1);
    return false;
}

// Pushes the value as `print` shows it, and returns that text.
static const char* push_text(lua_State* L, int index, size_t* size)
{
    if (!is_plain_table(L, index))
        return luaL_tolstring(L, index, size);
    json_push_printed(L, index);
    return lua_tolstring(L, -1, size);
}

static int log_print(lua_State* L)
{
    int count = lua_gettop(L);
    size_t size = 0;
    if (count == 1)
    {
        const char* text = push_text(L, 1, &size);
        guest_list_u8_t line = borrow_bytes(text, size);
        toolscript_sandbox_log_line(&line);
        return 0;
    }

    luaL_Strbuf buffer;
    luaL_buffinit(L, &buffer);
    for (int index = 1; index <= count; index++)
    {
        if (index > 1)
            luaL_addchar(&buffer, '\t');
        push_text(L, index, nullptr);
        luaL_addvalue(&buffer);
    }
    luaL_pushresult(&buffer);
    const char* text = lua_tolstring(L, -1, &size);
    guest_list_u8_t line = borrow_bytes(text, size);
    toolscript_sandbox_log_line(&line);
    return 0;
}

static int log_progress(lua_State* L)
{
    double done = luaL_checknumber(L, 1);
    double total = luaL_optnumber(L, 2, 0.0);
    size_t size = 0;
    const char* message = luaL_optlstring(L, 3, nullptr, &size);
    guest_list_u8_t text = borrow_bytes(message, size);
    toolscript_sandbox_log_progress(done, lua_isnoneornil(L, 2) ? nullptr : &total, message ? &text : nullptr);
    return 0;
}

void log_open_library(lua_State* L)
{
    lua_pushcfunction(L, log_print, "print");
    lua_setglobal(L, "print");
    lua_pushcfunction(L, log_progress, "progress");
    lua_setglobal(L, "progress");
}
