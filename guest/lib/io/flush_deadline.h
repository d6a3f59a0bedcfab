// The deadline by which buffered bytes must be written, in units of work.
#pragma once

#include "runtime/work.h"

class FlushDeadline
{
public:
    // Called when the first byte is buffered.
    void start()
    {
        deadline = work_units + kDelay;
        latest = work_units + kMaxDelay;
    }

    // Called for each further write. A loop that only writes fills its buffer soon, so a write postpones the deadline.
    void postpone()
    {
        if (deadline - work_units >= kDelay)
            return;
        deadline += kDelayPerWrite;
        if (deadline > latest)
            deadline = latest;
    }

    bool has_passed() const
    {
        return work_units >= deadline;
    }

private:
    static constexpr int64_t kDelay = 1024; // about 100 µs
    static constexpr int64_t kDelayPerWrite = 4;
    static constexpr int64_t kMaxDelay = 512 * 1024; // including postponements

    int64_t deadline = 0;
    int64_t latest = 0;
};
