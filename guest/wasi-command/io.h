// The `io` of the contract, on top of the directory that was granted (`host/files/session.rs` is the host's).
#pragma once

#include "wasi-command/quota.h"

#include <string_view>

// Begins, with the quota of a run.
void files_begin(const Quota& quota);
// Closes all that is open. What was announced for a file and never came is noted as cut.
void files_end();
// Reads a whole file into a place that has room for so many bytes; a file that is longer is refused.
bool files_read_whole(std::string_view path, uint8_t* place, size_t most, size_t* size, Error* error);
