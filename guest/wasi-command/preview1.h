// The functions of WASI preview 1 that the command imports.
//
// They have a prefix, because `libc/wasi_stubs.cpp` defines the names that the C library calls.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <wasi/api.h>

#define PREVIEW1(name) extern "C" __attribute__((import_module("wasi_snapshot_preview1"), import_name(#name)))

using Descriptor = __wasi_fd_t;
using Errno = __wasi_errno_t;

PREVIEW1(args_sizes_get) Errno preview1_args_sizes_get(size_t* count, size_t* size);
PREVIEW1(args_get) Errno preview1_args_get(char** arguments, char* text);
PREVIEW1(clock_time_get) Errno preview1_clock_time_get(__wasi_clockid_t clock, uint64_t precision, uint64_t* time);
PREVIEW1(random_get) Errno preview1_random_get(void* buffer, size_t size);
PREVIEW1(proc_exit) void preview1_proc_exit(uint32_t code);

PREVIEW1(fd_prestat_get) Errno preview1_fd_prestat_get(Descriptor file, __wasi_prestat_t* prestat);
PREVIEW1(fd_fdstat_get) Errno preview1_fd_fdstat_get(Descriptor file, __wasi_fdstat_t* fdstat);
PREVIEW1(fd_filestat_get) Errno preview1_fd_filestat_get(Descriptor file, __wasi_filestat_t* filestat);
PREVIEW1(fd_filestat_set_size) Errno preview1_fd_filestat_set_size(Descriptor file, uint64_t size);
PREVIEW1(fd_read) Errno preview1_fd_read(Descriptor file, const __wasi_iovec_t* blocks, size_t count, size_t* done);
PREVIEW1(fd_write) Errno preview1_fd_write(Descriptor file, const __wasi_ciovec_t* blocks, size_t count, size_t* done);
PREVIEW1(fd_pread) Errno preview1_fd_pread(Descriptor file, const __wasi_iovec_t* blocks, size_t count, uint64_t offset, size_t* done);
PREVIEW1(fd_pwrite) Errno preview1_fd_pwrite(Descriptor file, const __wasi_ciovec_t* blocks, size_t count, uint64_t offset, size_t* done);
PREVIEW1(fd_readdir) Errno preview1_fd_readdir(Descriptor directory, void* buffer, size_t size, uint64_t cookie, size_t* done);
PREVIEW1(fd_close) Errno preview1_fd_close(Descriptor file);

PREVIEW1(path_open)
Errno preview1_path_open(Descriptor directory, __wasi_lookupflags_t lookup, const char* name, size_t size, __wasi_oflags_t open_flags,
                         __wasi_rights_t rights, __wasi_rights_t inheriting, __wasi_fdflags_t flags, Descriptor* file);
PREVIEW1(path_filestat_get)
Errno preview1_path_filestat_get(Descriptor directory, __wasi_lookupflags_t lookup, const char* name, size_t size, __wasi_filestat_t* filestat);
PREVIEW1(path_create_directory) Errno preview1_path_create_directory(Descriptor directory, const char* name, size_t size);
PREVIEW1(path_rename)
Errno preview1_path_rename(Descriptor old_directory, const char* old_name, size_t old_size, Descriptor new_directory, const char* new_name,
                           size_t new_size);
PREVIEW1(path_unlink_file) Errno preview1_path_unlink_file(Descriptor directory, const char* name, size_t size);

#undef PREVIEW1
