// The `io` interface of the contract, for the granted directory. The native implementation is `host/files/session.rs`.
#pragma once

#include "wasi-command/write_budget.h"

#include <string_view>

// Sets the quota of the run.
void set_quota(const Quota& quota);
// Closes all files. A file that lacks announced bytes is recorded as incomplete.
void close_all_files();
// Reads a whole file into a buffer of `max_size` bytes. Returns an error for a larger file.
bool read_whole_file(std::string_view path, uint8_t* buffer, size_t max_size, size_t* size, Error* error);
