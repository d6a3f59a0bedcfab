#include "lib/io/buffered_file.h"
#include "lib/io/flush_deadline.h"
#include "memory/vm_allocator.h"
#include "runtime/interrupt.h"

#include "lstate.h"

#include <stdlib.h>
#include <string.h>

namespace
{

// Small, because another seek may follow. Each further read ahead doubles it.
constexpr uint32_t kReadSizeAfterSeek = 4096;

File* files = nullptr; // list of open files
lua_State* vm = nullptr;
FlushDeadline flush_deadline;
uint64_t total_pending = 0; // bytes in all buffers
IoError* lost_write_error = nullptr;

// Passes bytes to the host. `has_pending` says that more bytes follow them.
bool write_to_host(File* file, const char* bytes, size_t size, bool has_pending, IoError* error)
{
    bool is_written = host_write(file->handle, bytes, size, has_pending, error);
    // After an error, the host assumes that nothing is pending.
    file->has_announced_pending = is_written && has_pending;
    return is_written;
}

// Writes the buffer to the host. On failure, the bytes are discarded, because the host may have written a part of them.
bool write_pending(File* file, bool has_more, IoError* error)
{
    uint32_t size = file->pending;
    file->pending = 0;
    total_pending -= size;
    return write_to_host(file, file->buffer, size, has_more, error);
}

// Tells the host whether bytes that the script has written are missing from the file.
void announce_missing_bytes(File* file, bool are_missing)
{
    IoError ignored;
    host_write(file->handle, nullptr, 0, are_missing, &ignored);
}

// Returns false and reports the error of an earlier background flush, if there is one.
bool check_deferred_error(File* file, IoError* error)
{
    IoError* deferred = file->deferred_error;
    if (!deferred)
        return true;
    announce_missing_bytes(file, false);
    file->deferred_error = nullptr;
    restore_io_error(deferred, error);
    return false;
}

bool flush(File* file, IoError* error)
{
    if (!check_deferred_error(file, error))
        return false;
    if (file->pending == 0)
        return true;
    file->writes_through = true;
    return write_pending(file, false, error);
}

// Discards bytes that were read ahead and moves the position of the host back to that of the script.
bool discard_read_ahead(File* file, IoError* error)
{
    uint64_t position;
    int64_t ahead = file->read_end - file->read_at;
    file->read_at = file->read_end = 0;
    if (ahead > 0)
        file->next_read_size = kReadSizeAfterSeek;
    return ahead == 0 || host_seek(file->handle, TOOLSCRIPT_SANDBOX_IO_WHENCE_CURRENT, -ahead, &position, error);
}

// Returns true if the run may write this many bytes in addition to all pending ones.
bool is_within_allowance(size_t size)
{
    return write_allowance > total_pending && size <= write_allowance - total_pending;
}

bool can_buffer(File* file, size_t size)
{
    if (file->writes_through || !file->is_writable || size > kBufferSize || !is_within_allowance(size))
        return false;
    if (!file->buffer)
        file->buffer = static_cast<char*>(malloc(kBufferSize));
    return file->buffer != nullptr;
}

// Flushes in the background. The next call on a file reports its error.
void flush_all()
{
    for (File* file = files; file; file = file->next)
    {
        IoError error;
        if (file->pending > 0 && !flush(file, &error))
        {
            file->deferred_error = save_io_error(error);
            announce_missing_bytes(file, true);
        }
    }
}

bool flush_at_interrupt(lua_State*)
{
    if (total_pending == 0)
        return false;
    if (!flush_deadline.has_passed())
        return true;
    flush_all();
    return false;
}

// Flushes a file that the script no longer uses. The run reports the first error.
void flush_unused(File* file)
{
    IoError error;
    if (flush(file, &error))
        return;
    if (!lost_write_error)
        lost_write_error = save_io_error(error);
    announce_missing_bytes(file, true);
}

bool write_through(File* file, const char* bytes, size_t size, IoError* error)
{
    // Writes must count against the allowance in the order in which they were made, or a file would lose bytes that were within it. A hole
    // left by a seek counts too.
    if (file->has_seeked || !is_within_allowance(size))
        flush_all();
    if (!flush(file, error) || !write_to_host(file, bytes, size, false, error))
        return false;
    file->writes_through = false;
    file->has_seeked = false;
    return true;
}

// Called before a file is truncated, which may be open already. Its pending bytes belong to the old contents, and a position past the new end
// leaves a hole.
void prepare_for_truncation()
{
    flush_all();
    for (File* file = files; file; file = file->next)
        file->writes_through = file->has_seeked = true;
}

void remove_from_list(File* file)
{
    (file->previous ? file->previous->next : files) = file->next;
    if (file->next)
        file->next->previous = file->previous;
}

} // namespace

