// `table.sort`, with a fast path for an array of numbers without a comparison function. Luau's own function handles all other cases.
#pragma once

#include "lua.h"

void sort_open_library(lua_State* L);
