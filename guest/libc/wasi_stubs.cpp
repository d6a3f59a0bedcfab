// What the C library may ask of WASI, answered here, so that the component imports nothing of WASI but the clocks of `clock.cpp`: no
// descriptor, no environment, no random numbers, no exit. A function that is missing here would show as an import, and the
// build fails.
#include "runtime/bindings.h"

#include <errno.h>
#include <wasi/api.h>

extern "C"
{

    // Standard output and error: closed.
    int32_t __imported_wasi_snapshot_preview1_fd_write(int32_t, int32_t, int32_t, int32_t)
    {
        return __WASI_ERRNO_BADF;
    }

    int32_t __imported_wasi_snapshot_preview1_fd_read(int32_t, int32_t, int32_t, int32_t)
    {
        return __WASI_ERRNO_BADF;
    }

    int32_t __imported_wasi_snapshot_preview1_fd_seek(int32_t, int64_t, int32_t, int32_t)
    {
        return __WASI_ERRNO_BADF;
    }

    int32_t __imported_wasi_snapshot_preview1_fd_fdstat_get(int32_t, int32_t)
    {
        return __WASI_ERRNO_BADF;
    }

    // Zig's own `close` imports WASI's under a name that can't be written in C.
    int close(int)
    {
        errno = EBADF;
        return -1;
    }

    [[noreturn]] void __imported_wasi_snapshot_preview1_proc_exit(int32_t)
    {
        __builtin_trap();
    }

} // extern "C"
