#include "lib/string_rep.h"

#include "lstring.h"
#include "lualib.h"

#include <string.h>

namespace
{

int string_rep(lua_State* L)
{
    size_t size = 0;
    size_t separator_size = 0;
    const char* text = luaL_checklstring(L, 1, &size);
    int count = luaL_checkinteger(L, 2);
    const char* separator = luaL_optlstring(L, 3, "", &separator_size);
    if (count <= 0)
    {
        lua_pushliteral(L, "");
        return 1;
    }
    uint64_t total = uint64_t(size) * count + uint64_t(separator_size) * (count - 1);
    if (total > MAXSSIZE)
        luaL_error(L, "resulting string too large");
    luaL_Strbuf buffer;
    char* at = luaL_buffinitsize(L, &buffer, size_t(total));
    memcpy(at, text, size);
    // The rest repeats the separator and the text. Each copy doubles the part that is filled.
    char* start = at + size;
    size_t left = size_t(total) - size;
    if (left > 0)
    {
        memcpy(start, separator, separator_size);
        memcpy(start + separator_size, text, size);
    }
    for (size_t filled = separator_size + size; filled < left;)
    {
        size_t step = filled < left - filled ? filled : left - filled;
        memcpy(start + filled, start, step);
        filled += step;
    }
    luaL_pushresultsize(&buffer, size_t(total));
    return 1;
}

} // namespace

void string_rep_open_library(lua_State* L)
{
    lua_getglobal(L, "string");
    lua_pushcfunction(L, string_rep, "rep");
    lua_setfield(L, -2, "rep");
    lua_pop(L, 1);
}
