#include "lib/sdk/reply.h"
#include "lib/error_value.h"
#include "lib/sdk/document.h"
#include "lib/sdk/headers.h"

#include "lualib.h"

namespace
{

void push_value(lua_State* L, const toolscript_sandbox_tools_value_t& value)
{
    if (value.tag == TOOLSCRIPT_SANDBOX_TOOLS_VALUE_BYTES)
        lua_pushlstring(L, reinterpret_cast<char*>(value.val.bytes.ptr), value.val.bytes.len);
    else
        sdk_push_document(L, value.val.json);
}

int push_document_protected(lua_State* L)
{
    sdk_push_document(L, *static_cast<const Document*>(lua_touserdata(L, 1)));
    return 1;
}

// Pushes the body of a failure, or nil. JSON that can't be decoded, for example because it is nested too deeply, stays a text: the failure is
// more important.
void push_failure_body(lua_State* L, const Failure& failure)
{
    if (!failure.body.is_some)
        return lua_pushnil(L);
    const toolscript_sandbox_tools_value_t& value = failure.body.val;
    if (value.tag == TOOLSCRIPT_SANDBOX_TOOLS_VALUE_BYTES)
        return push_value(L, value);
    const Document& document = value.val.json;
    lua_pushcfunction(L, push_document_protected, "body");
    lua_pushlightuserdata(L, const_cast<Document*>(&document));
    if (lua_pcall(L, 1, 1, 0) == 0)
        return;
    lua_pop(L, 1);
    lua_pushlstring(L, reinterpret_cast<char*>(document.json.ptr), document.json.len);
}

// Pushes a new table with the members of the details.
void push_details(lua_State* L, const toolscript_sandbox_tools_option_document_t& details)
{
    if (details.is_some)
    {
        sdk_push_document(L, details.val);
        if (lua_type(L, -1) == LUA_TTABLE)
            return headers_ignore_case(L);
        lua_pop(L, 1);
    }
    lua_newtable(L);
}

} // namespace

void sdk_push_body(lua_State* L, const Reply& reply)
{
    push_value(L, reply.body);
}

void sdk_push_response(lua_State* L, const Reply& reply)
{
    push_details(L, reply.details);
    lua_pushboolean(L, true);
    lua_rawsetfield(L, -2, "ok");
    push_value(L, reply.body);
    lua_rawsetfield(L, -2, "body");
}

bool sdk_push_failed_response(lua_State* L, const Failure& failure)
{
    push_details(L, failure.details);
    bool has_status = lua_rawgetfield(L, -1, "status") == LUA_TNUMBER;
    lua_pop(L, has_status ? 1 : 2);
    if (!has_status)
        return false;
    lua_pushboolean(L, false);
    lua_rawsetfield(L, -2, "ok");
    push_failure_body(L, failure);
    lua_rawsetfield(L, -2, "body");
    return true;
}

void sdk_push_error(lua_State* L, const Failure& failure)
{
    lua_pushlstring(L, reinterpret_cast<char*>(failure.message.ptr), failure.message.len);
    lua_concat(L, 2);
    push_details(L, failure.details);
    lua_insert(L, -3);
    lua_rawsetfield(L, -3, "message");
    if (failure.name.is_some)
    {
        lua_pop(L, 1);
        lua_pushlstring(L, reinterpret_cast<char*>(failure.name.val.ptr), failure.name.val.len);
    }
    lua_rawsetfield(L, -2, "name");
    push_failure_body(L, failure);
    lua_rawsetfield(L, -2, "body");
    error_value_seal(L);
}
