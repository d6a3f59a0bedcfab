// The `io` of the contract, on top of the directory that was granted (`host/files/session.rs` is the host's).
#pragma once

#include "quota.h"

#include <string_view>

// Begins, with the quota of a run.
void files_begin(const Quota& quota);
// Closes all that is open. What was announced for a file and never came is noted as cut.
void files_end();
// Reads a whole file of at most so many bytes; one that is longer is a limit. The block is the caller's to free.
bool files_read_whole(std::string_view path, size_t most, unprepared_list_u8_t* contents, Error* error);
