// `string.rep` with a separator, as in Lua 5.2 and later. Luau's own ignores a third argument.
#pragma once

#include "lua.h"

void string_rep_open_library(lua_State* L);
