// The libraries `io` and `file`, `os.remove` and `os.rename`. The host checks paths, limits and links.
#pragma once

#include "lib/io/error.h"

void io_open_library(lua_State* L);

// Sets how system errors are reported. Null removes `io`, `file`, `os.remove` and `os.rename`.
void io_configure(lua_State* L, const toolscript_sandbox_types_refusals_t* refusals);

// Writes the buffered bytes of all files.
void io_flush();
// Flushes all files at the end of a run. Returns the first write error that was not reported to the script, or null.
const IoError* io_finish();
