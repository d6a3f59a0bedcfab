// Restricts what the module can do with node:wasi.
//
// The module itself follows no symlinks and opens one path component at a time. This guard enforces the same for a module that was
// compromised through a bug in Luau. node:wasi alone opens whatever a symlink points to, even outside of the directory, and gives the
// guest the standard streams of the program. The guest cannot create symlinks. Another process that creates one while a script runs can
// still win a race.

import { lstatSync } from "node:fs";

import { ERRNO, WasiError } from "./errno.mjs";
import { GuestMemory } from "./guest-memory.mjs";
import { TouchedFiles } from "./touched-files.mjs";

const NAMESPACE = "wasi_snapshot_preview1";
// The first descriptor that node:wasi assigns after the standard streams: the io directory, if there is one.
const IO_DIRECTORY = 3;
// 64 files, the directories on the way to one of them, and a margin. All runs share the descriptors of the process.
const MAX_DESCRIPTORS = 256;

const GUARDED_CALLS = [
  "fd_close", "fd_fdstat_get", "fd_filestat_get", "fd_filestat_set_size", "fd_pread", "fd_prestat_get", "fd_pwrite", "fd_read", "fd_readdir",
  "fd_write", "path_create_directory", "path_filestat_get", "path_open", "path_rename", "path_unlink_file",
];
const WRITING_CALLS = ["fd_write", "fd_pwrite", "fd_filestat_set_size"];

const FDSTAT_SIZE = 24;
const LOOKUP_NO_FOLLOW = 0;
const OPEN_CREATE = 1;
const OPEN_DIRECTORY = 2;
const OPEN_TRUNCATE = 8;
const DESCRIPTOR_APPEND = 1;
// fd_datasync, fd_write, fd_allocate, fd_filestat_set_size: node:wasi opens a file for writing if any of these rights is set.
const WRITE_RIGHTS = 1n | (1n << 6n) | (1n << 8n) | (1n << 22n);

export class GuardedWasi {
  #wasi;
  #streams;
  #memory = new GuestMemory();
  #touched = new TouchedFiles();
  // For each open descriptor: its path on the host, its name in the io directory, and how it was opened.
  #opened = new Map();

  /** `ioDir` is the real path of the only preopened directory of `wasi`, or undefined. */
  constructor(wasi, streams, ioDir) {
    this.#wasi = wasi.wasiImport;
    this.#streams = streams;
    if (ioDir !== undefined) this.#opened.set(IO_DIRECTORY, { path: Buffer.from(ioDir), name: "" });
  }

  attach(memory) {
    this.#memory.attach(memory);
  }

  /** Returns all imports of the module. None of them creates links, sets times, waits or accesses a network. */
  imports() {
    const { args_get, args_sizes_get, clock_time_get, proc_exit, random_get } = this.#wasi;
    const guarded = Object.fromEntries(GUARDED_CALLS.map((name) => [name, this.#guard(name)]));
    return { [NAMESPACE]: { args_get, args_sizes_get, clock_time_get, proc_exit, random_get, ...guarded } };
  }

  /** Reports the files that a stopped run changed. Files that are still open for writing may lack bytes that the module buffered. */
  touchedFiles() {
    for (const { path, name, writable, appends } of this.#opened.values()) {
      if (writable) this.#touched.markTruncated(path, name, appends);
    }
    return this.#touched.report();
  }

  /** Closes all descriptors. node:wasi never does that itself, so they would stay open in the program. */
  close() {
    for (let descriptor = IO_DIRECTORY; descriptor <= MAX_DESCRIPTORS; descriptor += 1) this.#wasi.fd_close(descriptor);
    this.#opened.clear();
  }

  /** Wraps a call so that it only accepts standard streams and descriptors that were opened through this guard. */
  #guard(name) {
    return (descriptor, ...rest) => {
      try {
        if (descriptor >= 0 && descriptor < IO_DIRECTORY) return this.#callStream(name, descriptor, ...rest);
        const opened = this.#find(descriptor);
        if (name.startsWith("path_")) return this[name](opened, descriptor, ...rest);
        const errno = this.#wasi[name](descriptor, ...rest);
        if (errno === ERRNO.success) this.#recordCall(name, descriptor, opened);
        return errno;
      } catch (error) {
        if (error instanceof WasiError) return error.number;
        throw error;
      }
    };
  }

  #callStream(name, descriptor, ...rest) {
    if (name === "fd_fdstat_get") {
      this.#streams.describe(this.#memory.bytes(rest[0], FDSTAT_SIZE));
      return ERRNO.success;
    }
    if (name !== "fd_read" && name !== "fd_write") throw new WasiError(ERRNO.badDescriptor);
    const [pointer, count, result] = rest;
    const vectors = this.#memory.vectors(pointer, count);
    const transferred = name === "fd_read" ? this.#streams.read(descriptor, vectors) : this.#streams.write(descriptor, vectors);
    this.#memory.setNumber(result, transferred);
    return ERRNO.success;
  }

  #find(descriptor) {
    const opened = this.#opened.get(descriptor);
    if (!opened) throw new WasiError(ERRNO.badDescriptor);
    return opened;
  }

