// Converts the replies of the host to values of the script.
#pragma once

#include "runtime/bindings.h"

#include "lua.h"

using Reply = toolscript_sandbox_tools_reply_t;
using Failure = toolscript_sandbox_tools_failure_t;

// Pushes the value that a function returns.
void sdk_push_body(lua_State* L, const Reply& reply);

// Pushes the table that `sdk.response` returns.
void sdk_push_response(lua_State* L, const Reply& reply);
// Pushes nothing and returns false if the failure has no status.
bool sdk_push_failed_response(lua_State* L, const Failure& failure);

// Replaces the name in the call and the prefix of the message, on top of the stack, by the error value of the failure.
void sdk_push_error(lua_State* L, const Failure& failure);
