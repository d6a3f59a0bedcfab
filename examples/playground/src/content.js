// The bytes of one file in memory.

export class Content {
  #buffer;
  #length;

  /** @param {Uint8Array} bytes kept, not copied: nobody else may hold them */
  constructor(bytes = new Uint8Array(0)) {
    this.#buffer = bytes;
    this.#length = bytes.length;
  }

  get length() {
    return this.#length;
  }

  /** A view, good until the next change. */
  get bytes() {
    return this.#buffer.subarray(0, this.#length);
  }

  write(offset, bytes) {
    if (offset + bytes.length > this.#length) this.resize(offset + bytes.length);
    this.#buffer.set(bytes, offset);
  }

  resize(length) {
    const capacity = this.#buffer.length;
    if (length > capacity) {
      // By doubling: otherwise a file that is written in small pieces would be copied anew for each of them.
      this.#move(Math.max(length, 2 * capacity));
    } else if (length < capacity / 4) {
      // What a script no longer has must not take the page's memory.
      this.#length = length;
      this.#move(length);
    } else if (length < this.#length) {
      // What lies behind the end is always zero: a file that grows again has a hole there.
      this.#buffer.fill(0, length, this.#length);
    }
    this.#length = length;
  }

  #move(capacity) {
    const buffer = new Uint8Array(capacity);
    buffer.set(this.bytes);
    this.#buffer = buffer;
  }
}
