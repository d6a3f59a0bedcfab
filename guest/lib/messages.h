// `assert` and `debug.traceback`. Luau's own functions end a message at its first NUL byte.
#pragma once

#include "lua.h"

void messages_open_library(lua_State* L);
