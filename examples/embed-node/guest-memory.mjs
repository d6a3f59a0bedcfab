// Reads and writes the memory of the module. Every pointer comes from the guest and may be out of bounds.

import { ERRNO, WasiError } from "./errno.mjs";

// Buffers in one read or write. The host allocates an object for each. Operating systems have the same limit.
const MAX_VECTORS = 1024;

export class GuestMemory {
  #memory;

  attach(memory) {
    this.#memory = memory;
  }

  /** Returns a view of these bytes. The guest can change them later, and the view becomes invalid when the memory grows. */
  bytes(pointer, length) {
    const [start, size] = [pointer >>> 0, length >>> 0];
    if (start + size > this.#memory.buffer.byteLength) throw new WasiError(ERRNO.fault);
    return Buffer.from(this.#memory.buffer, start, size);
  }

  /** Returns the buffers of a read or a write, which are passed as pairs of pointer and length. */
  vectors(pointer, count) {
    if (count >>> 0 > MAX_VECTORS) throw new WasiError(ERRNO.fault);
    const table = this.bytes(pointer, count * 8);
    const vectors = [];
    for (let offset = 0; offset < table.length; offset += 8) {
      vectors.push(this.bytes(table.readUInt32LE(offset), table.readUInt32LE(offset + 4)));
    }
    return vectors;
  }

  number(pointer) {
    return this.bytes(pointer, 4).readUInt32LE();
  }

  setNumber(pointer, number) {
    this.bytes(pointer, 4).writeUInt32LE(number);
  }
}
