// The log lines of a run, in memory that its worker shares with the program. A line survives even if the worker is terminated.

// The module prints at most 1 MiB, including 24 bytes per line. Escaped control characters make that longer, but it stays below this
// capacity. Only a compromised guest can print more; the excess is dropped.
const CAPACITY = 8 << 20;
// Each line is preceded by its length. The buffer starts with the total length of all lines.
const LENGTH_SIZE = 4;

export class SharedLog {
  #buffer;
  #used;

  /** Creates a log, or attaches to the buffer of an existing one. */
  constructor(buffer = new SharedArrayBuffer(CAPACITY)) {
    this.#buffer = buffer;
    this.#used = new Int32Array(buffer, 0, 1);
  }

  get buffer() {
    return this.#buffer;
  }

  add(line) {
    const used = this.#used[0];
    const start = LENGTH_SIZE + used + LENGTH_SIZE;
    if (start + line.length > this.#buffer.byteLength) return;
    new DataView(this.#buffer).setUint32(LENGTH_SIZE + used, line.length);
    new Uint8Array(this.#buffer, start).set(line);
    // Stored last, so that a reader only sees complete lines.
    Atomics.store(this.#used, 0, used + LENGTH_SIZE + line.length);
  }

  lines() {
    const view = new DataView(this.#buffer);
    const end = LENGTH_SIZE + Atomics.load(this.#used, 0);
    const lines = [];
    for (let offset = LENGTH_SIZE; offset < end; ) {
      const length = view.getUint32(offset);
      // Copied, because TextDecoder does not accept shared memory.
      lines.push(Buffer.from(new Uint8Array(this.#buffer, offset + LENGTH_SIZE, length)));
      offset += LENGTH_SIZE + length;
    }
    return lines;
  }
}
