// What a script is told when a call on files does not succeed: as the contract has it, in the host's words (`host/files/error.rs`).
#pragma once

#include "runtime/bindings.h"
#include "wasi-command/preview1.h"

#include <string_view>

struct FilePath;

// Its text is valid until the next one.
using Error = toolscript_sandbox_io_error_t;

// All answer false, for the caller to pass on.
bool fail_invalid(Error* error, const char* text);
bool fail_limit(Error* error, const char* format, ...) __attribute__((format(printf, 2, 3)));
// What WASI said about a file.
bool fail_system(Error* error, const FilePath& path, Errno number);
// A symbolic link, wherever it points.
bool fail_link(Error* error, const FilePath& path);
// A FIFO, a socket or a device.
bool fail_irregular(Error* error, const FilePath& path);
