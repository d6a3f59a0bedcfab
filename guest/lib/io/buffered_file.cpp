#include "lib/io/buffered_file.h"

#include "lstate.h"

#include <stdlib.h>
#include <string.h>

namespace
{

// The first block after a seek, which may be followed by another seek.
constexpr uint32_t kFirstBlock = 4096;

// Steps of a script (calls, returns, turns of a loop) that bytes may wait for: some 100 µs of work. A buffered write gives some
// back, as a loop that does nothing but write will have its buffer full soon; but not for ever.
constexpr int64_t kSteps = 1024;
constexpr int64_t kStepsOfWrite = 4;
constexpr int64_t kMostSteps = 512 * 1024;

// One step may be a long call of a library function: what it allocates or looks at counts too.
constexpr size_t kBytesOfStep = 64;

File* files = nullptr;
lua_State* vm = nullptr;
int64_t steps = 0;      // until the bytes that wait are written
int64_t most_steps = 0; // the same, whatever was given back
uint64_t waiting = 0;   // in all buffers
Problem* lost = nullptr;

// Passes bytes to the host; `more` are waiting behind them.
bool put(File* file, const char* bytes, size_t size, bool more, Problem* problem)
{
    bool written = host_write(file->handle, bytes, size, more, problem);
    // Nothing waits behind bytes that were not written.
    file->announced = written && more;
    return written;
}

// Empties the buffer into the file. What can't be written is gone: a part of it may have been.
bool put_waiting(File* file, bool more, Problem* problem)
{
    uint32_t size = file->waiting;
    file->waiting = 0;
    waiting -= size;
    return put(file, file->buffer, size, more, problem);
}

// Tells the host whether the file lacks bytes that the script has written.
void announce(File* file, bool lacking)
{
    Problem ignored;
    host_write(file->handle, nullptr, 0, lacking, &ignored);
}

// A problem that came up while the script was elsewhere is told to the next call.
bool settle(File* file, Problem* problem)
{
    Problem* deferred = file->deferred;
    if (!deferred)
        return true;
    announce(file, false);
    file->deferred = nullptr;
    problem_forget(deferred, problem);
    return false;
}

bool empty_buffer(File* file, Problem* problem)
{
    if (!settle(file, problem))
        return false;
    if (file->waiting == 0)
        return true;
    file->through = true;
    return put_waiting(file, false, problem);
}

// The host's position is behind what was read ahead; a write belongs where the script is.
bool unread(File* file, Problem* problem)
{
    uint64_t position;
    int64_t ahead = file->end - file->at;
    file->at = file->end = 0;
    if (ahead > 0)
        file->block = kFirstBlock;
    return ahead == 0 || host_seek(file->handle, TOOLSCRIPT_SANDBOX_IO_WHENCE_CURRENT, -ahead, &position, problem);
}

// Whether so many bytes are within what may be written, with all that waits already.
bool is_allowed(size_t size)
{
    return host_allowance > waiting && size <= host_allowance - waiting;
}

bool may_wait(File* file, size_t size)
{
    if (file->through || !file->writable || size > kBuffer || !is_allowed(size))
        return false;
    if (!file->buffer)
        file->buffer = static_cast<char*>(malloc(kBuffer));
    return file->buffer != nullptr;
}

// Flushes for other reasons than a call on the file: a problem is told to the next one.
void flush_all()
{
    for (File* file = files; file; file = file->next)
    {
        Problem problem;
        if (file->waiting > 0 && !empty_buffer(file, &problem))
        {
            file->deferred = problem_keep(problem);
            announce(file, true);
        }
    }
}

// Flushes a file that the script does nothing with any more. The first problem is the run's.
void keep_if_lost(File* file)
{
    Problem problem;
    if (empty_buffer(file, &problem))
        return;
    if (!lost)
        lost = problem_keep(problem);
    announce(file, true);
}

bool write_through(File* file, const char* bytes, size_t size, Problem* problem)
{
    // What was written first is counted first, or a file would lose bytes that were within the limit. A seek may have left a hole,
    // which counts too.
    if (file->sought || !is_allowed(size))
        flush_all();
    if (!empty_buffer(file, problem) || !put(file, bytes, size, false, problem))
        return false;
    file->through = false;
    file->sought = false;
    return true;
}

// A file that is about to lose its contents may be open already: what waits for it belongs to the old ones, and a position behind
// the new end is a hole.
void before_emptying()
{
    flush_all();
    for (File* file = files; file; file = file->next)
        file->through = file->sought = true;
}

void unlink(File* file)
{
    (file->previous ? file->previous->next : files) = file->next;
    if (file->next)
        file->next->previous = file->previous;
}

} // namespace

