// `os.clock`.
#pragma once

#include "lua.h"

void clock_open_library(lua_State* L);
