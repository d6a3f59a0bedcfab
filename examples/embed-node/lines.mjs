// What a run printed, in memory that its thread and the program share: a line that was added is kept, whatever becomes of the thread.

// The module prints 1 MiB at most, of which each line takes 24 bytes, with its control characters escaped: less than this. What a guest prints
// that is broken open is dropped beyond it.
const CAPACITY = 8 << 20;
// In front of each line, its size; in front of all lines, the size of all.
const SIZE = 4;

export class Lines {
  #shared;
  #used;

  /** New ones, or those that another thread shares. */
  constructor(shared = new SharedArrayBuffer(CAPACITY)) {
    this.#shared = shared;
    this.#used = new Int32Array(shared, 0, 1);
  }

  get shared() {
    return this.#shared;
  }

  add(line) {
    const used = this.#used[0];
    const start = SIZE + used + SIZE;
    if (start + line.length > this.#shared.byteLength) return;
    new DataView(this.#shared).setUint32(SIZE + used, line.length);
    new Uint8Array(this.#shared, start).set(line);
    // Last, so that whoever reads sees whole lines only.
    Atomics.store(this.#used, 0, used + SIZE + line.length);
  }

  all() {
    const view = new DataView(this.#shared);
    const end = SIZE + Atomics.load(this.#used, 0);
    const lines = [];
    for (let at = SIZE; at < end; ) {
      const size = view.getUint32(at);
      // A copy: texts are not decoded from shared memory.
      lines.push(Buffer.from(new Uint8Array(this.#shared, at + SIZE, size)));
      at += SIZE + size;
    }
    return lines;
  }
}
