// An open file: a handle of the host with a buffer in the guest.
//
// Small reads and writes use the buffer only. The host reads and writes whole blocks, directly from and to the buffer.
#pragma once

#include "lib/io/host_file.h"

constexpr uint32_t kBufferSize = 64 * 1024;

struct File
{
    HostFile handle;
    File* previous; // links of the list of open files
    File* next;
    char* buffer;     // holds either bytes read ahead or bytes to write
    uint32_t read_at; // bytes read ahead: [read_at, read_end)
    uint32_t read_end;
    uint32_t pending;        // bytes to write: [0, pending)
    uint32_t next_read_size; // the number of bytes to read ahead next
    IoError* deferred_error; // of a flush that no call of the script was waiting for
    bool is_open;
    bool is_writable;
    bool has_announced_pending; // the host knows that bytes are pending
    bool writes_through;        // the next write bypasses the buffer
    bool has_seeked;            // since the last write, maybe past the end of the file
};

// All return false and set the error on failure.
bool file_open(lua_State* L, File* file, const char* path, size_t size, OpenMode mode, IoError* error);
// Reads ahead if the buffer has no bytes to read. Afterwards, `read_at == read_end` means the end of the file.
bool file_fill(lua_State* L, File* file, IoError* error);
// Sets `count` to the number of bytes that the host has yet to return before the end of the file.
bool file_remaining(File* file, uint64_t* count, IoError* error);
bool file_write(File* file, const char* bytes, size_t size, IoError* error);
bool file_seek(File* file, Whence whence, int64_t offset, uint64_t* position, IoError* error);
bool file_flush(File* file, IoError* error);
// Closes the file even if flushing fails.
bool file_close(File* file, IoError* error);
// Closes a file that the script no longer refers to. An error is saved for `files_finish`.
void file_drop(File* file);

bool files_any_open();
// Flushes all files. The next call on a file reports its error.
void files_flush();
// Flushes all files at the end of a run. Returns the first write error that was not reported to the script, or null.
const IoError* files_finish();
