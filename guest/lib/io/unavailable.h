// Functions and streams of Lua's `io` library that scripts cannot use. They raise an error that names an alternative.
#pragma once

#include "lua.h"

// Pushes a function that raises an error. `hint` is appended to its message.
void push_unavailable_function(lua_State* L, const char* name, const char* hint);

// Adds the unavailable members of `io` to the table on top of the stack.
void add_unavailable_io_members(lua_State* L);
