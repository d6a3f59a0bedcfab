// The headers of a response: a table by names in lower case, which also finds other spellings.
#pragma once

#include "lua.h"

void headers_open_library(lua_State* L);

// Makes lookups in the field `headers` of the table on top of the stack ignore case, if there is such a table.
void headers_ignore_case(lua_State* L);
