// WASI preview1 on top of the shim, with fixes for its bugs.

import { WASI, wasi } from "@bjorn3/browser_wasi_shim";

/** The module has at most 64 files open, and one directory per component of a path. */
const MAX_DESCRIPTORS = 256;

const encoder = new TextEncoder();
// Strict: the default decoder removes a byte order mark and replaces invalid UTF-8, so that different names could become equal.
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export class Wasi extends WASI {
  constructor(programArguments, descriptors) {
    // By default the shim logs every call to the console.
    super(programArguments, [], descriptors, { debug: false });
    const imports = this.wasiImport;

    // The shim reports the length in characters and then writes bytes, past the end of the buffer if an argument is not ASCII.
    imports.args_sizes_get = (countPointer, sizePointer) => {
      const memory = this.#view();
      const size = programArguments.reduce((sum, argument) => sum + encoder.encode(argument).length + 1, 0);
      memory.setUint32(countPointer, programArguments.length, true);
      memory.setUint32(sizePointer, size, true);
      return wasi.ERRNO_SUCCESS;
    };

    // The calls that take a path use the strict decoder.
    imports.path_create_directory = (parent, name, length) =>
      this.#withPath(parent, name, length, (descriptor, path) => descriptor.path_create_directory(path));
    imports.path_unlink_file = (parent, name, length) =>
      this.#withPath(parent, name, length, (descriptor, path) => descriptor.path_unlink_file(path));
    imports.path_rename = (parent, name, length, newParent, newName, newLength) =>
      this.#withPath(parent, name, length, (descriptor, path) =>
        this.#withPath(newParent, newName, newLength, (newDescriptor, newPath) => descriptor.path_rename(path, newDescriptor, newPath)));
    imports.path_filestat_get = (parent, flags, name, length, resultPointer) =>
      this.#withPath(parent, name, length, (descriptor, path) => {
        const { ret, filestat } = descriptor.path_filestat_get(flags, path);
        filestat?.write_bytes(this.#view(), resultPointer);
        return ret;
      });
    imports.path_open = (parent, lookupFlags, name, length, openFlags, rights, inheriting, descriptorFlags, resultPointer) =>
      this.#withPath(parent, name, length, (descriptor, path) => {
        // The shim never reuses a number, so its table would grow with each file that is opened.
        const number = this.#freeNumber();
        if (number === MAX_DESCRIPTORS) return wasi.ERRNO_MFILE;
        const { ret, fd_obj: opened } = descriptor.path_open(lookupFlags, path, openFlags, rights, inheriting, descriptorFlags);
        if (ret !== wasi.ERRNO_SUCCESS) return ret;
        this.fds[number] = opened;
        this.#view().setUint32(resultPointer, number, true);
        return wasi.ERRNO_SUCCESS;
      });
  }

  // Created for each call, because the buffer is replaced when the memory grows.
  #view() {
    return new DataView(this.inst.exports.memory.buffer);
  }

  #withPath(parent, name, length, call) {
    const descriptor = this.fds[parent];
    if (descriptor === undefined) return wasi.ERRNO_BADF;
    let path;
    try {
      path = decoder.decode(new Uint8Array(this.inst.exports.memory.buffer, name, length));
    } catch {
      return wasi.ERRNO_ILSEQ;
    }
    return call(descriptor, path);
  }

  #freeNumber() {
    const free = this.fds.indexOf(undefined);
    return free === -1 ? this.fds.length : free;
  }
}
