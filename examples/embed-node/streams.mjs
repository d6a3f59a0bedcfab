// Standard input, output and error of one run, without descriptors of the host's: node:wasi would give the guest those of the program.

import { ERRNO, Refusal } from "./errno.mjs";

// The outcome: logs and result of 1 MiB each, the names of the files, all of it escaped. The module's own limits come first.
const MAX_OUTPUT = 16 << 20;

const INPUT = 0;
const OUTPUT = 1;
const ERROR = 2;
const LINE_BREAK = 10;
// Of the record that fd_fdstat_get writes.
const CHARACTER_DEVICE = 2;

export class Streams {
  #input;
  #lines;
  #output = [];
  #outputBytes = 0;
  // Of a line whose end was not yet printed.
  #begun = [];
  #begunBytes = 0;

  constructor(input, lines) {
    this.#input = input;
    this.#lines = lines;
  }

  output() {
    return Buffer.concat(this.#output);
  }

  isOutputCut() {
    return this.#outputBytes > MAX_OUTPUT;
  }

  read(descriptor, vectors) {
    if (descriptor !== INPUT) throw new Refusal(ERRNO.badDescriptor);
    let count = 0;
    for (const vector of vectors) {
      const taken = Math.min(vector.length, this.#input.length);
      vector.set(this.#input.subarray(0, taken));
      this.#input = this.#input.subarray(taken);
      count += taken;
    }
    return count;
  }

  /** Takes all of it, so that the module never sees a part of a line refused; what is over the limit is dropped. */
  write(descriptor, vectors) {
    if (descriptor !== OUTPUT && descriptor !== ERROR) throw new Refusal(ERRNO.badDescriptor);
    const bytes = Buffer.concat(vectors);
    if (descriptor === OUTPUT) this.#answer(bytes);
    else this.#print(bytes);
    return bytes.length;
  }

  /** What was printed of a line when its script was stopped. */
  flush() {
    if (this.#begun.length > 0) this.#lines.add(Buffer.concat(this.#begun));
    this.#begun = [];
    this.#begunBytes = 0;
  }

  /** What fd_fdstat_get tells of any of the three: a device that can't be sought in. */
  describe(record) {
    record.fill(0);
    record[0] = CHARACTER_DEVICE;
  }

  #answer(bytes) {
    this.#outputBytes += bytes.length;
    if (!this.isOutputCut()) this.#output.push(bytes);
  }

  /** One `print` is one write, or several if it is long; the last ends with a line break. Others may be inside. */
  #print(bytes) {
    this.#begun.push(bytes);
    this.#begunBytes += bytes.length;
    if (bytes.at(-1) === LINE_BREAK || this.#begunBytes > MAX_OUTPUT) this.flush();
  }
}
