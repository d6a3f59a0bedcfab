// What a run may still write and make. The counts only rise.
#pragma once

#include "wasi-command/error.h"

struct Quota
{
    uint64_t max_bytes = 50 << 20;
    uint64_t max_files = 10'000; // and as many folders
    uint64_t bytes = 0;
    uint64_t files = 0;
    uint64_t folders = 0;

    uint64_t allowance() const
    {
        return max_bytes - bytes;
    }

    // Counts bytes that are about to be written.
    bool take(uint64_t more, Error* error)
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

    bool check_folders(uint64_t more, Error* error) const
    {
        return more <= max_files - folders || fail_limit(error, "too many folders created (max %llu)", max_files);
    }
};
