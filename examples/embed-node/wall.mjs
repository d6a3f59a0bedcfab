// What stands between the module and node:wasi.
//
// The module follows no link and asks for one name at a time. Here the same is held against a module that does not, because a bug in
// Luau was used against it: node:wasi by itself opens whatever a link points to, also outside of the directory, and gives the guest the
// standard streams of the program. Nobody inside can make a link; who puts one there while a script runs may still win a race.

import { lstatSync } from "node:fs";

import { ERRNO, Refusal } from "./errno.mjs";
import { GuestMemory } from "./memory.mjs";
import { Touched } from "./touched.mjs";

const NAMESPACE = "wasi_snapshot_preview1";
// Of node:wasi: the first descriptor after the standard streams is the directory, if there is one.
const DIRECTORY = 3;
// 64 files, the folders on the way to one of them, and room. A process has few descriptors, and the other runs need some.
const MAX_DESCRIPTORS = 256;

// Calls on descriptors, which go through the wall.
const WALLED = [
  "fd_close", "fd_fdstat_get", "fd_filestat_get", "fd_filestat_set_size", "fd_pread", "fd_prestat_get", "fd_pwrite", "fd_read", "fd_readdir",
  "fd_write", "path_create_directory", "path_filestat_get", "path_open", "path_unlink_file",
];
const CHANGES = ["fd_write", "fd_pwrite", "fd_filestat_set_size"];

const FDSTAT_SIZE = 24;
const LINKS_NOT_FOLLOWED = 0;
const OPEN_CREATES = 1;
const OPEN_FOLDER = 2;
const OPEN_EMPTIES = 8;
const APPENDS = 1;
// fd_datasync, fd_write, fd_allocate, fd_filestat_set_size: with any of them node:wasi opens for writing.
const WRITES = 1n | (1n << 6n) | (1n << 8n) | (1n << 22n);

export class Wall {
  #wasi;
  #streams;
  #memory = new GuestMemory();
  #touched = new Touched();
  // What lies behind each descriptor: where it is, what it is called in the directory, how it was opened.
  #opened = new Map();

  /** `folder` is the real path of the directory that `wasi` has as its one preopen, or undefined. */
  constructor(wasi, streams, folder) {
    this.#wasi = wasi.wasiImport;
    this.#streams = streams;
    if (folder !== undefined) this.#opened.set(DIRECTORY, { path: Buffer.from(folder), name: "" });
  }

  attach(memory) {
    this.#memory.attach(memory);
  }

  /** All that a module gets. There is nothing here to make a link, to rename, to set times, to wait, or to reach a network. */
  imports() {
    const { args_get, args_sizes_get, clock_time_get, proc_exit, random_get } = this.#wasi;
    const walled = Object.fromEntries(WALLED.map((name) => [name, this.#answer(name)]));
    return { [NAMESPACE]: { args_get, args_sizes_get, clock_time_get, proc_exit, random_get, ...walled } };
  }

  /** A run was stopped: what it did to files. Those still open for writing may lack what the module held back. */
  stopped() {
    for (const { path, name, writes, appends } of this.#opened.values()) {
      if (writes) this.#touched.cut(path, name, appends);
    }
    return this.#touched.report();
  }

  /** node:wasi closes nothing by itself: what an instance leaves open stays open in the program. */
  close() {
    for (let descriptor = DIRECTORY; descriptor <= MAX_DESCRIPTORS; descriptor += 1) this.#wasi.fd_close(descriptor);
    this.#opened.clear();
  }

  /** A call on a descriptor: a standard stream, or something that was opened here; nothing else of the program's. */
  #answer(name) {
    return (descriptor, ...rest) => {
      try {
        if (descriptor >= 0 && descriptor < DIRECTORY) return this.#stream(name, descriptor, ...rest);
        const opened = this.#find(descriptor);
        if (name.startsWith("path_")) return this[name](opened, descriptor, ...rest);
        const answer = this.#wasi[name](descriptor, ...rest);
        if (answer === ERRNO.success) this.#note(name, descriptor, opened);
        return answer;
      } catch (error) {
        if (error instanceof Refusal) return error.number;
        throw error;
      }
    };
  }

  #stream(name, descriptor, ...rest) {
    if (name === "fd_fdstat_get") {
      this.#streams.describe(this.#memory.bytes(rest[0], FDSTAT_SIZE));
      return ERRNO.success;
    }
    if (name !== "fd_read" && name !== "fd_write") throw new Refusal(ERRNO.badDescriptor);
    const [pointer, count, result] = rest;
    const vectors = this.#memory.vectors(pointer, count);
    const moved = name === "fd_read" ? this.#streams.read(descriptor, vectors) : this.#streams.write(descriptor, vectors);
    this.#memory.setNumber(result, moved);
    return ERRNO.success;
  }

  #find(descriptor) {
    const opened = this.#opened.get(descriptor);
    if (!opened) throw new Refusal(ERRNO.badDescriptor);
    return opened;
  }

