// From a path to a file, one component at a time beneath the directory that was granted, without following a link at any step.
#pragma once

#include "wasi-command/path.h"
#include "wasi-command/quota.h"

using Mode = toolscript_sandbox_io_mode_t;

inline bool mode_reads(Mode mode)
{
    return mode != TOOLSCRIPT_SANDBOX_IO_MODE_WRITE && mode != TOOLSCRIPT_SANDBOX_IO_MODE_APPEND;
}

inline bool mode_writes(Mode mode)
{
    return mode != TOOLSCRIPT_SANDBOX_IO_MODE_READ;
}

inline bool mode_appends(Mode mode)
{
    return mode == TOOLSCRIPT_SANDBOX_IO_MODE_APPEND || mode == TOOLSCRIPT_SANDBOX_IO_MODE_APPEND_UPDATE;
}

inline bool mode_empties(Mode mode)
{
    return mode == TOOLSCRIPT_SANDBOX_IO_MODE_WRITE || mode == TOOLSCRIPT_SANDBOX_IO_MODE_WRITE_UPDATE;
}

// What came of looking for something. Only a failure has filled the error in.
enum class Search
{
    failed,
    missing,
    found,
};

// Takes the first directory that was granted; false if there is none.
bool walk_start();

// An open folder: the granted one to begin with, closed with this if it is another.
class Folder
{
public:
    Folder() = default;
    ~Folder();
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    // Becomes the folder of this name in another.
    Search open_in(const Folder& parent, const FilePath& path, std::string_view name, Error* error);
    // Goes along these names, from the granted directory on.
    Search open(const FilePath& path, std::string_view names, Error* error);
    // The same, and makes what is missing, if all of it may be made.
    bool make(const FilePath& path, std::string_view names, Quota* quota, Error* error);

    // Becomes the granted one again.
    void close();

    Descriptor descriptor() const;

private:
    Descriptor own = 0; // 0 while it is the granted one
};

// Opens a regular file; what `w` empties is known to be one by then.
bool walk_open(const FilePath& path, Mode mode, Quota* quota, Descriptor* file, bool* made, Error* error);
bool walk_remove(const FilePath& path, Error* error);
