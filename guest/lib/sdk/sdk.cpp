// The host returns the names of its functions when a script first accesses `sdk`, so that other scripts do not pay for them.
#include "lib/sdk/sdk.h"
#include "lib/sdk/functions.h"
#include "lib/sdk/headers.h"
#include "runtime/table.h"

#include "lualib.h"

#include <string.h>

namespace
{

// The registry key of the metatable of `sdk`.
char metatable_key;

// The names of all functions. The destructor also runs when a Luau error unwinds the stack.
struct Names
{
    guest_list_string_t list;

    Names()
    {
        toolscript_sandbox_tools_names(&list);
    }

    ~Names()
    {
        guest_list_string_free(&list);
    }

    Names(const Names&) = delete;
    Names& operator=(const Names&) = delete;
};

// The `__index` of a table of functions: returns the function if the host knows it by another name, and raises the error of the host if not.
// The upvalues are the prefix of the name, and a table of the functions that were found.
int find_missing(lua_State* L)
{
    if (lua_type(L, 2) != LUA_TSTRING)
        return 0;
    lua_settop(L, 2);
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(2)) != LUA_TNIL)
        return 1;
    lua_pop(L, 1);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_pushvalue(L, 2);
    lua_concat(L, 2);
    lua_replace(L, 1);
    // The host has documentation exactly for the names that it accepts.
    sdk_push_docs(L, 1);
    lua_pushvalue(L, 1);
    lua_pushcclosure(L, sdk_call, lua_tostring(L, 1), 1);
    lua_pushvalue(L, 2);
    lua_pushvalue(L, -2);
    lua_rawset(L, lua_upvalueindex(2));
    return 1;
}

// Sets the metatable of the table on top of the stack, so that a missing name is looked up by the host.
void set_missing_handler(lua_State* L, const char* prefix, size_t size)
{
    lua_createtable(L, 0, 2);
    lua_pushlstring(L, prefix, size);
    lua_newtable(L);
    lua_pushcclosure(L, find_missing, "index", 2);
    lua_rawsetfield(L, -2, "__index");
    lock_metatable(L);
    lua_setmetatable(L, -2);
}

// Adds a function to the table on top of the stack, or to the nested tables that its dotted name requires. New tables are also appended to the
// table at `created`.
void add_function(lua_State* L, const char* name, size_t size, int created)
{
    const char* begin = name;
    const char* end = name + size;
    lua_pushvalue(L, -1);
    for (const char* dot; (dot = static_cast<const char*>(memchr(name, '.', end - name))); name = dot + 1)
    {
        lua_pushlstring(L, name, dot - name);
        lua_pushvalue(L, -1);
        if (lua_rawget(L, -3) != LUA_TTABLE)
        {
            lua_pop(L, 1);
            lua_newtable(L);
            set_missing_handler(L, begin, dot + 1 - begin);
            lua_pushvalue(L, -1);
            lua_rawseti(L, created, lua_objlen(L, created) + 1);
            lua_pushvalue(L, -2);
            lua_pushvalue(L, -2);
            lua_rawset(L, -5);
        }
        // Replaces the outer table and the key by the inner table.
        lua_replace(L, -3);
        lua_pop(L, 1);
    }
    lua_pushlstring(L, name, end - name);
    // The upvalue is the full name, which tracebacks show too.
    lua_pushlstring(L, begin, size);
    lua_pushcclosure(L, sdk_call, lua_tostring(L, -1), 1);
    lua_rawset(L, -3);
    lua_pop(L, 1);
}

// Pushes the table of all functions. Creates it at the first call.
void push_functions(lua_State* L)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &metatable_key);
    if (lua_rawgetfield(L, -1, "__index") == LUA_TTABLE)
        return lua_remove(L, -2);
    lua_pop(L, 1);
    lua_newtable(L);
    int created = lua_gettop(L);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_rawseti(L, created, 1);
    sdk_reserve_response(L);
    Names names;
    for (size_t index = 0; index < names.list.len; index++)
        add_function(L, reinterpret_cast<char*>(names.list.ptr[index].ptr), names.list.ptr[index].len, created);
    set_missing_handler(L, "", 0);
    for (int index = 1; index <= lua_objlen(L, created); index++)
    {
        lua_rawgeti(L, created, index);
        lua_setreadonly(L, -1, true);
        lua_pop(L, 1);
    }
    // Later accesses use the table without a function call.
    lua_pushvalue(L, -1);
    lua_rawsetfield(L, created - 1, "__index");
    lua_replace(L, created - 1);
    lua_settop(L, created - 1);
}

// The initial `__index` of `sdk`.
int create_and_index(lua_State* L)
{
    lua_settop(L, 2);
    push_functions(L);
    lua_pushvalue(L, 2);
    lua_gettable(L, -2);
    return 1;
}

int iterate(lua_State* L)
{
    lua_getglobal(L, "next");
    push_functions(L);
    return 2;
}

} // namespace

void sdk_check_dot(lua_State* L, const char* name)
{
    // Scripts can freeze tables too, but their metatables differ.
    if (!lua_istable(L, 1) || !lua_getreadonly(L, 1) || !lua_getmetatable(L, 1))
        return;
    lua_rawgetp(L, LUA_REGISTRYINDEX, &metatable_key);
    bool is_sdk = lua_rawequal(L, -1, -2);
    lua_rawgetfield(L, -2, "__index");
    if (is_sdk || lua_tocfunction(L, -1) == find_missing)
        luaL_error(L, "%s: call it with a dot: sdk.%s(...)", name, name);
    lua_pop(L, 3);
}

void sdk_open_library(lua_State* L)
{
    headers_open_library(L);
    lua_newtable(L);
    lua_pushcfunction(L, sdk_all, "all");
    lua_setfield(L, -2, "all");
    lua_pushcfunction(L, sdk_docs, "docs");
    lua_setfield(L, -2, "docs");
    lua_pushcfunction(L, sdk_response, "response");
    lua_setfield(L, -2, "response");
    lua_pushcfunction(L, sdk_search, "search");
    lua_setfield(L, -2, "search");
    lua_newtable(L);
    lua_pushcfunction(L, create_and_index, "index");
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, iterate, "iterate");
    lua_setfield(L, -2, "__iter");
    lock_metatable(L);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &metatable_key);
    lua_setmetatable(L, -2);
    lua_setglobal(L, "sdk");
}

void sdk_configure(lua_State* L, const uint64_t* max_response_size)
{
    if (max_response_size)
    {
        sdk_max_response_size = size_t(*max_response_size < SIZE_MAX ? *max_response_size : SIZE_MAX);
        return;
    }
    lua_pushvalue(L, LUA_GLOBALSINDEX);
    remove_field(L, "sdk");
    lua_pop(L, 1);
}
