#include "wasi-command/io.h"
#include "wasi-command/touched_files.h"
#include "wasi-command/directory.h"

namespace
{

constexpr size_t kMaxHandles = 64;
constexpr size_t kMaxBlock = 1 << 20;

struct Handle
{
    bool open = false;
    bool waiting = false; // the guest's word that it holds more bytes for it
    Mode mode = 0;
    Descriptor file = 0;
    uint64_t position = 0;
    FilePath path;
};

Handle handles[kMaxHandles];
Quota quota;

std::string_view view(const unprepared_list_u8_t* bytes)
{
    return {reinterpret_cast<char*>(bytes->ptr), bytes->len};
}

Handle& handle_of(toolscript_sandbox_io_borrow_file_t file)
{
    return handles[file.__handle];
}

bool size_of(const Handle& handle, uint64_t* size, Error* error)
{
    __wasi_filestat_t filestat;
    Errno number = preview1_fd_filestat_get(handle.file, &filestat);
    if (number != __WASI_ERRNO_SUCCESS)
        return fail_system(error, handle.path, number);
    *size = filestat.size;
    return true;
}

void close(Handle& handle)
{
    if (handle.waiting)
        touched_cut(handle.path, mode_appends(handle.mode));
    preview1_fd_close(handle.file);
    handle.open = false;
}

// From the position on, until there are so many or the file ends.
bool read_block(Handle& handle, uint8_t* place, size_t most, size_t* count, Error* error)
{
    *count = 0;
    while (*count < most)
    {
        __wasi_iovec_t rest = {place + *count, most - *count};
        size_t done = 0;
        Errno number = preview1_fd_pread(handle.file, &rest, 1, handle.position, &done);
        if (number != __WASI_ERRNO_SUCCESS)
            return fail_system(error, handle.path, number);
        if (done == 0)
            break;
        *count += done;
        handle.position += done;
    }
    return true;
}

Errno write_some(Handle& handle, const uint8_t* bytes, size_t size, size_t* done)
{
    __wasi_ciovec_t rest = {bytes, size};
    return mode_appends(handle.mode) ? preview1_fd_write(handle.file, &rest, 1, done)
                                     : preview1_fd_pwrite(handle.file, &rest, 1, handle.position, done);
}

bool write_block(Handle& handle, const uint8_t* bytes, size_t size, Error* error)
{
    bool append = mode_appends(handle.mode);
    uint64_t length;
    if (!size_of(handle, &length, error))
        return false;
    uint64_t hole = !append && handle.position > length ? handle.position - length : 0;
    if (!quota.take(hole > UINT64_MAX - size ? UINT64_MAX : hole + size, error))
        return false;
    for (size_t at = 0; at < size;)
    {
        size_t done = 0;
        Errno number = write_some(handle, bytes + at, size - at, &done);
        if (number == __WASI_ERRNO_SUCCESS && done == 0)
            number = __WASI_ERRNO_IO;
        if (number != __WASI_ERRNO_SUCCESS)
            return fail_system(error, handle.path, number);
        touched_mark(handle.path, append);
        at += done;
        handle.position += done;
    }
    // Where the end is now is the system's to tell: others may append too.
    return !append || size_of(handle, &handle.position, error);
}

bool open_handle(Handle& handle, Mode mode, Error* error)
{
    if (mode_writes(mode) && !touched_check(handle.path, error))
        return false;
    bool made = false;
    if (!walk_open(handle.path, mode, &quota, &handle.file, &made, error))
        return false;
    handle.open = true;
    handle.waiting = false;
    handle.mode = mode;
    handle.position = 0;
    if (made || mode_empties(mode))
        touched_mark(handle.path, made && mode_appends(mode));
    // As in C: the position of `a` is at the end from the start on, that of `a+` only once something was written.
    if (mode != TOOLSCRIPT_SANDBOX_IO_MODE_APPEND || size_of(handle, &handle.position, error))
        return true;
    close(handle);
    return false;
}

bool check_reads(const Handle& handle, Error* error)
{
    return mode_reads(handle.mode) || fail_system(error, handle.path, __WASI_ERRNO_BADF);
}

} // namespace

void files_begin(const Quota& given)
{
    quota = given;
}

void files_end()
{
    for (Handle& handle : handles)
        if (handle.open)
            close(handle);
}

