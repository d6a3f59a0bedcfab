#include "wasi-command/error.h"
#include "wasi-command/path.h"

#include <algorithm>
#include <iterator>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

namespace
{

// The text of the last error. Longer than the longest path with any reason.
char message[8 * 1024];

// Maps an error number of WASI to the number and message of Linux.
struct SystemError
{
    Errno wasi_number;
    int32_t number;
    const char* message;
};

constexpr int32_t kAccess = 13;
constexpr const char* kProtectionSwitch = "; the operator can turn this protection off";

constexpr SystemError kInputOutput = {__WASI_ERRNO_IO, 5, "Input/output error"};

constexpr SystemError kSystemErrors[] = {
    {__WASI_ERRNO_PERM, 1, "Operation not permitted"},
    // WASI returns this for a write to a read-only directory, or for a path that leaves the directory.
    {__WASI_ERRNO_NOTCAPABLE, 1, "Operation not permitted"},
    {__WASI_ERRNO_NOENT, 2, "No such file or directory"},
    {__WASI_ERRNO_BADF, 9, "Bad file descriptor"},
    {__WASI_ERRNO_ACCES, kAccess, "Permission denied"},
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

bool set_system_error(Error* error, const FilePath& path, int32_t number, const char* reason)
{
    std::string_view name = path.display();
    int size = snprintf(message, sizeof(message), "%.*s: %s", int(name.size()), name.data(), reason);
    error->tag = TOOLSCRIPT_SANDBOX_IO_ERROR_REFUSED;
    error->val.refused = {borrow_string(message, size_t(size)), number};
    return false;
}

} // namespace

bool fail_invalid(Error* error, const char* text)
{
    error->tag = TOOLSCRIPT_SANDBOX_IO_ERROR_INVALID;
    error->val.invalid = borrow_string(text, strlen(text));
    return false;
}

bool fail_limit(Error* error, const char* format, ...)
{
    va_list values;
    va_start(values, format);
    int size = vsnprintf(message, sizeof(message), format, values);
    va_end(values);
    error->tag = TOOLSCRIPT_SANDBOX_IO_ERROR_LIMIT;
    error->val.limit = borrow_string(message, size_t(size));
    return false;
}

bool fail_system(Error* error, const FilePath& path, Errno number)
{
    const SystemError* found = std::find_if(std::begin(kSystemErrors), std::end(kSystemErrors),
                                            [=](const SystemError& candidate) { return candidate.wasi_number == number; });
    const SystemError& system_error = found == std::end(kSystemErrors) ? kInputOutput : *found;
    return set_system_error(error, path, system_error.number, system_error.message);
}

bool fail_protected(Error* error, const FilePath& path, std::string_view name)
{
    char reason[512];
    snprintf(reason, sizeof(reason), "cannot be changed, because other programs execute or trust '%.*s'%s", int(name.size()), name.data(),
             kProtectionSwitch);
    return set_system_error(error, path, kAccess, reason);
}

bool fail_credentials(Error* error, const FilePath& path, std::string_view name)
{
    char reason[512];
    snprintf(reason, sizeof(reason), "cannot be read or changed, because '%.*s' usually contains credentials%s", int(name.size()), name.data(),
             kProtectionSwitch);
    return set_system_error(error, path, kAccess, reason);
}

bool fail_link(Error* error, const FilePath& path)
{
    return set_system_error(error, path, 40, "symbolic links are not followed");
}

bool fail_not_regular(Error* error, const FilePath& path)
{
    return set_system_error(error, path, 22, "not a regular file");
}

bool is_unreachable(const Error& error)
{
    constexpr int32_t kNotDirectory = 20;
    constexpr int32_t kLoop = 40;
    return error.tag == TOOLSCRIPT_SANDBOX_IO_ERROR_REFUSED && (error.val.refused.number == kNotDirectory || error.val.refused.number == kLoop);
}
