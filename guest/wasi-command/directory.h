// Opens files in the granted directory. Resolves each path one component at a time and never follows a symbolic link.
#pragma once

#include "wasi-command/path.h"
#include "wasi-command/write_budget.h"

using Mode = toolscript_sandbox_io_mode_t;

inline bool mode_reads(Mode mode)
{
    return mode != TOOLSCRIPT_SANDBOX_IO_MODE_WRITE && mode != TOOLSCRIPT_SANDBOX_IO_MODE_APPEND;
}

inline bool mode_writes(Mode mode)
{
    return mode != TOOLSCRIPT_SANDBOX_IO_MODE_READ && mode != TOOLSCRIPT_SANDBOX_IO_MODE_MODULE;
}

inline bool mode_appends(Mode mode)
{
    return mode == TOOLSCRIPT_SANDBOX_IO_MODE_APPEND || mode == TOOLSCRIPT_SANDBOX_IO_MODE_APPEND_UPDATE;
}

inline bool mode_truncates(Mode mode)
{
    return mode == TOOLSCRIPT_SANDBOX_IO_MODE_WRITE || mode == TOOLSCRIPT_SANDBOX_IO_MODE_WRITE_UPDATE;
}

// The result of a lookup. Only `failed` sets the error.
enum class Lookup
{
    failed,
    missing,
    found,
};

// Selects the first directory that the host grants. Returns false if there is none.
bool find_granted_directory();

// An open directory, initially the granted one. The destructor closes any other.
class Directory
{
public:
    Directory() = default;
    ~Directory();
    Directory(const Directory&) = delete;
    Directory& operator=(const Directory&) = delete;

    // Opens the directory with this name in another one.
    Lookup open_in(const Directory& parent, const FilePath& path, std::string_view name, Error* error);
    // Opens the directory at this path, relative to the granted one.
    Lookup open(const FilePath& path, std::string_view names, Error* error);
    // The same, but creates missing directories, if the quota allows all of them.
    bool open_or_create(const FilePath& path, std::string_view names, Quota* quota, Error* error);

    // Closes the directory. It becomes the granted one again.
    void close();

    Descriptor descriptor() const;

private:
    Descriptor own = 0; // 0 for the granted directory
};

// Opens a regular file. Truncates it only after checking that it is one.
bool open_regular_file(const FilePath& path, Mode mode, Quota* quota, Descriptor* file, bool* created, Error* error);
bool remove_regular_file(const FilePath& path, Error* error);
// Renames a regular file. Replaces a regular file at the new path, and creates its parent directories.
bool rename_regular_file(const FilePath& from, const FilePath& to, Quota* quota, Error* error);
// Checks for a regular file or a directory. Anything else, and a path through anything else, does not exist.
bool entry_exists(const FilePath& path, bool* exists, Error* error);
