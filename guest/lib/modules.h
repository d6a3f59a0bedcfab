// `require`: loads modules from the io directory, by the rules of Luau's require-by-string.
#pragma once

#include "lua.h"

void modules_open_library(lua_State* L);
