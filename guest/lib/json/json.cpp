#include "lib/json/json.h"
#include "runtime/table.h"

#include "lualib.h"

#include <string.h>

// The registry keys of `json.null` and of the metatable that marks objects.
static char null_key;
static char object_key;

static void push_registered(lua_State* L, void* key)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, key);
}

void json_push_null(lua_State* L)
{
    push_registered(L, &null_key);
}

bool json_is_null(lua_State* L, int index)
{
    if (lua_type(L, index) != LUA_TUSERDATA)
        return false;
    push_registered(L, &null_key);
    bool equal = lua_touserdata(L, -1) == lua_touserdata(L, index);
    lua_pop(L, 1);
    return equal;
}

void json_mark_object(lua_State* L, int index)
{
    lua_pushvalue(L, index);
    push_registered(L, &object_key);
    lua_setmetatable(L, -2);
    lua_pop(L, 1);
}

bool json_is_object(lua_State* L, int index)
{
    if (!lua_getmetatable(L, index))
        return false;
    push_registered(L, &object_key);
    bool equal = lua_topointer(L, -1) == lua_topointer(L, -2);
    lua_pop(L, 2);
    return equal;
}

// Returns true if the second argument is a table of options. A number after a string is the count that `string.gsub` returns beside its text.
static bool has_options(lua_State* L)
{
    if (lua_isnoneornil(L, 2) || (lua_type(L, 1) == LUA_TSTRING && lua_type(L, 2) == LUA_TNUMBER))
        return false;
    luaL_checktype(L, 2, LUA_TTABLE);
    return true;
}

// Raises an error if the options in the second argument have another key than `known`. Pushes the value of that key.
static void push_only_option(lua_State* L, const char* function, const char* known)
{
    for (int iterator = 0; (iterator = lua_rawiter(L, 2, iterator)) >= 0; lua_pop(L, 2))
    {
        const char* key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : nullptr;
        if (!key)
            luaL_error(L, "%s: an option has a key that is a %s; the only option is '%s'", function, luaL_typename(L, -2), known);
        if (strcmp(key, known) != 0)
            luaL_error(L, "%s: unknown option '%s'; the only option is '%s'", function, key, known);
    }
    lua_rawgetfield(L, 2, known);
}

// Returns the number of spaces that the options of `json.encode` demand.
static int to_indent(lua_State* L)
{
    constexpr int kDefaultIndent = 2;
    constexpr int kMaxIndent = 16;
    if (!has_options(L))
        return kCompactJson;
    push_only_option(L, "json.encode", "indent");
    if (lua_isnil(L, -1))
        return kCompactJson;
    if (lua_isboolean(L, -1))
        return lua_toboolean(L, -1) ? kDefaultIndent : kCompactJson;
    double spaces = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : -1;
    if (!(spaces >= 0 && spaces <= kMaxIndent) || spaces != int(spaces))
        luaL_error(L, "json.encode: indent must be true, false or a number of spaces from 0 to %d", kMaxIndent);
    return int(spaces);
}

static int json_encode(lua_State* L)
{
    luaL_checkany(L, 1);
    int indent = to_indent(L);
    json_push_encoded(L, 1, "value", indent);
    return 1;
}

static int json_decode(lua_State* L)
{
    size_t size = 0;
    const char* text = luaL_checklstring(L, 1, &size);
    JsonNull null = JsonNull::to_nil;
    if (has_options(L))
    {
        push_only_option(L, "json.decode", "null");
        if (!lua_isnil(L, -1) && !json_is_null(L, lua_gettop(L)))
            luaL_error(L, "json.decode: the option 'null' must be json.null");
        null = lua_isnil(L, -1) ? JsonNull::to_nil : JsonNull::keep;
    }
    json_push_decoded(L, text, size, null);
    return 1;
}

static int json_object(lua_State* L)
{
    if (lua_isnoneornil(L, 1))
    {
        lua_settop(L, 0);
        lua_newtable(L);
    }
    luaL_checktype(L, 1, LUA_TTABLE);
    if (json_is_object(L, 1))
        return 1;
    if (lua_getreadonly(L, 1))
        luaL_error(L, "json.object: the table is read-only");
    if (lua_getmetatable(L, 1))
        luaL_error(L, "json.object: the table already has a metatable");
    json_mark_object(L, 1);
    lua_settop(L, 1);
    return 1;
}

static int null_tostring(lua_State* L)
{
    lua_pushliteral(L, "null");
    return 1;
}

static const luaL_Reg kFunctions[] = {
    {"decode", json_decode},
    {"encode", json_encode},
    {"object", json_object},
    {nullptr, nullptr},
};

void json_open_library(lua_State* L)
{
    lua_newuserdata(L, 0);
    lua_newtable(L);
    lua_pushcfunction(L, null_tostring, "tostring");
    lua_setfield(L, -2, "__tostring");
    lua_pushliteral(L, "null");
    lua_setfield(L, -2, "__type");
    lock_metatable(L);
    lua_setreadonly(L, -1, true);
    lua_setmetatable(L, -2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &null_key);

    lua_newtable(L);
    lock_metatable(L);
    lua_setreadonly(L, -1, true);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &object_key);

    luaL_register(L, "json", kFunctions);
    json_push_null(L);
    lua_setfield(L, -2, "null");
    lua_pop(L, 1);
}
