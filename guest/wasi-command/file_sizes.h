// Reads the sizes of many files. Keeps the parent directories of the last file open, so that files sorted by name open each directory once.
#pragma once

#include "wasi-command/directory.h"

class FileSizes
{
public:
    // Sets `size` to the size of a regular file.
    Lookup size(const FilePath& path, uint64_t* size, Error* error);

private:
    static constexpr size_t kMaxDepth = 64;

    const Directory& current() const
    {
        return depth ? directories[depth - 1] : top;
    }

    Lookup open_parent(const FilePath& path, Error* error);

    Directory top;
    Directory directories[kMaxDepth]; // each is in the one before
    size_t depth = 0;                 // the number of open directories
    FilePath last;                    // the file whose parents are open
};
