// `sdk`: functions of the host's. Their names are asked for when a script first looks, so that a run that does not pays nothing.
#include "lib/sdk/sdk.h"

#include <string.h>

namespace
{

// Under its address, the registry has the metatable of `sdk`.
char metatable_key;

struct Names
{
    unprepared_list_string_t list;

    Names()
    {
        toolscript_sandbox_tools_names(&list);
    }

    ~Names()
    {
        unprepared_list_string_free(&list);
    }

    Names(const Names&) = delete;
    Names& operator=(const Names&) = delete;
};

// For a name that is not there: the host says why. Its first part is the upvalue.
int missing(lua_State* L)
{
    if (lua_type(L, 2) != LUA_TSTRING)
        return 0;
    lua_settop(L, 2);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 2);
    lua_concat(L, 2);
    lua_replace(L, 1);
    unprepared_string_t name = sdk_checked_text(L, 1);
    guest_make_room(L, sdk_answer_room);
    SdkText text;
    SdkText refusal;
    if (!toolscript_sandbox_tools_docs(&name, &text.text, &refusal.text))
        sdk_raise(L, refusal.text);
    luaL_error(L, "sdk has no '%s'", lua_tostring(L, 1));
}

// Gives the table on top of the stack what to do with names that it does not have.
void explain_missing(lua_State* L, const char* prefix, size_t size)
{
    lua_createtable(L, 0, 2);
    lua_pushlstring(L, prefix, size);
    lua_pushcclosure(L, missing, "index", 1);
    lua_rawsetfield(L, -2, "__index");
    lua_pushliteral(L, "The metatable is locked");
    lua_rawsetfield(L, -2, "__metatable");
    lua_setmetatable(L, -2);
}

// Puts a function where its name says, from the table on top of the stack on. New tables are also appended to the one at `made`.
void place(lua_State* L, const char* name, size_t size, int made)
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
            explain_missing(L, begin, dot + 1 - begin);
            lua_pushvalue(L, -1);
            lua_rawseti(L, made, lua_objlen(L, made) + 1);
            lua_pushvalue(L, -2);
            lua_pushvalue(L, -2);
            lua_rawset(L, -5);
        }
        // The inner table takes the place of the outer one and the key.
        lua_replace(L, -3);
        lua_pop(L, 1);
    }
    lua_pushlstring(L, name, end - name);
    // The closure keeps its whole name, which also names it in tracebacks.
    lua_pushlstring(L, begin, size);
    lua_pushcclosure(L, sdk_call, lua_tostring(L, -1), 1);
    lua_rawset(L, -3);
    lua_pop(L, 1);
}

// Pushes the table of all functions, which is made once.
void push_functions(lua_State* L)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &metatable_key);
    if (lua_rawgetfield(L, -1, "__index") == LUA_TTABLE)
        return lua_remove(L, -2);
    lua_pop(L, 1);
    lua_newtable(L);
    int made = lua_gettop(L);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_rawseti(L, made, 1);
    guest_make_room(L, sdk_answer_room);
    Names names;
    for (size_t index = 0; index < names.list.len; index++)
        place(L, reinterpret_cast<char*>(names.list.ptr[index].ptr), names.list.ptr[index].len, made);
    explain_missing(L, "", 0);
    for (int index = 1; index <= lua_objlen(L, made); index++)
    {
        lua_rawgeti(L, made, index);
        lua_setreadonly(L, -1, true);
        lua_pop(L, 1);
    }
    // From now on it is looked up without a call.
    lua_pushvalue(L, -1);
    lua_rawsetfield(L, made - 1, "__index");
    lua_replace(L, made - 1);
    lua_settop(L, made - 1);
}

int first_index(lua_State* L)
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

void guest_open_sdk(lua_State* L)
{
    lua_newtable(L);
    lua_pushcfunction(L, sdk_call_all, "all");
    lua_setfield(L, -2, "all");
    lua_pushcfunction(L, sdk_docs, "docs");
    lua_setfield(L, -2, "docs");
    lua_pushcfunction(L, sdk_search, "search");
    lua_setfield(L, -2, "search");
    lua_newtable(L);
    lua_pushcfunction(L, first_index, "index");
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, iterate, "iterate");
    lua_setfield(L, -2, "__iter");
    lua_pushliteral(L, "The metatable is locked");
    lua_setfield(L, -2, "__metatable");
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &metatable_key);
    lua_setmetatable(L, -2);
    lua_setglobal(L, "sdk");
}

void guest_set_sdk(lua_State* L, const uint64_t* answer_size)
{
    if (answer_size)
    {
        sdk_answer_room = size_t(*answer_size < SIZE_MAX ? *answer_size : SIZE_MAX);
        return;
    }
    lua_pushvalue(L, LUA_GLOBALSINDEX);
    guest_clear(L, "sdk");
    lua_pop(L, 1);
}
