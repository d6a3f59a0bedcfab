// Looks at many files, in the order of their names: the folders that one shares with the next are not opened again.
#pragma once

#include "wasi-command/directory.h"

class Surveyor
{
public:
    // Bytes of a regular file.
    Search size(const FilePath& path, uint64_t* size, Error* error);

private:
    static constexpr size_t kMaxFolders = 64;

    const Folder& folder() const
    {
        return depth ? folders[depth - 1] : top;
    }

    Search go_to(const FilePath& path, Error* error);

    Folder top;
    Folder folders[kMaxFolders]; // each in the one before
    size_t depth = 0;            // how many of them are open
    FilePath last;               // whose folders they are
};
