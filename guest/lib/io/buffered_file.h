// An open file as the guest sees it: a handle of the host's, with a buffer in front of it.
//
// Small reads and writes stay in here. The host is asked for blocks, and told of blocks; its answers land in the buffer itself.
#pragma once

#include "lib/io/host_file.h"

constexpr uint32_t kBuffer = 64 * 1024;

struct File
{
    HostFile handle;
    File* previous; // all open files are in a list
    File* next;
    char* buffer; // either bytes that were read ahead, or bytes that wait to be written
    uint32_t at;  // read ahead: [at, end)
    uint32_t end;
    uint32_t waiting;  // to be written: [0, waiting)
    uint32_t block;    // how much to read ahead next
    Problem* deferred; // of a write that no call of the script's was waiting for
    bool open;
    bool writable;
    bool announced; // the host knows that bytes wait
    bool through;   // the next write goes to the host at once
    bool sought;    // the position was moved, maybe past the end
};

// All answer false when there is a problem.
bool file_open(lua_State* L, File* file, const char* path, size_t size, OpenMode mode, Problem* problem);
// Reads ahead, if nothing is left of what was read. `at == end` is the end of the file then.
bool file_fill(lua_State* L, File* file, Problem* problem);
// Bytes from the position to the end of the file.
bool file_remaining(File* file, uint64_t* count, Problem* problem);
bool file_write(File* file, const char* bytes, size_t size, Problem* problem);
bool file_seek(File* file, Whence whence, int64_t offset, uint64_t* position, Problem* problem);
bool file_flush(File* file, Problem* problem);
// Closed it is in any case.
bool file_close(File* file, Problem* problem);
// For a file that the script has let go of. A problem is kept for `files_finish`.
void file_drop(File* file);

bool files_any_open();
// Called at each step of the script while bytes wait: writes them when they have waited for long enough. False if none wait.
bool files_flush_when_due();
// Notes that a step of the script's was a long one, by the bytes that it has worked on.
void files_note_work(size_t bytes);
// Writes all that waits. Answers with a problem that no call has told the script of, or null.
const Problem* files_finish();
