#include "wasi-command/io.h"
#include "memory/canonical_abi.h"
#include "wasi-command/directory.h"
#include "wasi-command/touched_files.h"

namespace
{

constexpr size_t kMaxHandles = 64;
constexpr size_t kMaxBlock = 1 << 20;

struct Handle
{
    bool is_open = false;
    bool has_pending = false; // bytes for the file are still in the buffer of `lib/io/buffered_file.cpp`
    Mode mode = 0;
    Descriptor file = 0;
    uint64_t position = 0;
    FilePath path;
};

Handle handles[kMaxHandles];
Quota quota;

std::string_view view(const guest_list_u8_t* bytes)
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

void close_handle(Handle& handle)
{
    if (handle.has_pending)
        touched_mark_incomplete(handle.path, mode_appends(handle.mode));
    preview1_fd_close(handle.file);
    handle.is_open = false;
}

// Reads up to `size` bytes at the position. Reads fewer only at the end of the file.
bool read_block(Handle& handle, uint8_t* buffer, size_t size, size_t* count, Error* error)
{
    *count = 0;
    while (*count < size)
    {
        __wasi_iovec_t rest = {buffer + *count, size - *count};
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
    if (!quota.reserve(hole > UINT64_MAX - size ? UINT64_MAX : hole + size, error))
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
    // Asks for the new end of the file, because other programs may append too.
    return !append || size_of(handle, &handle.position, error);
}

bool open_handle(Handle& handle, Mode mode, Error* error)
{
    if (mode_writes(mode) && !touched_check_limit(handle.path, error))
        return false;
    bool created = false;
    if (!open_regular_file(handle.path, mode, &quota, &handle.file, &created, error))
        return false;
    handle.is_open = true;
    handle.has_pending = false;
    handle.mode = mode;
    handle.position = 0;
    if (created || mode_truncates(mode))
        touched_mark(handle.path, created && mode_appends(mode));
    // As in C, mode `a` starts at the end of the file, and `a+` moves there with the first write.
    if (mode != TOOLSCRIPT_SANDBOX_IO_MODE_APPEND || size_of(handle, &handle.position, error))
        return true;
    close_handle(handle);
    return false;
}

bool check_reads(const Handle& handle, Error* error)
{
    return mode_reads(handle.mode) || fail_system(error, handle.path, __WASI_ERRNO_BADF);
}

} // namespace

void set_quota(const Quota& run_quota)
{
    quota = run_quota;
}

void close_all_files()
{
    for (Handle& handle : handles)
        if (handle.is_open)
            close_handle(handle);
}

bool read_whole_file(std::string_view path, uint8_t* buffer, size_t max_size, size_t* size, Error* error)
{
    Handle& handle = handles[0];
    uint64_t length;
    if (!path_parse(path, Access::read, &handle.path, error) || !open_handle(handle, TOOLSCRIPT_SANDBOX_IO_MODE_READ, error))
        return false;
    bool succeeded = size_of(handle, &length, error);
    if (succeeded && length > max_size)
        succeeded = fail_limit(error, "%.*s is larger than %zu bytes", int(path.size()), path.data(), max_size);
    if (succeeded)
        succeeded = read_block(handle, buffer, size_t(length), size, error);
    close_handle(handle);
    return succeeded;
}

extern "C"
{

    bool toolscript_sandbox_io_open(guest_list_u8_t* path, Mode mode, toolscript_sandbox_io_opened_t* opened, Error* error)
    {
        // Reports an invalid path before the limit of open files, as the native host does.
        static FilePath parsed;
        if (!path_parse(view(path), mode_writes(mode) ? Access::write : Access::read, &parsed, error))
            return false;
        size_t number = 0;
        while (number < kMaxHandles && handles[number].is_open)
            number++;
        if (number == kMaxHandles)
            return fail_limit(error, "too many open files (max %zu)", kMaxHandles);
        handles[number].path = parsed;
        if (!open_handle(handles[number], mode, error))
            return false;
        *opened = {{int32_t(number)}, quota.allowance()};
        return true;
    }

    bool toolscript_sandbox_io_method_file_read(toolscript_sandbox_io_borrow_file_t file, uint32_t max_size, guest_list_u8_t* bytes, Error* error)
    {
        uint64_t rest;
        if (!toolscript_sandbox_io_method_file_remaining(file, &rest, error))
            return false;
        rest = rest < kMaxBlock ? rest : kMaxBlock;
        max_size = uint32_t(rest < max_size ? rest : max_size);
        // Allocates as a host does, so that the receive buffer is used.
        bytes->ptr = static_cast<uint8_t*>(cabi_realloc(nullptr, 0, 1, max_size));
        return read_block(handle_of(file), bytes->ptr, max_size, &bytes->len, error);
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

    bool toolscript_sandbox_io_method_file_write(toolscript_sandbox_io_borrow_file_t file, guest_list_u8_t* bytes, bool has_pending,
                                                 uint64_t* allowance, Error* error)
    {
        Handle& handle = handle_of(file);
        if (!mode_writes(handle.mode))
            return fail_system(error, handle.path, __WASI_ERRNO_BADF);
        // After an error, nothing is pending.
        handle.has_pending = false;
        if (bytes->len && !write_block(handle, bytes->ptr, bytes->len, error))
            return false;
        handle.has_pending = has_pending;
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

    bool toolscript_sandbox_io_remove(guest_list_u8_t* path, Error* error)
    {
        FilePath parsed;
        if (!path_parse(view(path), Access::write, &parsed, error) || !touched_check_limit(parsed, error) || !remove_regular_file(parsed, error))
            return false;
        touched_mark(parsed, false);
        return true;
    }

    bool toolscript_sandbox_io_exists(guest_list_u8_t* path, bool* exists, Error* error)
    {
        FilePath parsed;
        return path_parse(view(path), Access::read, &parsed, error) && entry_exists(parsed, exists, error);
    }

    bool toolscript_sandbox_io_rename(guest_list_u8_t* old_path, guest_list_u8_t* new_path, Error* error)
    {
        FilePath from;
        FilePath to;
        if (!path_parse(view(old_path), Access::write, &from, error) || !path_parse(view(new_path), Access::write, &to, error) ||
            !touched_check_limit(from, error) || !touched_check_limit(to, error) || !rename_regular_file(from, to, &quota, error))
            return false;
        if (from.display() == to.display())
            return true;
        touched_mark(from, false);
        touched_mark(to, false);
        // Later writes through an open handle change the file at its new path.
        for (Handle& handle : handles)
            if (handle.is_open && handle.path.display() == from.display())
                handle.path = to;
        return true;
    }

    void toolscript_sandbox_io_file_drop_own(toolscript_sandbox_io_own_file_t file)
    {
        close_handle(handles[file.__handle]);
    }

    toolscript_sandbox_io_borrow_file_t toolscript_sandbox_io_borrow_file(toolscript_sandbox_io_own_file_t file)
    {
        return {file.__handle};
    }

} // extern "C"
