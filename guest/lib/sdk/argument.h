// Converts values of the script to arguments of functions.
#pragma once

#include "runtime/bindings.h"

#include "lua.h"

// Converts the value at this index. Pushes one value that keeps the memory of the argument alive, and must stay on the stack.
//
// A string that is not UTF-8 or a buffer is passed as bytes, at any depth of a table.
toolscript_sandbox_tools_value_t sdk_push_argument(lua_State* L, int index);
