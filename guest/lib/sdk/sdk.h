// The library `sdk`: functions that the host provides.
#pragma once

#include "lua.h"

#include <stdint.h>

void sdk_open_library(lua_State* L);

// Sets the maximum size of a response of the host. Null removes `sdk`.
void sdk_configure(lua_State* L, const uint64_t* max_response_size);
