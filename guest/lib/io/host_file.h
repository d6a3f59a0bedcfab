// Calls to the host's `io` interface.
#pragma once

#include "lib/io/error.h"

using HostFile = toolscript_sandbox_io_own_file_t;
using OpenMode = toolscript_sandbox_io_mode_t;
using Whence = toolscript_sandbox_io_whence_t;

// The bytes that the run may still write, as the host last reported.
extern uint64_t write_allowance;

// All return false and set the error on failure.
bool host_open(const char* path, size_t size, OpenMode mode, HostFile* file, IoError* error);
// Reads at most `size` bytes and sets `count` to 0 at the end of the file. The buffer must have room for at least `kMaxMessage` bytes.
bool host_read(HostFile file, char* buffer, size_t size, size_t* count, IoError* error);
// Sets `count` to the number of bytes between the position and the end of the file.
bool host_remaining(HostFile file, uint64_t* count, IoError* error);
// `has_pending` says that the script has written more bytes, which have not reached the host.
bool host_write(HostFile file, const char* bytes, size_t size, bool has_pending, IoError* error);
bool host_seek(HostFile file, Whence whence, int64_t offset, uint64_t* position, IoError* error);
bool host_remove(const char* path, size_t size, IoError* error);
bool host_exists(const char* path, size_t size, bool* exists, IoError* error);
bool host_rename(const char* old_path, size_t old_size, const char* new_path, size_t new_size, IoError* error);