bool file_open(lua_State* L, File* file, const char* path, size_t size, OpenMode mode, IoError* error)
{
    *file = {};
    if (mode == TOOLSCRIPT_SANDBOX_IO_MODE_WRITE || mode == TOOLSCRIPT_SANDBOX_IO_MODE_WRITE_UPDATE)
        prepare_for_truncation();
    if (!host_open(path, size, mode, &file->handle, error))
        return false;
    vm = L->global->mainthread;
    file->next_read_size = kBufferSize;
    file->is_open = true;
    file->is_writable = mode != TOOLSCRIPT_SANDBOX_IO_MODE_READ && mode != TOOLSCRIPT_SANDBOX_IO_MODE_MODULE;
    file->writes_through = true;
    file->next = files;
    if (files)
        files->previous = file;
    files = file;
    return true;
}

bool file_fill(lua_State* L, File* file, IoError* error)
{
    if (file->read_at < file->read_end)
        return true;
    if (!flush(file, error))
        return false;
    if (!file->buffer)
        file->buffer = static_cast<char*>(allocate_block(L, kBufferSize));
    size_t count;
    if (!host_read(file->handle, file->buffer, file->next_read_size, &count, error))
        return false;
    file->read_at = 0;
    file->read_end = uint32_t(count);
    file->next_read_size = file->next_read_size < kBufferSize ? file->next_read_size * 2 : kBufferSize;
    return true;
}

bool file_remaining(File* file, uint64_t* count, IoError* error)
{
    return flush(file, error) && host_remaining(file->handle, count, error);
}

bool file_write(File* file, const char* bytes, size_t size, IoError* error)
{
    if (!check_deferred_error(file, error) || !discard_read_ahead(file, error))
        return false;
    if (size == 0)
        return true;
    if (!can_buffer(file, size))
        return write_through(file, bytes, size, error);
    if (size > kBufferSize - file->pending)
    {
        if (!write_pending(file, true, error))
            return false;
        // A loop that fills one buffer after another must not keep the other files pending.
        flush_all();
    }
    else if (!file->has_announced_pending && !write_to_host(file, nullptr, 0, true, error))
        return false;
    if (total_pending == 0)
    {
        flush_deadline.start();
        request_interrupt(vm, InterruptSlot::flush_files, flush_at_interrupt);
    }
    else
        flush_deadline.postpone();
    memcpy(file->buffer + file->pending, bytes, size);
    file->pending += uint32_t(size);
    total_pending += size;
    return true;
}

bool file_seek(File* file, Whence whence, int64_t offset, uint64_t* position, IoError* error)
{
    if (!flush(file, error))
        return false;
    int64_t ahead = file->read_end - file->read_at;
    if (whence == TOOLSCRIPT_SANDBOX_IO_WHENCE_CURRENT && offset == 0)
    {
        // Only queries the position, so the bytes that were read ahead stay valid.
        if (!host_seek(file->handle, whence, 0, position, error))
            return false;
        *position -= uint64_t(ahead);
        return true;
    }
    if (whence == TOOLSCRIPT_SANDBOX_IO_WHENCE_CURRENT && __builtin_sub_overflow(offset, ahead, &offset))
        offset = INT64_MIN;
    if (!host_seek(file->handle, whence, offset, position, error))
        return false;
    file->read_at = file->read_end = 0;
    file->next_read_size = kReadSizeAfterSeek;
    file->writes_through = true;
    file->has_seeked = true;
    return true;
}

bool file_flush(File* file, IoError* error)
{
    return flush(file, error);
}

bool file_close(File* file, IoError* error)
{
    bool is_flushed = flush(file, error);
    toolscript_sandbox_io_file_drop_own(file->handle);
    free(file->buffer);
    file->buffer = nullptr;
    file->is_open = false;
    remove_from_list(file);
    return is_flushed;
}

void file_drop(File* file)
{
    flush_unused(file);
    IoError ignored;
    file_close(file, &ignored);
}

bool files_any_open()
{
    return files != nullptr;
}

void files_flush()
{
    flush_all();
}

const IoError* files_finish()
{
    for (File* file = files; file; file = file->next)
        flush_unused(file);
    return lost_write_error;
}
