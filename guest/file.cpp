#include "file.h"

#include "lstate.h"

#include <stdlib.h>
#include <string.h>

namespace
{

// What the host gives in one call.
constexpr size_t kBlock = 1 << 20;
// The first block after a seek, which may be followed by another seek.
constexpr uint32_t kFirstBlock = 4096;

// Steps of a script (calls, returns, turns of a loop) that bytes may wait for: about a millisecond of work. A buffered write
// gives some back, as a loop that does nothing but write will have its buffer full soon.
constexpr int kSteps = 16 * 1024;
constexpr int kStepsOfWrite = 4;

File* files = nullptr;
lua_State* vm = nullptr;
int steps = 0;
uint64_t allowance = 0; // what the host last said may still be written
uint64_t waiting = 0;   // in all buffers
Problem* lost = nullptr;

// Messages of the host's are shorter than this.
char message[8 * 1024];

toolscript_sandbox_io_borrow_file_t borrow(const File* file)
{
    return toolscript_sandbox_io_borrow_file(file->handle);
}

Problem without_text = {TOOLSCRIPT_SANDBOX_IO_ERROR_REFUSED, 5, "Input/output error", 18};

Problem* copy(const Problem& problem)
{
    Problem* kept = static_cast<Problem*>(malloc(sizeof(Problem) + problem.size));
    if (!kept)
        return &without_text;
    char* text = reinterpret_cast<char*>(kept + 1);
    memcpy(text, problem.text, problem.size);
    *kept = {problem.kind, problem.number, text, problem.size};
    return kept;
}

void forget(Problem* problem)
{
    if (problem != &without_text)
        free(problem);
}

// Passes bytes to the host; `more` are waiting behind them.
bool put(File* file, const char* bytes, size_t size, bool more, Problem* problem)
{
    unprepared_list_u8_t list = list_of(bytes, size);
    toolscript_sandbox_io_error_t error;
    Landing landing;
    if (!toolscript_sandbox_io_method_file_write(borrow(file), &list, more, &allowance, &error))
    {
        file->announced = false; // nothing waits behind bytes that were not written
        *problem = problem_of(error);
        return false;
    }
    return true;
}

// Empties the buffer into the file. What can't be written is gone: a part of it may have been.
bool put_waiting(File* file, bool more, Problem* problem)
{
    uint32_t size = file->waiting;
    file->waiting = 0;
    file->announced = more;
    waiting -= size;
    return put(file, file->buffer, size, more, problem);
}

// Tells the host whether the file lacks bytes that the script has written.
void announce(File* file, bool lacking)
{
    Problem ignored;
    put(file, nullptr, 0, lacking, &ignored);
}

// A problem that came up while the script was elsewhere is told to the next call.
bool settle(File* file, Problem* problem)
{
    Problem* deferred = file->deferred;
    if (!deferred)
        return true;
    announce(file, false);
    file->deferred = nullptr;
    *problem = *deferred;
    problem->size = deferred->size < sizeof(message) ? deferred->size : sizeof(message);
    problem->text = static_cast<char*>(memcpy(message, deferred->text, problem->size));
    forget(deferred);
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

bool seek(File* file, toolscript_sandbox_io_whence_t whence, int64_t offset, uint64_t* offset_now, Problem* problem)
{
    toolscript_sandbox_io_position_t position;
    toolscript_sandbox_io_error_t error;
    Landing landing;
    if (!toolscript_sandbox_io_method_file_seek(borrow(file), whence, offset, &position, &error))
    {
        *problem = problem_of(error);
        return false;
    }
    allowance = position.allowance;
    *offset_now = position.offset;
    return true;
}

// The host's position is behind what was read ahead; a write belongs where the script is.
bool unread(File* file, Problem* problem)
{
    uint64_t position;
    int64_t ahead = file->end - file->at;
    file->at = file->end = 0;
    if (ahead > 0)
        file->block = kFirstBlock;
    return ahead == 0 || seek(file, TOOLSCRIPT_SANDBOX_IO_WHENCE_CURRENT, -ahead, &position, problem);
}

// Whether so many bytes are within what may be written, with all that waits already.
bool is_allowed(size_t size)
{
    return allowance > waiting && size <= allowance - waiting;
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
            file->deferred = copy(problem);
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
        lost = copy(problem);
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

Problem problem_of(const toolscript_sandbox_io_error_t& error)
{
    if (error.tag == TOOLSCRIPT_SANDBOX_IO_ERROR_REFUSED)
    {
        const unprepared_string_t& text = error.val.refused.message;
        return {error.tag, error.val.refused.number, reinterpret_cast<char*>(text.ptr), text.len};
    }
    const unprepared_string_t& text = error.val.limit;
    return {error.tag, 0, reinterpret_cast<char*>(text.ptr), text.len};
}

Landing::Landing()
    : Landing(message, sizeof(message))
{
}

Landing::Landing(char* place, size_t size)
{
    guest_land(place, size);
}

Landing::~Landing()
{
    guest_land(nullptr, 0);
}

bool file_open(lua_State* L, File* file, const char* path, size_t size, toolscript_sandbox_io_mode_t mode, Problem* problem)
{
    *file = {};
    bool empties = mode == TOOLSCRIPT_SANDBOX_IO_MODE_WRITE || mode == TOOLSCRIPT_SANDBOX_IO_MODE_WRITE_UPDATE;
    if (empties)
        before_emptying();
    unprepared_list_u8_t list = list_of(path, size);
    toolscript_sandbox_io_opened_t opened;
    toolscript_sandbox_io_error_t error;
    Landing landing;
    if (!toolscript_sandbox_io_open(&list, mode, &opened, &error))
    {
        *problem = problem_of(error);
        return false;
    }
    vm = L->global->mainthread;
    allowance = opened.allowance;
    file->handle = opened.file;
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
    if (!file_read_into(file, file->buffer, file->block, &count, problem))
        return false;
    file->at = 0;
    file->end = uint32_t(count);
    file->block = file->block < kBuffer ? file->block * 2 : kBuffer;
    return true;
}

bool file_read_into(File* file, char* place, size_t size, size_t* count, Problem* problem)
{
    unprepared_list_u8_t list;
    toolscript_sandbox_io_error_t error;
    // A message may land there too.
    Landing landing(place, size < kBuffer ? kBuffer : size);
    if (!toolscript_sandbox_io_method_file_read(borrow(file), uint32_t(size < kBlock ? size : kBlock), &list, &error))
    {
        *problem = problem_of(error);
        return false;
    }
    *count = list.len;
    return true;
}

bool file_remaining(File* file, uint64_t* count, Problem* problem)
{
    toolscript_sandbox_io_error_t error;
    if (!empty_buffer(file, problem))
        return false;
    Landing landing;
    if (!toolscript_sandbox_io_method_file_remaining(borrow(file), count, &error))
    {
        *problem = problem_of(error);
        return false;
    }
    return true;
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
    }
    else if (!file->announced)
    {
        if (!put(file, nullptr, 0, true, problem))
            return false;
        file->announced = true;
    }
    if (waiting == 0)
    {
        steps = kSteps;
        guest_interrupt_soon(vm);
    }
    else if (steps < kSteps)
        steps += kStepsOfWrite;
    memcpy(file->buffer + file->waiting, bytes, size);
    file->waiting += uint32_t(size);
    waiting += size;
    return true;
}

bool file_seek(File* file, toolscript_sandbox_io_whence_t whence, int64_t offset, uint64_t* position, Problem* problem)
{
    if (!empty_buffer(file, problem))
        return false;
    int64_t ahead = file->end - file->at;
    if (whence == TOOLSCRIPT_SANDBOX_IO_WHENCE_CURRENT && offset == 0)
    {
        // Only asks, so what was read ahead stays good.
        if (!seek(file, whence, 0, position, problem))
            return false;
        *position -= uint64_t(ahead);
        return true;
    }
    if (whence == TOOLSCRIPT_SANDBOX_IO_WHENCE_CURRENT && __builtin_sub_overflow(offset, ahead, &offset))
        offset = INT64_MIN;
    if (!seek(file, whence, offset, position, problem))
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
    if (--steps > 0)
        return true;
    flush_all();
    return false;
}

const Problem* files_finish()
{
    for (File* file = files; file; file = file->next)
        keep_if_lost(file);
    return lost;
}
