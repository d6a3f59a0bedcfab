// Errors of the `io` interface, with the same messages as in `host/files/error.rs`.
#pragma once

#include "runtime/bindings.h"
#include "wasi-command/preview1.h"

#include <string_view>

struct FilePath;

// The text is valid until the next error.
using Error = toolscript_sandbox_io_error_t;

// All set the error and return false.
bool fail_invalid(Error* error, const char* text);
bool fail_limit(Error* error, const char* format, ...) __attribute__((format(printf, 2, 3)));
// An error of WASI.
bool fail_system(Error* error, const FilePath& path, Errno number);
// Returns true if a component of the path was a symbolic link or not a directory.
bool is_unreachable(const Error& error);
// The path contains a name that other programs execute or trust, or one of a file with credentials.
bool fail_protected(Error* error, const FilePath& path, std::string_view name);
bool fail_credentials(Error* error, const FilePath& path, std::string_view name);
// The path contains a symbolic link.
bool fail_link(Error* error, const FilePath& path);
// The path names a FIFO, a socket or a device.
bool fail_not_regular(Error* error, const FilePath& path);
