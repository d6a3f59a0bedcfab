// Resolves the paths of modules.
#pragma once

#include "lua.h"

// Pushes the path of the module that the string at index 1 names, relative to the io directory and without a suffix. The name is relative to the
// file of the function that calls `require`. Raises an error if it is not a path, or leaves the io directory.
void module_push_path(lua_State* L);