  #note(name, descriptor, opened) {
    if (name === "fd_close") this.#opened.delete(descriptor);
    if (CHANGES.includes(name)) this.#touched.mark(opened.path, opened.name, opened.appends);
  }

  path_create_directory(folder, descriptor, pointer, length) {
    this.#step(folder, pointer, length);
    return this.#wasi.path_create_directory(descriptor, pointer, length);
  }

  path_filestat_get(folder, descriptor, _flags, pointer, length, record) {
    this.#step(folder, pointer, length);
    return this.#wasi.path_filestat_get(descriptor, LINKS_NOT_FOLLOWED, pointer, length, record);
  }

  path_unlink_file(folder, descriptor, pointer, length) {
    const { path, name } = this.#step(folder, pointer, length);
    const answer = this.#wasi.path_unlink_file(descriptor, pointer, length);
    if (answer === ERRNO.success) this.#touched.mark(path, name, false);
    return answer;
  }

  path_open(folder, descriptor, _flags, pointer, length, openFlags, rights, inheriting, descriptorFlags, result) {
    const { path, name } = this.#step(folder, pointer, length);
    // Before the file is made: afterwards nobody knows that it is new.
    const isNew = !isThere(path, openFlags);
    if (this.#opened.size >= MAX_DESCRIPTORS - DIRECTORY) throw new Refusal(ERRNO.tooManyOpen);
    const rest = [pointer, length, openFlags, rights, inheriting, descriptorFlags, result];
    const answer = this.#wasi.path_open(descriptor, LINKS_NOT_FOLLOWED, ...rest);
    if (answer !== ERRNO.success) return answer;
    const appends = (descriptorFlags & APPENDS) !== 0;
    this.#opened.set(this.#memory.number(result), { path, name, appends, writes: (rights & WRITES) !== 0n });
    const isMade = isNew && (openFlags & OPEN_CREATES) !== 0;
    if (isMade || (openFlags & OPEN_EMPTIES) !== 0) this.#touched.mark(path, name, appends && isMade);
    return answer;
  }

  /** From a folder that is open to something in it: by one name, which leads nowhere else. */
  #step(folder, pointer, length) {
    const bytes = this.#memory.bytes(pointer, length);
    const text = bytes.toString();
    if (text === "" || text === "." || text === ".." || /[/\0]/.test(text)) throw new Refusal(ERRNO.notCapable);
    return {
      path: Buffer.concat([folder.path, Buffer.from("/"), bytes]),
      name: folder.name === "" ? text : `${folder.name}/${text}`,
    };
  }
}

/** Whether there is a file or a folder. Links are not followed; what is neither would block, or be a device. */
function isThere(path, openFlags) {
  const state = lstat(path);
  if (state?.isSymbolicLink()) throw new Refusal(ERRNO.loop);
  if (state && !state.isFile() && !state.isDirectory()) {
    throw new Refusal((openFlags & OPEN_FOLDER) === 0 ? ERRNO.access : ERRNO.notFolder);
  }
  return state !== undefined;
}

function lstat(path) {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    // What can't be looked at is not opened.
    throw new Refusal(ERRNO.access);
  }
}
