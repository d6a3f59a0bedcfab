// The host's files: the imports of `io`, with one way to tell what went wrong.
#pragma once

#include "runtime/bindings.h"

// Why a call to the host did not succeed. The text is valid until the next one.
struct Problem
{
    uint8_t kind; // as in the contract: `TOOLSCRIPT_SANDBOX_IO_ERROR_…`
    int32_t number;
    const char* text;
    size_t size;
};

using HostFile = toolscript_sandbox_io_own_file_t;
using OpenMode = toolscript_sandbox_io_mode_t;
using Whence = toolscript_sandbox_io_whence_t;

// A text of the host's is shorter than this, or cut.
constexpr size_t kMessage = 8 * 1024;

// What the host last said may still be written.
extern uint64_t host_allowance;

// All answer false when there is a problem.
bool host_open(const char* path, size_t size, OpenMode mode, HostFile* file, Problem* problem);
// Into a place that has room for `kMessage` bytes at least; 0 bytes are the end of the file.
bool host_read(HostFile file, char* place, size_t size, size_t* count, Problem* problem);
bool host_remaining(HostFile file, uint64_t* count, Problem* problem);
// `waiting`: the file lacks more bytes than these.
bool host_write(HostFile file, const char* bytes, size_t size, bool waiting, Problem* problem);
bool host_seek(HostFile file, Whence whence, int64_t offset, uint64_t* position, Problem* problem);
bool host_remove(const char* path, size_t size, Problem* problem);

Problem problem_of(const toolscript_sandbox_io_error_t& error);
// A copy that outlives the next call, and an end to it; without memory, it is another problem.
Problem* problem_keep(const Problem& problem);
void problem_forget(Problem* kept, Problem* told);
