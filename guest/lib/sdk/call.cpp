// Calls of the host's functions: one, or several at once.
#include "lib/json/json.h"
#include "lib/sdk/sdk.h"

#include "lstate.h"

#include <string.h>

size_t sdk_answer_room = 0;

namespace
{

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
    value.val.json = sdk_string(text, size);
    return value;
}

// Whether the script takes the second result too: it is not decoded for nobody.
bool takes_details(lua_State* L)
{
    return L->ci->nresults != 1;
}

// Pushes what a call gave: one value or two. Answers with how many.
int push_reply(lua_State* L, const toolscript_sandbox_tools_reply_t& reply, bool with_details)
{
    if (reply.body.tag == TOOLSCRIPT_SANDBOX_TOOLS_VALUE_BYTES)
        lua_pushlstring(L, reinterpret_cast<char*>(reply.body.val.bytes.ptr), reply.body.val.bytes.len);
    else
        push_json(L, reply.body.val.json);
    if (!reply.details.is_some || !with_details)
        return 1;
    push_json(L, reply.details.val);
    return 2;
}

// Arguments of calls that are made at once. The host has a lower limit.
constexpr uint64_t kMaxArguments = 1 << 17;

// How many values the arguments of all calls are together. A call is a table with one of the host's functions in front.
size_t count_arguments(lua_State* L, int calls)
{
    uint64_t total = 0;
    for (int index = 1; index <= calls; index++)
    {
        if (lua_rawgeti(L, 1, index) != LUA_TTABLE || (lua_rawgeti(L, -1, 1), lua_tocfunction(L, -1) != sdk_call))
            luaL_error(L, "call %d is not a table with a function of sdk in front, such as {sdk.f, {id = 1}}", index);
        total += uint64_t(lua_objlen(L, -2)) - 1;
        lua_pop(L, 2);
    }
    if (total + uint64_t(calls) > kMaxArguments)
        luaL_error(L, "too many calls or arguments at once");
    return size_t(total);
}

// Whether the second argument asks for errors as values.
bool returns_errors(lua_State* L)
{
    if (lua_isnoneornil(L, 2))
        return false;
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_rawgetfield(L, 2, "errors");
    const char* errors = luaL_optstring(L, -1, "raise");
    if (strcmp(errors, "return") != 0 && strcmp(errors, "raise") != 0)
        luaL_error(L, "errors must be \"raise\" or \"return\", not \"%s\"", errors);
    bool result = strcmp(errors, "return") == 0;
    lua_pop(L, 1);
    return result;
}

// Pushes the first results of all calls as a table, then the second ones. An error is raised, or stands where the second result would.
void push_replies(lua_State* L, const Answers& answers, bool errors_too)
{
    int count = int(answers.list.len);
    lua_createtable(L, count, 0);
    lua_createtable(L, count, 0);
    for (int index = 1; index <= count; index++)
    {
        const toolscript_sandbox_tools_result_reply_string_t& answer = answers.list.ptr[index - 1];
        if (answer.is_err && !errors_too)
        {
            luaL_where(L, 1);
            lua_pushfstring(L, "call %d: ", index);
            lua_pushlstring(L, reinterpret_cast<char*>(answer.val.err.ptr), answer.val.err.len);
            lua_concat(L, 3);
            lua_error(L);
        }
        if (answer.is_err)
        {
            lua_pushnil(L);
            lua_createtable(L, 0, 1);
            lua_pushlstring(L, reinterpret_cast<char*>(answer.val.err.ptr), answer.val.err.len);
            lua_rawsetfield(L, -2, "error");
        }
        else if (push_reply(L, answer.val.ok, true) == 1)
            lua_pushnil(L);
        lua_rawseti(L, -3, index);
        lua_rawseti(L, -3, index);
    }
}

} // namespace

[[noreturn]] void sdk_raise(lua_State* L, const unprepared_string_t& text)
{
    luaL_where(L, 1);
    lua_pushlstring(L, reinterpret_cast<char*>(text.ptr), text.len);
    lua_concat(L, 2);
    lua_error(L);
}

