// Calls functions that the host provides.
#pragma once

#include "runtime/bindings.h"

#include "lua.h"

// The maximum size of a response of the host.
extern size_t sdk_max_response_size;

// Raises an error if the first argument is `sdk` or a table in it, because a script called the function with a colon.
void sdk_check_dot(lua_State* L, const char* name);

// Calls the function that the first upvalue names.
int sdk_call(lua_State* L);
// `sdk.all({{sdk.f, …}, {sdk.g, …}}, {errors = "return"}?)`: makes several calls at once.
int sdk_all(lua_State* L);
// `sdk.response(sdk.f, …)`: returns the body with its details, and does not raise an error for a response with an error status.
int sdk_response(lua_State* L);
// `sdk.docs` and `sdk.search`.
int sdk_docs(lua_State* L);
int sdk_search(lua_State* L);

// Collects garbage if there is no memory for a response of the maximum size. The host cannot start a collection when it allocates the response.
void sdk_reserve_response(lua_State* L);

// Pushes the documentation of the function whose name is at this index. Raises the error of the host if it has none.
void sdk_push_docs(lua_State* L, int index);
