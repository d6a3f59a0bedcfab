// `print` and `progress`. Both pass their text to the host at once, so that nothing is lost when the host stops the run.
#pragma once

#include "lua.h"

void log_open_library(lua_State* L);
