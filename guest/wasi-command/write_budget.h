// Limits of the bytes that a run writes and the files and directories that it creates. Removing a file gives nothing back.
#pragma once

#include "wasi-command/error.h"

struct Quota
{
    uint64_t max_bytes = 50 << 20;
    uint64_t max_files = 10'000; // the limit of directories is the same
    uint64_t bytes = 0;
    uint64_t files = 0;
    uint64_t directories = 0;

    uint64_t allowance() const
    {
        return max_bytes - bytes;
    }

    // Counts bytes before they are written.
    bool reserve(uint64_t more, Error* error)
    {
        if (more > allowance())
            return fail_limit(error, "I/O write limit exceeded (%llu bytes)", max_bytes);
        bytes += more;
        return true;
    }

    bool check_file(Error* error) const
    {
        return files < max_files || fail_limit(error, "too many files created (max %llu)", max_files);
    }

    bool check_directories(uint64_t more, Error* error) const
    {
        return more <= max_files - directories || fail_limit(error, "too many folders created (max %llu)", max_files);
    }
};
