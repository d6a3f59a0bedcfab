#include "lib/io/host_file.h"
#include "memory/canonical_abi.h"

uint64_t write_allowance = 0;

namespace
{

// The maximum number of bytes that the host returns from one read.
constexpr size_t kMaxRead = 1 << 20;

// Makes the host write its next list or string to a buffer instead of a new block. Only for calls that return one of them at most.
class ReceiveBuffer
{
public:
    explicit ReceiveBuffer(char* buffer = io_message, size_t size = kMaxMessage)
    {
        set_receive_buffer(buffer, size);
    }

    ~ReceiveBuffer()
    {
        set_receive_buffer(nullptr, 0);
    }

    ReceiveBuffer(const ReceiveBuffer&) = delete;
    ReceiveBuffer& operator=(const ReceiveBuffer&) = delete;
};

bool check(bool succeeded, const toolscript_sandbox_io_error_t& host_error, IoError* error)
{
    if (!succeeded)
        *error = to_io_error(host_error);
    return succeeded;
}

toolscript_sandbox_io_borrow_file_t borrow(HostFile file)
{
    return toolscript_sandbox_io_borrow_file(file);
}

} // namespace

bool host_open(const char* path, size_t size, OpenMode mode, HostFile* file, IoError* error)
{
    guest_list_u8_t list = borrow_bytes(path, size);
    toolscript_sandbox_io_opened_t opened;
    toolscript_sandbox_io_error_t host_error;
    ReceiveBuffer receive_buffer;
    if (!check(toolscript_sandbox_io_open(&list, mode, &opened, &host_error), host_error, error))
        return false;
    *file = opened.file;
    write_allowance = opened.allowance;
    return true;
}

bool host_read(HostFile file, char* buffer, size_t size, size_t* count, IoError* error)
{
    guest_list_u8_t list;
    toolscript_sandbox_io_error_t host_error;
    // Also receives the error message.
    ReceiveBuffer receive_buffer(buffer, size < kMaxMessage ? kMaxMessage : size);
    uint32_t limit = uint32_t(size < kMaxRead ? size : kMaxRead);
    if (!check(toolscript_sandbox_io_method_file_read(borrow(file), limit, &list, &host_error), host_error, error))
        return false;
    *count = list.len;
    return true;
}

bool host_remaining(HostFile file, uint64_t* count, IoError* error)
{
    toolscript_sandbox_io_error_t host_error;
    ReceiveBuffer receive_buffer;
    return check(toolscript_sandbox_io_method_file_remaining(borrow(file), count, &host_error), host_error, error);
}

bool host_write(HostFile file, const char* bytes, size_t size, bool has_pending, IoError* error)
{
    guest_list_u8_t list = borrow_bytes(bytes, size);
    toolscript_sandbox_io_error_t host_error;
    ReceiveBuffer receive_buffer;
    return check(toolscript_sandbox_io_method_file_write(borrow(file), &list, has_pending, &write_allowance, &host_error), host_error, error);
}

bool host_seek(HostFile file, Whence whence, int64_t offset, uint64_t* position, IoError* error)
{
    toolscript_sandbox_io_position_t result;
    toolscript_sandbox_io_error_t host_error;
    ReceiveBuffer receive_buffer;
    if (!check(toolscript_sandbox_io_method_file_seek(borrow(file), whence, offset, &result, &host_error), host_error, error))
        return false;
    write_allowance = result.allowance;
    *position = result.offset;
    return true;
}

bool host_remove(const char* path, size_t size, IoError* error)
{
    guest_list_u8_t list = borrow_bytes(path, size);
    toolscript_sandbox_io_error_t host_error;
    ReceiveBuffer receive_buffer;
    return check(toolscript_sandbox_io_remove(&list, &host_error), host_error, error);
}

bool host_exists(const char* path, size_t size, bool* exists, IoError* error)
{
    guest_list_u8_t list = borrow_bytes(path, size);
    toolscript_sandbox_io_error_t host_error;
    ReceiveBuffer receive_buffer;
    return check(toolscript_sandbox_io_exists(&list, exists, &host_error), host_error, error);
}

bool host_rename(const char* old_path, size_t old_size, const char* new_path, size_t new_size, IoError* error)
{
    guest_list_u8_t old_list = borrow_bytes(old_path, old_size);
    guest_list_u8_t new_list = borrow_bytes(new_path, new_size);
    toolscript_sandbox_io_error_t host_error;
    ReceiveBuffer receive_buffer;
    return check(toolscript_sandbox_io_rename(&old_list, &new_list, &host_error), host_error, error);
}
