// Stubs for the WASI functions that the C library calls. With them, the component imports nothing from WASI but the clocks in `clock.cpp`: no
// descriptors, environment, random numbers or exit. If a stub is missing, the module has an additional import and the build fails.
#include <errno.h>
#include <stdint.h>
#include <wasi/api.h>

extern "C"
{

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

    // Replaces the `close` of Zig's C library, whose import has a name that cannot be written in C.
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
