#include "wasi-command/error.h"
#include "wasi-command/path.h"

#include <algorithm>
#include <iterator>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

namespace
{

// Longer than any path with any reason.
char message[8 * 1024];

// Errors of files: WASI's number, Linux's number, Linux's words.
struct Reason
{
    Errno errno_of_wasi;
    int32_t number;
    const char* words;
};

constexpr Reason kInputOutput = {__WASI_ERRNO_IO, 5, "Input/output error"};

constexpr Reason kReasons[] = {
    {__WASI_ERRNO_PERM, 1, "Operation not permitted"},
    // What WASI says where a capability is missing: to write in a directory that is granted for reading, or to leave it.
    {__WASI_ERRNO_NOTCAPABLE, 1, "Operation not permitted"},
    {__WASI_ERRNO_NOENT, 2, "No such file or directory"},
    {__WASI_ERRNO_BADF, 9, "Bad file descriptor"},
    {__WASI_ERRNO_ACCES, 13, "Permission denied"},
    {__WASI_ERRNO_BUSY, 16, "Device or resource busy"},
    {__WASI_ERRNO_EXIST, 17, "File exists"},
    {__WASI_ERRNO_XDEV, 18, "Invalid cross-device link"},
    {__WASI_ERRNO_NOTDIR, 20, "Not a directory"},
    {__WASI_ERRNO_ISDIR, 21, "Is a directory"},
    {__WASI_ERRNO_INVAL, 22, "Invalid argument"},
    {__WASI_ERRNO_NFILE, 23, "Too many open files in system"},
    {__WASI_ERRNO_MFILE, 24, "Too many open files"},
    {__WASI_ERRNO_TXTBSY, 26, "Text file busy"},
    {__WASI_ERRNO_FBIG, 27, "File too large"},
    {__WASI_ERRNO_NOSPC, 28, "No space left on device"},
    {__WASI_ERRNO_ROFS, 30, "Read-only file system"},
    {__WASI_ERRNO_NAMETOOLONG, 36, "File name too long"},
    {__WASI_ERRNO_LOOP, 40, "Too many levels of symbolic links"},
    {__WASI_ERRNO_DQUOT, 122, "Disk quota exceeded"},
};

unprepared_string_t text_of(const char* text, size_t size)
{
    return {reinterpret_cast<uint8_t*>(const_cast<char*>(text)), size};
}

bool refuse(Error* error, const FilePath& path, int32_t number, const char* words)
{
    std::string_view name = path.shown();
    int size = snprintf(message, sizeof(message), "%.*s: %s", int(name.size()), name.data(), words);
    error->tag = TOOLSCRIPT_SANDBOX_IO_ERROR_REFUSED;
    error->val.refused = {text_of(message, size_t(size)), number};
    return false;
}

} // namespace

bool fail_invalid(Error* error, const char* text)
{
    error->tag = TOOLSCRIPT_SANDBOX_IO_ERROR_INVALID;
    error->val.invalid = text_of(text, strlen(text));
    return false;
}

bool fail_limit(Error* error, const char* format, ...)
{
    va_list values;
    va_start(values, format);
    int size = vsnprintf(message, sizeof(message), format, values);
    va_end(values);
    error->tag = TOOLSCRIPT_SANDBOX_IO_ERROR_LIMIT;
    error->val.limit = text_of(message, size_t(size));
    return false;
}

bool fail_system(Error* error, const FilePath& path, Errno number)
{
    const Reason* found =
        std::find_if(std::begin(kReasons), std::end(kReasons), [=](const Reason& reason) { return reason.errno_of_wasi == number; });
    const Reason& reason = found == std::end(kReasons) ? kInputOutput : *found;
    return refuse(error, path, reason.number, reason.words);
}

bool fail_link(Error* error, const FilePath& path)
{
    return refuse(error, path, 40, "symbolic links are not followed");
}

bool fail_irregular(Error* error, const FilePath& path)
{
    return refuse(error, path, 22, "not a regular file");
}
