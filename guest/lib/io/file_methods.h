// The methods of files: `file:read`, `file:write`, `file:seek`, `file:flush` and `file:close`.
#pragma once

#include "lua.h"

// Called by `init`. Pushes the table of all methods.
void push_file_methods(lua_State* L);

int file_close_method(lua_State* L);