bool files_read_whole(std::string_view path, uint8_t* place, size_t most, size_t* size, Error* error)
{
    Handle& handle = handles[0];
    uint64_t length;
    if (!path_parse(path, &handle.path, error) || !open_handle(handle, TOOLSCRIPT_SANDBOX_IO_MODE_READ, error))
        return false;
    bool done = size_of(handle, &length, error);
    if (done && length > most)
        done = fail_limit(error, "%.*s is larger than %zu bytes", int(path.size()), path.data(), most);
    if (done)
        done = read_block(handle, place, size_t(length), size, error);
    close(handle);
    return done;
}

extern "C"
{

    bool toolscript_sandbox_io_open(unprepared_list_u8_t* path, Mode mode, toolscript_sandbox_io_opened_t* opened, Error* error)
    {
        // The host tells a bad path before a lack of handles.
        static FilePath parsed;
        if (!path_parse(view(path), &parsed, error))
            return false;
        size_t number = 0;
        while (number < kMaxHandles && handles[number].open)
            number++;
        if (number == kMaxHandles)
            return fail_limit(error, "too many open files (max %zu)", kMaxHandles);
        handles[number].path = parsed;
        if (!open_handle(handles[number], mode, error))
            return false;
        *opened = {{int32_t(number)}, quota.allowance()};
        return true;
    }

    bool toolscript_sandbox_io_method_file_read(toolscript_sandbox_io_borrow_file_t file, uint32_t most, unprepared_list_u8_t* bytes, Error* error)
    {
        uint64_t rest;
        if (!toolscript_sandbox_io_method_file_remaining(file, &rest, error))
            return false;
        rest = rest < kMaxBlock ? rest : kMaxBlock;
        most = uint32_t(rest < most ? rest : most);
        // As a host would have it: where the guest wants its bytes to land.
        bytes->ptr = static_cast<uint8_t*>(cabi_realloc(nullptr, 0, 1, most));
        return read_block(handle_of(file), bytes->ptr, most, &bytes->len, error);
    }

    bool toolscript_sandbox_io_method_file_remaining(toolscript_sandbox_io_borrow_file_t file, uint64_t* count, Error* error)
    {
        const Handle& handle = handle_of(file);
        uint64_t size;
        if (!check_reads(handle, error) || !size_of(handle, &size, error))
            return false;
        *count = size > handle.position ? size - handle.position : 0;
        return true;
    }

    bool toolscript_sandbox_io_method_file_write(toolscript_sandbox_io_borrow_file_t file, unprepared_list_u8_t* bytes, bool waiting,
                                                 uint64_t* allowance, Error* error)
    {
        Handle& handle = handle_of(file);
        if (!mode_writes(handle.mode))
            return fail_system(error, handle.path, __WASI_ERRNO_BADF);
        // After an error nothing is on its way.
        handle.waiting = false;
        if (bytes->len && !write_block(handle, bytes->ptr, bytes->len, error))
            return false;
        handle.waiting = waiting;
        *allowance = quota.allowance();
        return true;
    }

    bool toolscript_sandbox_io_method_file_seek(toolscript_sandbox_io_borrow_file_t file, toolscript_sandbox_io_whence_t from, int64_t offset,
                                                toolscript_sandbox_io_position_t* position, Error* error)
    {
        Handle& handle = handle_of(file);
        uint64_t start = from == TOOLSCRIPT_SANDBOX_IO_WHENCE_CURRENT ? handle.position : 0;
        if (from == TOOLSCRIPT_SANDBOX_IO_WHENCE_END && !size_of(handle, &start, error))
            return false;
        int64_t sum;
        if (__builtin_add_overflow(int64_t(start), offset, &sum) || sum < 0)
            return fail_system(error, handle.path, __WASI_ERRNO_INVAL);
        handle.position = uint64_t(sum);
        *position = {handle.position, quota.allowance()};
        return true;
    }

    bool toolscript_sandbox_io_remove(unprepared_list_u8_t* path, Error* error)
    {
        FilePath parsed;
        if (!path_parse(view(path), &parsed, error) || !touched_check(parsed, error) || !walk_remove(parsed, error))
            return false;
        touched_mark(parsed, false);
        return true;
    }

    void toolscript_sandbox_io_file_drop_own(toolscript_sandbox_io_own_file_t file)
    {
        close(handles[file.__handle]);
    }

    toolscript_sandbox_io_borrow_file_t toolscript_sandbox_io_borrow_file(toolscript_sandbox_io_own_file_t file)
    {
        return {file.__handle};
    }

} // extern "C"
