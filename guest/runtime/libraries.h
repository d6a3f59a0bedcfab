// Every global that a script sees.
#pragma once

#include "lua.h"

// Creates a VM with all libraries open and read-only. Returns null if there is not enough memory.
lua_State* new_state();
