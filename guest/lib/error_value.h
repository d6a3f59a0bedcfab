// Error values with data: read-only tables that scripts can also use as the text of their message.
#pragma once

#include "lua.h"

#include <stddef.h>

void error_value_init(lua_State* L);

// Turns the table on top of the stack into an error value. Its field `message` is a string.
void error_value_seal(lua_State* L);

// Returns the message if the value at this index is an error value, and null otherwise. The error value keeps the text alive.
const char* error_value_message(lua_State* L, int index, size_t* size);
