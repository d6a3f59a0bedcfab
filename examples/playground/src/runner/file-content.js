// The bytes of one file in memory.

/** A growable byte array. */
export class FileContent {
  #buffer;
  #length;

  /** @param {Uint8Array} bytes used without a copy, so the caller must not keep them */
  constructor(bytes = new Uint8Array(0)) {
    this.#buffer = bytes;
    this.#length = bytes.length;
  }

  get length() {
    return this.#length;
  }

  /** A view that is valid until the next change. */
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
      // Doubled, because a file that is written in small pieces would otherwise be copied for each of them.
      this.#reallocate(Math.max(length, 2 * capacity));
    } else if (length < capacity / 4) {
      // Release the memory of a file that has become much smaller.
      this.#length = length;
      this.#reallocate(length);
    } else if (length < this.#length) {
      // Bytes past the end must be zero, because they become a hole if the file grows again.
      this.#buffer.fill(0, length, this.#length);
    }
    this.#length = length;
  }

  #reallocate(capacity) {
    const buffer = new Uint8Array(capacity);
    buffer.set(this.bytes);
    this.#buffer = buffer;
  }
}
