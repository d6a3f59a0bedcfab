#include "lib/date.h"

#include "lualib.h"

#include <string.h>
#include <string_view>
#include <time.h>

static lua_CFunction luau_date = nullptr;

static const char kSpecifiers[] = "aAbBcCdDeFgGhHIjmMnprRStTuUVwWxXyYzZ%";

// The specifiers that can follow the modifiers `E` and `O`, which have no effect in the C locale.
static const char kAfterE[] = "cCxXyY";
static const char kAfterO[] = "deHImMSuUVwWy";

// Returns the length of the conversion specifier after a `%`, or 0 if it is invalid. A NUL byte is invalid, and ends every Luau string.
static size_t specifier_length(const char* at)
{
    const char* allowed = *at == 'E' ? kAfterE : *at == 'O' ? kAfterO : nullptr;
    if (allowed)
        return at[1] && strchr(allowed, at[1]) ? 2 : 0;
    return *at && strchr(kSpecifiers, *at) ? 1 : 0;
}

static int os_date(lua_State* L)
{
    size_t size = 0;
    const char* format = luaL_optlstring(L, 1, "%c", &size);
    const char* end = format + size;
    if (std::string_view text(format, size); text == "*t" || text == "!*t")
        return luau_date(L);
    time_t seconds = lua_isnoneornil(L, 2) ? time(nullptr) : time_t(luaL_checknumber(L, 2));
    tm fields;
    bool is_utc = *format == '!';
    format += is_utc ? 1 : 0;
    // Without `!`, Luau rejects times before 1970, although local time is UTC here.
    if ((seconds < 0 && !is_utc) || !gmtime_r(&seconds, &fields))
    {
        lua_pushnil(L);
        return 1;
    }

    luaL_Strbuf buffer;
    luaL_buffinit(L, &buffer);
    for (; format < end; format++)
    {
        if (*format != '%' || format + 1 == end)
        {
            luaL_addchar(&buffer, *format);
            continue;
        }
        size_t length = specifier_length(format + 1);
        if (length == 0)
        {
            const char shown[] = {format[1], '\0'};
            luaL_argerror(L, 1, lua_pushfstring(L, "invalid conversion specifier '%%%s'", format[1] ? shown : "\\0"));
        }
        char specifier[4] = {'%', format[1], length == 2 ? format[2] : '\0', '\0'};
        char text[200];
        luaL_addlstring(&buffer, text, strftime(text, sizeof(text), specifier, &fields));
        format += length;
    }
    luaL_pushresult(&buffer);
    return 1;
}

void date_open_library(lua_State* L)
{
    lua_getglobal(L, "os");
    lua_getfield(L, -1, "date");
    luau_date = lua_tocfunction(L, -1);
    lua_pop(L, 1);
    lua_pushcfunction(L, os_date, "date");
    lua_setfield(L, -2, "date");
    lua_pop(L, 1);
}
