// Counts the work that a script has done, so that libraries can schedule by it. Time would make runs depend on the machine.
//
// The interrupt hook counts one unit for each call, return and loop iteration. Functions that can run for long within one such step count the
// bytes that they allocate or process.
#pragma once

#include <stddef.h>
#include <stdint.h>

inline int64_t work_units = 0;

inline void count_work(size_t bytes)
{
    constexpr size_t kBytesPerUnit = 64;
    work_units += int64_t(bytes / kBytesPerUnit);
}
