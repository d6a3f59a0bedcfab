// `sdk`: functions of the host's. Their names are asked for when a script first looks, so that a run that does not pays nothing.
#include "json.h"

#include <string.h>

namespace
{

// Under its address, the registry has the metatable of `sdk`.
char metatable_key;

// Bytes that the host may answer with.
size_t answer_room = 0;

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

// The answers to one call; freed also when an error passes through.
struct Answers
{
    toolscript_sandbox_tools_list_result_reply_string_t list = {};
    unprepared_string_t refusal = {};
    bool made;

    explicit Answers(toolscript_sandbox_tools_list_invocation_t calls)
        : made(toolscript_sandbox_tools_call(&calls, &list, &refusal))
    {
    }

    ~Answers()
    {
        if (made)
            toolscript_sandbox_tools_list_result_reply_string_free(&list);
        else
            unprepared_string_free(&refusal);
    }

    Answers(const Answers&) = delete;
    Answers& operator=(const Answers&) = delete;
};

unprepared_string_t string_of(const char* text, size_t size)
{
    return {reinterpret_cast<uint8_t*>(const_cast<char*>(text)), size};
}

[[noreturn]] void raise(lua_State* L, const unprepared_string_t& text)
{
    luaL_where(L, 1);
    lua_pushlstring(L, reinterpret_cast<char*>(text.ptr), text.len);
    lua_concat(L, 2);
    lua_error(L);
}

// A null as the whole answer is nothing; inside of a value it is `json.null`.
void push_json(lua_State* L, const unprepared_string_t& json)
{
    const char* text = reinterpret_cast<char*>(json.ptr);
    if (json.len == 4 && memcmp(text, "null", 4) == 0)
        lua_pushnil(L);
    else
        json_push_decoded(L, text, json.len);
}

// The argument at an index; text that was made for it stays on the stack.
toolscript_sandbox_tools_value_t argument(lua_State* L, int index)
{
    toolscript_sandbox_tools_value_t value;
    size_t size = 0;
    if (void* bytes = lua_tobuffer(L, index, &size))
    {
        value.tag = TOOLSCRIPT_SANDBOX_TOOLS_VALUE_BYTES;
        value.val.bytes = list_of(static_cast<char*>(bytes), size);
        return value;
    }
    guest_push_json(L, index, "argument");
    const char* text = lua_tolstring(L, -1, &size);
    value.tag = TOOLSCRIPT_SANDBOX_TOOLS_VALUE_JSON;
    value.val.json = string_of(text, size);
    return value;
}

int call(lua_State* L)
{
    int count = lua_gettop(L);
    luaL_checkstack(L, count + 8, "too many arguments");
    size_t size = sizeof(toolscript_sandbox_tools_value_t) * (size_t(count) + 1);
    auto* values = static_cast<toolscript_sandbox_tools_value_t*>(lua_newuserdata(L, size));
    for (int index = 1; index <= count; index++)
        values[index - 1] = argument(L, index);
    size_t name_size = 0;
    const char* name = lua_tolstring(L, lua_upvalueindex(1), &name_size);
    toolscript_sandbox_tools_invocation_t invocation = {string_of(name, name_size), {values, size_t(count)}};
    // What the host passes in is not the VM's to collect.
    guest_make_room(L, answer_room);
    Answers answers({&invocation, 1});
    if (!answers.made)
        raise(L, answers.refusal);
    const toolscript_sandbox_tools_result_reply_string_t& answer = answers.list.ptr[0];
    if (answer.is_err)
        raise(L, answer.val.err);
    const toolscript_sandbox_tools_reply_t& reply = answer.val.ok;
    if (reply.body.tag == TOOLSCRIPT_SANDBOX_TOOLS_VALUE_BYTES)
        lua_pushlstring(L, reinterpret_cast<char*>(reply.body.val.bytes.ptr), reply.body.val.bytes.len);
    else
        push_json(L, reply.body.val.json);
    if (!reply.details.is_some)
        return 1;
    push_json(L, reply.details.val);
    return 2;
}

// Puts a function where its name says, from the table on top of the stack on. New tables are also appended to the one at `made`.
void place(lua_State* L, const char* name, size_t size, int made)
{
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
    lua_pushlstring(L, end - size, size);
    lua_pushcclosure(L, call, lua_tostring(L, -1), 1);
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
    guest_make_room(L, answer_room);
    Names names;
    for (size_t index = 0; index < names.list.len; index++)
        place(L, reinterpret_cast<char*>(names.list.ptr[index].ptr), names.list.ptr[index].len, made);
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
    lua_rawget(L, -2);
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
        answer_room = size_t(*answer_size < SIZE_MAX ? *answer_size : SIZE_MAX);
        return;
    }
    lua_pushvalue(L, LUA_GLOBALSINDEX);
    guest_clear(L, "sdk");
    lua_pop(L, 1);
}