  #recordCall(name, descriptor, opened) {
    if (name === "fd_close") this.#opened.delete(descriptor);
    if (WRITING_CALLS.includes(name)) this.#touched.touch(opened.path, opened.name, opened.appends);
  }

  path_create_directory(parent, descriptor, pointer, length) {
    this.#resolve(parent, pointer, length);
    return this.#wasi.path_create_directory(descriptor, pointer, length);
  }

  path_filestat_get(parent, descriptor, _flags, pointer, length, record) {
    this.#resolve(parent, pointer, length);
    return this.#wasi.path_filestat_get(descriptor, LOOKUP_NO_FOLLOW, pointer, length, record);
  }

  path_rename(parent, descriptor, pointer, length, newDescriptor, newPointer, newLength) {
    const from = this.#resolve(parent, pointer, length);
    const to = this.#resolve(this.#find(newDescriptor), newPointer, newLength);
    // A renamed directory would invalidate the paths of open descriptors, and a renamed symlink could be moved to where it resolves.
    for (const { path } of [from, to]) {
      const status = lstat(path);
      if (status && !status.isFile()) throw new WasiError(ERRNO.access);
    }
    const errno = this.#wasi.path_rename(descriptor, pointer, length, newDescriptor, newPointer, newLength);
    if (errno !== ERRNO.success) return errno;
    this.#touched.touch(from.path, from.name, false);
    this.#touched.touch(to.path, to.name, false);
    for (const opened of this.#opened.values()) if (opened.path.equals(from.path)) Object.assign(opened, to);
    return errno;
  }

  path_unlink_file(parent, descriptor, pointer, length) {
    const { path, name } = this.#resolve(parent, pointer, length);
    const errno = this.#wasi.path_unlink_file(descriptor, pointer, length);
    if (errno === ERRNO.success) this.#touched.touch(path, name, false);
    return errno;
  }

  path_open(parent, descriptor, _flags, pointer, length, openFlags, rights, inheriting, descriptorFlags, result) {
    const { path, name } = this.#resolve(parent, pointer, length);
    // Checked before the open, which may create the file.
    const isNew = !existsAndIsAllowed(path, openFlags);
    if (this.#opened.size >= MAX_DESCRIPTORS - IO_DIRECTORY) throw new WasiError(ERRNO.tooManyOpen);
    const rest = [pointer, length, openFlags, rights, inheriting, descriptorFlags, result];
    const errno = this.#wasi.path_open(descriptor, LOOKUP_NO_FOLLOW, ...rest);
    if (errno !== ERRNO.success) return errno;
    const appends = (descriptorFlags & DESCRIPTOR_APPEND) !== 0;
    this.#opened.set(this.#memory.number(result), { path, name, appends, writable: (rights & WRITE_RIGHTS) !== 0n });
    const isCreated = isNew && (openFlags & OPEN_CREATE) !== 0;
    if (isCreated || (openFlags & OPEN_TRUNCATE) !== 0) this.#touched.touch(path, name, appends && isCreated);
    return errno;
  }

  /** Resolves a single path component in an open directory. Rejects separators, '.' and '..'. */
  #resolve(parent, pointer, length) {
    const bytes = this.#memory.bytes(pointer, length);
    const text = bytes.toString();
    if (text === "" || text === "." || text === ".." || /[/\0]/.test(text)) throw new WasiError(ERRNO.notCapable);
    return {
      path: Buffer.concat([parent.path, Buffer.from("/"), bytes]),
      name: parent.name === "" ? text : `${parent.name}/${text}`,
    };
  }
}

/** Returns `true` if a file or directory exists. Rejects symlinks, and FIFOs and devices, which could block. */
function existsAndIsAllowed(path, openFlags) {
  const status = lstat(path);
  if (status?.isSymbolicLink()) throw new WasiError(ERRNO.loop);
  if (status && !status.isFile() && !status.isDirectory()) {
    throw new WasiError((openFlags & OPEN_DIRECTORY) === 0 ? ERRNO.access : ERRNO.notDirectory);
  }
  return status !== undefined;
}

function lstat(path) {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    // A file whose type is unknown is not opened.
    throw new WasiError(ERRNO.access);
  }
}
