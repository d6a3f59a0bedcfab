// Standard input, output and error of one run, in memory. node:wasi would pass the descriptors of the program to the guest.

import { ERRNO, WasiError } from "./errno.mjs";

// The outcome has logs and a result of 1 MiB each and the names of touched files, all escaped. The limits of the module apply first.
const MAX_OUTPUT = 16 << 20;

const INPUT = 0;
const OUTPUT = 1;
const ERROR = 2;
const LINE_BREAK = 10;
// The file type in the record that fd_fdstat_get writes.
const CHARACTER_DEVICE = 2;

export class StandardStreams {
  #input;
  #log;
  #output = [];
  #outputBytes = 0;
  // The start of a line whose end has not been printed yet.
  #pending = [];
  #pendingBytes = 0;

  constructor(input, log) {
    this.#input = input;
    this.#log = log;
  }

  output() {
    return Buffer.concat(this.#output);
  }

  isOutputTruncated() {
    return this.#outputBytes > MAX_OUTPUT;
  }

  read(descriptor, vectors) {
    if (descriptor !== INPUT) throw new WasiError(ERRNO.badDescriptor);
    let count = 0;
    for (const vector of vectors) {
      const length = Math.min(vector.length, this.#input.length);
      vector.set(this.#input.subarray(0, length));
      this.#input = this.#input.subarray(length);
      count += length;
    }
    return count;
  }

  /** Accepts all bytes, so that the module never sees a partial write. Bytes above the limit are dropped. */
  write(descriptor, vectors) {
    if (descriptor !== OUTPUT && descriptor !== ERROR) throw new WasiError(ERRNO.badDescriptor);
    const bytes = Buffer.concat(vectors);
    if (descriptor === OUTPUT) this.#addOutput(bytes);
    else this.#addLog(bytes);
    return bytes.length;
  }

  /** Adds an incomplete line to the log, for a script that was stopped. */
  flush() {
    if (this.#pending.length > 0) this.#log.add(Buffer.concat(this.#pending));
    this.#pending = [];
    this.#pendingBytes = 0;
  }

  /** Fills in the fd_fdstat_get record of a standard stream: a character device, which is not seekable. */
  describe(record) {
    record.fill(0);
    record[0] = CHARACTER_DEVICE;
  }

  #addOutput(bytes) {
    this.#outputBytes += bytes.length;
    if (!this.isOutputTruncated()) this.#output.push(bytes);
  }

  /** One `print` is one write, or several if it is long. The last write ends with a line break; the text can contain others. */
  #addLog(bytes) {
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
    if (bytes.at(-1) === LINE_BREAK || this.#pendingBytes > MAX_OUTPUT) this.flush();
  }
}
