// The library `base64`: RFC 4648, with the standard alphabet and padding.
#pragma once

#include "lua.h"

void base64_open_library(lua_State* L);
