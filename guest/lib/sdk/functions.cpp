#include "lib/sdk/functions.h"
#include "lib/json/json.h"
#include "lib/sdk/argument.h"
#include "lib/sdk/document.h"
#include "lib/sdk/reply.h"
#include "memory/collector.h"
#include "runtime/utf8.h"

#include "lualib.h"

#include <string.h>

size_t sdk_max_response_size = 0;

namespace
{

// The results of a batch of calls. The destructor also runs when a Luau error unwinds the stack.
struct Results
{
    toolscript_sandbox_tools_list_result_reply_failure_t list = {};
    guest_string_t error = {}; // set if no call was made
    bool were_made;

    explicit Results(toolscript_sandbox_tools_list_invocation_t calls)
        : were_made(toolscript_sandbox_tools_call(&calls, &list, &error))
    {
    }

    ~Results()
    {
        if (were_made)
            toolscript_sandbox_tools_list_result_reply_failure_free(&list);
        else
            guest_string_free(&error);
    }

    Results(const Results&) = delete;
    Results& operator=(const Results&) = delete;
};

// A string from the host. The destructor also runs when a Luau error unwinds the stack.
struct HostString
{
    guest_string_t text = {};

    HostString() = default;

    ~HostString()
    {
        guest_string_free(&text);
    }

    HostString(const HostString&) = delete;
    HostString& operator=(const HostString&) = delete;
};

// Raises an error message from the host with the position of the script in front.
[[noreturn]] void raise_host_error(lua_State* L, const guest_string_t& message)
{
    luaL_where(L, 1);
    lua_pushlstring(L, reinterpret_cast<char*>(message.ptr), message.len);
    lua_concat(L, 2);
    lua_error(L);
}

// Returns the string at this index. Raises an error if it is not UTF-8, as the interface requires.
guest_string_t check_utf8(lua_State* L, int index)
{
    size_t size = 0;
    const char* text = luaL_checklstring(L, index, &size);
    if (!is_utf8({text, size}))
        luaL_argerror(L, index, "not UTF-8");
    return borrow_string(text, size);
}

// Raises the error value of a failure. The name of the function is at this index.
[[noreturn]] void raise_failure(lua_State* L, const Failure& failure, int name)
{
    lua_pushvalue(L, name);
    luaL_where(L, 1);
    sdk_push_error(L, failure);
    lua_error(L);
}

// The maximum number of calls and arguments at once. The limit of the host is lower.
constexpr uint64_t kMaxArguments = 1 << 17;

// Returns the total number of arguments. Each call is a table of a function and its arguments.
size_t count_arguments(lua_State* L, int calls)
{
    uint64_t total = 0;
    for (int index = 1; index <= calls; index++)
    {
        if (lua_rawgeti(L, 1, index) != LUA_TTABLE || (lua_rawgeti(L, -1, 1), lua_tocfunction(L, -1) != sdk_call))
            luaL_error(L, "call %d must be a table that starts with an sdk function, such as {sdk.f, {id = 1}}", index);
        total += uint64_t(lua_objlen(L, -2)) - 1;
        lua_pop(L, 2);
    }
    if (total + uint64_t(calls) > kMaxArguments)
        luaL_error(L, "too many calls or arguments at once");
    return size_t(total);
}

// Returns true if the options in the second argument say `errors = "return"`.
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

// Pushes the name of the function of a call. Each call is a table that starts with the function.
void push_call_name(lua_State* L, int calls, int index)
{
    lua_rawgeti(L, calls, index);
    lua_rawgeti(L, -1, 1);
    lua_getupvalue(L, -1, 1);
    lua_replace(L, -3);
    lua_pop(L, 1);
}

// Pushes a table with an entry for each call: its body, `json.null` for nil so that there are no holes, or `{error = err}`. The first error
// is raised unless errors are returned.
void push_bodies(lua_State* L, const Results& results, bool should_return_errors)
{
    int count = int(results.list.len);
    lua_createtable(L, count, 0);
    for (int index = 1; index <= count; index++)
    {
        const toolscript_sandbox_tools_result_reply_failure_t& result = results.list.ptr[index - 1];
        if (!result.is_err)
        {
            sdk_push_body(L, result.val.ok);
            if (lua_isnil(L, -1))
            {
                lua_pop(L, 1);
                json_push_null(L);
            }
        }
        else if (should_return_errors)
        {
            lua_createtable(L, 0, 1);
            push_call_name(L, 1, index);
            lua_pushliteral(L, "");
            sdk_push_error(L, result.val.err);
            lua_rawsetfield(L, -2, "error");
        }
        else
        {
            push_call_name(L, 1, index);
            luaL_where(L, 1);
            lua_pushfstring(L, "call %d: ", index);
            lua_concat(L, 2);
            sdk_push_error(L, result.val.err);
            lua_error(L);
        }
        lua_rawseti(L, -2, index);
    }
}

// Calls the function whose name is at an index, with the arguments from another index to the top of the stack.
Results call_one(lua_State* L, int name_index, int first)
{
    int count = lua_gettop(L) - first + 1;
    luaL_checkstack(L, count + 8, "too many arguments");
    size_t size = sizeof(toolscript_sandbox_tools_value_t) * (size_t(count) + 1);
    auto* values = static_cast<toolscript_sandbox_tools_value_t*>(lua_newuserdata(L, size));
    for (int index = 0; index < count; index++)
        values[index] = sdk_push_argument(L, first + index);
    size_t name_size = 0;
    const char* name = lua_tolstring(L, name_index, &name_size);
    toolscript_sandbox_tools_invocation_t invocation = {borrow_string(name, name_size), {values, size_t(count)}};
    sdk_reserve_response(L);
    return Results({&invocation, 1});
}

} // namespace

