// WASI preview 1 by the shim, with its faults mended.

import { WASI, wasi } from "@bjorn3/browser_wasi_shim";

/** The module has at most 64 files open, and a folder on the way to one. */
const MAX_DESCRIPTORS = 256;

const encoder = new TextEncoder();
// As it is: the usual decoder takes a byte order mark away and replaces what is not UTF-8, so that two names became one.
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export class Wasi extends WASI {
  constructor(programArguments, descriptors) {
    // Without word of it, the shim writes each of its steps to the console.
    super(programArguments, [], descriptors, { debug: false });
    const imports = this.wasiImport;

    // The shim counts characters and then writes bytes: past the end of the module's buffer, if an argument is not ASCII.
    imports.args_sizes_get = (count, size) => {
      const memory = this.#view();
      const bytes = programArguments.reduce((sum, argument) => sum + encoder.encode(argument).length + 1, 0);
      memory.setUint32(count, programArguments.length, true);
      memory.setUint32(size, bytes, true);
      return wasi.ERRNO_SUCCESS;
    };

    // Those that take a path, for the decoder above.
    imports.path_create_directory = (folder, name, size) =>
      this.#withPath(folder, name, size, (descriptor, path) => descriptor.path_create_directory(path));
    imports.path_unlink_file = (folder, name, size) =>
      this.#withPath(folder, name, size, (descriptor, path) => descriptor.path_unlink_file(path));
    imports.path_filestat_get = (folder, flags, name, size, place) =>
      this.#withPath(folder, name, size, (descriptor, path) => {
        const { ret, filestat } = descriptor.path_filestat_get(flags, path);
        filestat?.write_bytes(this.#view(), place);
        return ret;
      });
    imports.path_open = (folder, lookup, name, size, how, rights, inheriting, flags, place) =>
      this.#withPath(folder, name, size, (descriptor, path) => {
        // The shim never uses a number again, so that its table grows with each file that was ever open.
        const number = this.#freeNumber();
        if (number === MAX_DESCRIPTORS) return wasi.ERRNO_MFILE;
        const { ret, fd_obj: opened } = descriptor.path_open(lookup, path, how, rights, inheriting, flags);
        if (ret !== wasi.ERRNO_SUCCESS) return ret;
        this.fds[number] = opened;
        this.#view().setUint32(place, number, true);
        return wasi.ERRNO_SUCCESS;
      });
  }

  // Anew each time: memory that has grown is another buffer.
  #view() {
    return new DataView(this.inst.exports.memory.buffer);
  }

  #withPath(folder, name, size, work) {
    const descriptor = this.fds[folder];
    if (descriptor === undefined) return wasi.ERRNO_BADF;
    let path;
    try {
      path = decoder.decode(new Uint8Array(this.inst.exports.memory.buffer, name, size));
    } catch {
      return wasi.ERRNO_ILSEQ;
    }
    return work(descriptor, path);
  }

  #freeNumber() {
    const free = this.fds.indexOf(undefined);
    return free === -1 ? this.fds.length : free;
  }
}
