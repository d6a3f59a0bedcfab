// The clocks of the contract. The monotonic clock starts with the run, so that a script does not learn the uptime of the machine.
#include "runtime/bindings.h"
#include "wasi-command/preview1.h"

static uint64_t now(__wasi_clockid_t clock)
{
    uint64_t time = 0;
    preview1_clock_time_get(clock, 1, &time);
    return time;
}

extern "C" uint64_t wasi_clocks_monotonic_clock_now()
{
    static const uint64_t start = now(__WASI_CLOCKID_MONOTONIC);
    uint64_t time = now(__WASI_CLOCKID_MONOTONIC);
    return time > start ? time - start : 0;
}

// Waits without `poll_oneoff`, which not every host of preview 1 offers to a module. The host ends a run that waits too long, as it ends a
// busy loop.
extern "C" void toolscript_sandbox_timer_sleep(uint64_t nanoseconds)
{
    uint64_t start = now(__WASI_CLOCKID_MONOTONIC);
    while (now(__WASI_CLOCKID_MONOTONIC) - start < nanoseconds)
    {
    }
}

extern "C" void wasi_clocks_wall_clock_now(wasi_clocks_wall_clock_datetime_t* time)
{
    uint64_t nanoseconds = now(__WASI_CLOCKID_REALTIME);
    *time = {nanoseconds / 1'000'000'000, uint32_t(nanoseconds % 1'000'000'000)};
}