void sdk_reserve_response(lua_State* L)
{
    collect_to_fit(L, sdk_max_response_size);
}

int sdk_call(lua_State* L)
{
    sdk_check_dot(L, lua_tostring(L, lua_upvalueindex(1)));
    int name = lua_upvalueindex(1);
    Results results = call_one(L, name, 1);
    if (!results.were_made)
        raise_host_error(L, results.error);
    const toolscript_sandbox_tools_result_reply_failure_t& result = results.list.ptr[0];
    if (result.is_err)
        raise_failure(L, result.val.err, name);
    sdk_push_body(L, result.val.ok);
    return 1;
}

int sdk_response(lua_State* L)
{
    if (lua_tocfunction(L, 1) != sdk_call)
        luaL_error(L, "the first argument must be an sdk function that is not called, such as sdk.response(sdk.f, {id = 1})");
    lua_getupvalue(L, 1, 1);
    lua_replace(L, 1);
    Results results = call_one(L, 1, 2);
    if (!results.were_made)
        raise_host_error(L, results.error);
    const toolscript_sandbox_tools_result_reply_failure_t& result = results.list.ptr[0];
    if (!result.is_err)
        sdk_push_response(L, result.val.ok);
    else if (!sdk_push_failed_response(L, result.val.err))
        raise_failure(L, result.val.err, 1);
    return 1;
}

int sdk_all(lua_State* L)
{
    sdk_check_dot(L, "all");
    luaL_checktype(L, 1, LUA_TTABLE);
    bool should_return_errors = returns_errors(L);
    lua_settop(L, 1);
    int calls = lua_objlen(L, 1);
    // Nothing below runs code of the script, so the tables do not change after they are counted.
    size_t total = count_arguments(L, calls);
    auto* invocations =
        static_cast<toolscript_sandbox_tools_invocation_t*>(lua_newuserdata(L, sizeof(toolscript_sandbox_tools_invocation_t) * (size_t(calls) + 1)));
    auto* values = static_cast<toolscript_sandbox_tools_value_t*>(lua_newuserdata(L, sizeof(toolscript_sandbox_tools_value_t) * (total + 1)));
    // Keeps the JSON texts of the arguments alive until the calls are made.
    lua_newtable(L);
    int texts = lua_gettop(L);
    int text_count = 0;
    for (int index = 1; index <= calls; index++)
    {
        lua_rawgeti(L, 1, index);
        int entry = lua_gettop(L);
        int count = lua_objlen(L, entry) - 1;
        push_call_name(L, 1, index);
        size_t size = 0;
        const char* name = lua_tolstring(L, -1, &size);
        invocations[index - 1] = {borrow_string(name, size), {values, size_t(count)}};
        for (int number = 2; number <= count + 1; number++)
        {
            lua_rawgeti(L, entry, number);
            *values++ = sdk_push_argument(L, lua_gettop(L));
            lua_rawseti(L, texts, ++text_count);
            lua_settop(L, entry);
        }
        lua_settop(L, texts);
    }
    sdk_reserve_response(L);
    Results results({invocations, size_t(calls)});
    if (!results.were_made)
        raise_host_error(L, results.error);
    push_bodies(L, results, should_return_errors);
    return 1;
}

int sdk_search(lua_State* L)
{
    sdk_check_dot(L, "search");
    guest_string_t query = check_utf8(L, 1);
    sdk_reserve_response(L);
    HostString found;
    toolscript_sandbox_tools_search(&query, &found.text);
    sdk_push_json(L, found.text);
    return 1;
}

void sdk_push_docs(lua_State* L, int index)
{
    guest_string_t name = check_utf8(L, index);
    sdk_reserve_response(L);
    HostString text;
    HostString error;
    if (!toolscript_sandbox_tools_docs(&name, &text.text, &error.text))
        raise_host_error(L, error.text);
    lua_pushlstring(L, reinterpret_cast<char*>(text.text.ptr), text.text.len);
}

int sdk_docs(lua_State* L)
{
    sdk_check_dot(L, "docs");
    sdk_push_docs(L, 1);
    return 1;
}
