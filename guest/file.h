// An open file as the guest sees it: a handle of the host's, with a buffer in front of it.
//
// Small reads and writes stay in here. The host is asked for blocks, and told of blocks; its answers land in the buffer itself.
#pragma once

#include "guest.h"

constexpr uint32_t kBuffer = 64 * 1024;

// Why a call to the host did not succeed. The text is valid until the next one.
struct Problem
{
    uint8_t kind; // as in the contract: `TOOLSCRIPT_SANDBOX_IO_ERROR_…`
    int32_t number;
    const char* text;
    size_t size;
};

struct File
{
    toolscript_sandbox_io_own_file_t handle;
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
bool file_open(lua_State* L, File* file, const char* path, size_t size, toolscript_sandbox_io_mode_t mode, Problem* problem);
// Reads ahead, if nothing is left of what was read. `at == end` is the end of the file then.
bool file_fill(lua_State* L, File* file, Problem* problem);
// Reads into a place that has room for `kBuffer` bytes at least, while nothing waits; 0 bytes are the end of the file.
bool file_read_into(File* file, char* place, size_t size, size_t* count, Problem* problem);
// Bytes from the position to the end of the file.
bool file_remaining(File* file, uint64_t* count, Problem* problem);
bool file_write(File* file, const char* bytes, size_t size, Problem* problem);
bool file_seek(File* file, toolscript_sandbox_io_whence_t whence, int64_t offset, uint64_t* position, Problem* problem);
bool file_flush(File* file, Problem* problem);
// Closed it is in any case.
bool file_close(File* file, Problem* problem);
// For a file that the script has let go of. A problem is kept for `files_finish`.
void file_drop(File* file);

Problem problem_of(const toolscript_sandbox_io_error_t& error);

// While it lives, what a call to the host gets lands there, or where messages do. Not for calls that get several texts.
struct Landing
{
    Landing();
    Landing(char* place, size_t size);
    ~Landing();
    Landing(const Landing&) = delete;
    Landing& operator=(const Landing&) = delete;
};

bool files_any_open();
// Called at each step of the script while bytes wait: writes them when they have waited for long enough. False if none wait.
bool files_flush_when_due();
// Writes all that waits. Answers with a problem that no call has told the script of, or null.
const Problem* files_finish();
