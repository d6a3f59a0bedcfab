// `io.lines` and `file:lines`.
#pragma once

#include "lua.h"

int io_lines(lua_State* L);
int file_lines(lua_State* L);
