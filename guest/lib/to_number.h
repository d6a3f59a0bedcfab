// The conversion of `tonumber(text, base)`. The build includes this header before `lbaselib.cpp`.
#pragma once

#include "lua.h"

#include <stdlib.h>

// Converts the first argument as `strtoull` does. A text with a NUL byte has no number: C would ignore the rest.
unsigned long long to_integer(lua_State* L, const char* text, char** end, int base);

// `L` is a local variable of `luaB_tonumber`, the only function that calls it.
#define strtoull(text, end, base) to_integer(L, text, end, base)
