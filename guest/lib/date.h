// `os.date`, with all conversion specifiers of C99. Luau's own function accepts those of C89 only.
#pragma once

#include "lua.h"

void date_open_library(lua_State* L);
