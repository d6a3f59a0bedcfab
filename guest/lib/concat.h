// `table.concat`, which also takes error values.
#pragma once

#include "lua.h"

void concat_open_library(lua_State* L);