unprepared_string_t sdk_checked_text(lua_State* L, int index)
{
    size_t size = 0;
    const char* text = luaL_checklstring(L, index, &size);
    if (!is_utf8({text, size}))
        luaL_argerror(L, index, "not UTF-8");
    return sdk_string(text, size);
}

int sdk_call(lua_State* L)
{
    int count = lua_gettop(L);
    luaL_checkstack(L, count + 8, "too many arguments");
    size_t size = sizeof(toolscript_sandbox_tools_value_t) * (size_t(count) + 1);
    auto* values = static_cast<toolscript_sandbox_tools_value_t*>(lua_newuserdata(L, size));
    for (int index = 1; index <= count; index++)
        values[index - 1] = argument(L, index);
    size_t name_size = 0;
    const char* name = lua_tolstring(L, lua_upvalueindex(1), &name_size);
    toolscript_sandbox_tools_invocation_t invocation = {sdk_string(name, name_size), {values, size_t(count)}};
    // What the host passes in is not the VM's to collect.
    guest_make_room(L, sdk_answer_room);
    Answers answers({&invocation, 1});
    if (!answers.made)
        sdk_raise(L, answers.refusal);
    const toolscript_sandbox_tools_result_reply_string_t& answer = answers.list.ptr[0];
    if (answer.is_err)
        sdk_raise(L, answer.val.err);
    return push_reply(L, answer.val.ok, takes_details(L));
}

// `sdk.all({{sdk.f, …}, {sdk.g, …}}, {errors = "return"}?)`: makes several calls at once.
int sdk_call_all(lua_State* L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    bool errors_too = returns_errors(L);
    lua_settop(L, 1);
    int calls = lua_objlen(L, 1);
    // Nothing below runs code of the script's, so what is counted here is still so when it is taken.
    size_t total = count_arguments(L, calls);
    auto* invocations =
        static_cast<toolscript_sandbox_tools_invocation_t*>(lua_newuserdata(L, sizeof(toolscript_sandbox_tools_invocation_t) * (size_t(calls) + 1)));
    auto* values = static_cast<toolscript_sandbox_tools_value_t*>(lua_newuserdata(L, sizeof(toolscript_sandbox_tools_value_t) * (total + 1)));
    // Keeps the texts of arguments until the calls are made.
    lua_newtable(L);
    int texts = lua_gettop(L);
    int kept = 0;
    for (int index = 1; index <= calls; index++)
    {
        lua_rawgeti(L, 1, index);
        int entry = lua_gettop(L);
        int count = lua_objlen(L, entry) - 1;
        lua_rawgeti(L, entry, 1);
        lua_getupvalue(L, -1, 1);
        size_t size = 0;
        const char* name = lua_tolstring(L, -1, &size);
        invocations[index - 1] = {sdk_string(name, size), {values, size_t(count)}};
        for (int number = 2; number <= count + 1; number++)
        {
            lua_rawgeti(L, entry, number);
            *values++ = argument(L, lua_gettop(L));
            lua_rawseti(L, texts, ++kept);
            lua_settop(L, entry);
        }
        lua_settop(L, texts);
    }
    guest_make_room(L, sdk_answer_room);
    Answers answers({invocations, size_t(calls)});
    if (!answers.made)
        sdk_raise(L, answers.refusal);
    push_replies(L, answers, errors_too);
    return 2;
}

int sdk_search(lua_State* L)
{
    unprepared_string_t query = sdk_checked_text(L, 1);
    guest_make_room(L, sdk_answer_room);
    SdkText found;
    toolscript_sandbox_tools_search(&query, &found.text);
    push_json(L, found.text);
    return 1;
}

int sdk_docs(lua_State* L)
{
    unprepared_string_t name = sdk_checked_text(L, 1);
    guest_make_room(L, sdk_answer_room);
    SdkText text;
    SdkText refusal;
    if (!toolscript_sandbox_tools_docs(&name, &text.text, &refusal.text))
        sdk_raise(L, refusal.text);
    lua_pushlstring(L, reinterpret_cast<char*>(text.text.ptr), text.text.len);
    return 1;
}
