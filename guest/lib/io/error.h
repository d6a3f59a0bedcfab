// Errors of the `io` interface, and their conversion to errors of the script.
#pragma once

#include "runtime/bindings.h"

#include "lua.h"

// The text is valid until the next call to the host.
struct IoError
{
    uint8_t kind;   // `TOOLSCRIPT_SANDBOX_IO_ERROR_…`
    int32_t number; // the error number of a system error, otherwise 0
    const char* text;
    size_t size;
};

// Longer messages are truncated.
constexpr size_t kMaxMessage = 8 * 1024;

// The buffer that receives error messages from the host.
extern char io_message[kMaxMessage];

// True if system errors are returned as `nil, message, number` instead of raised.
extern bool io_returns_system_errors;

IoError to_io_error(const toolscript_sandbox_io_error_t& error);

// Returns a copy that stays valid across calls to the host. Without memory, it is a generic error.
IoError* save_io_error(const IoError& error);
// Moves a saved error to `error` and frees it.
void restore_io_error(IoError* saved, IoError* error);

// Raises the error with the position of the script in front and a hint at the end.
[[noreturn]] void raise_io_error(lua_State* L, const IoError& error, const char* hint = "");
// Returns a system error to the script if the run is configured so. Raises any other error.
int raise_or_return_io_error(lua_State* L, const IoError& error);