bool file_open(lua_State* L, File* file, const char* path, size_t size, OpenMode mode, Problem* problem)
{
    *file = {};
    if (mode == TOOLSCRIPT_SANDBOX_IO_MODE_WRITE || mode == TOOLSCRIPT_SANDBOX_IO_MODE_WRITE_UPDATE)
        before_emptying();
    if (!host_open(path, size, mode, &file->handle, problem))
        return false;
    vm = L->global->mainthread;
    file->block = kBuffer;
    file->open = true;
    file->writable = mode != TOOLSCRIPT_SANDBOX_IO_MODE_READ;
    file->through = true;
    file->next = files;
    if (files)
        files->previous = file;
    files = file;
    return true;
}

bool file_fill(lua_State* L, File* file, Problem* problem)
{
    if (file->at < file->end)
        return true;
    if (!empty_buffer(file, problem))
        return false;
    if (!file->buffer)
        file->buffer = static_cast<char*>(guest_allocate_block(L, kBuffer));
    size_t count;
    if (!host_read(file->handle, file->buffer, file->block, &count, problem))
        return false;
    file->at = 0;
    file->end = uint32_t(count);
    file->block = file->block < kBuffer ? file->block * 2 : kBuffer;
    return true;
}

bool file_remaining(File* file, uint64_t* count, Problem* problem)
{
    return empty_buffer(file, problem) && host_remaining(file->handle, count, problem);
}

bool file_write(File* file, const char* bytes, size_t size, Problem* problem)
{
    if (!settle(file, problem) || !unread(file, problem))
        return false;
    if (size == 0)
        return true;
    if (!may_wait(file, size))
        return write_through(file, bytes, size, problem);
    if (size > kBuffer - file->waiting)
    {
        if (!put_waiting(file, true, problem))
            return false;
        // A loop that fills one buffer after another would keep the others waiting.
        flush_all();
    }
    else if (!file->announced && !put(file, nullptr, 0, true, problem))
        return false;
    if (waiting == 0)
    {
        steps = kSteps;
        most_steps = kMostSteps;
        guest_interrupt_soon(vm);
    }
    else if (steps < kSteps)
        steps += kStepsOfWrite;
    memcpy(file->buffer + file->waiting, bytes, size);
    file->waiting += uint32_t(size);
    waiting += size;
    return true;
}

bool file_seek(File* file, Whence whence, int64_t offset, uint64_t* position, Problem* problem)
{
    if (!empty_buffer(file, problem))
        return false;
    int64_t ahead = file->end - file->at;
    if (whence == TOOLSCRIPT_SANDBOX_IO_WHENCE_CURRENT && offset == 0)
    {
        // Only asks, so what was read ahead stays good.
        if (!host_seek(file->handle, whence, 0, position, problem))
            return false;
        *position -= uint64_t(ahead);
        return true;
    }
    if (whence == TOOLSCRIPT_SANDBOX_IO_WHENCE_CURRENT && __builtin_sub_overflow(offset, ahead, &offset))
        offset = INT64_MIN;
    if (!host_seek(file->handle, whence, offset, position, problem))
        return false;
    file->at = file->end = 0;
    file->block = kFirstBlock;
    file->through = true;
    file->sought = true;
    return true;
}

bool file_flush(File* file, Problem* problem)
{
    return empty_buffer(file, problem);
}

bool file_close(File* file, Problem* problem)
{
    bool flushed = empty_buffer(file, problem);
    toolscript_sandbox_io_file_drop_own(file->handle);
    free(file->buffer);
    file->buffer = nullptr;
    file->open = false;
    unlink(file);
    return flushed;
}

void file_drop(File* file)
{
    keep_if_lost(file);
    Problem ignored;
    file_close(file, &ignored);
}

bool files_any_open()
{
    return files != nullptr;
}

bool files_flush_when_due()
{
    if (waiting == 0)
        return false;
    if (--steps > 0 && --most_steps > 0)
        return true;
    flush_all();
    return false;
}

void files_note_work(size_t bytes)
{
    steps -= int64_t(bytes / kBytesOfStep);
    most_steps -= int64_t(bytes / kBytesOfStep);
}

const Problem* files_finish()
{
    for (File* file = files; file; file = file->next)
        keep_if_lost(file);
    return lost;
}
