// The module's memory, as the host reads and writes it. Whatever points into it is the guest's word, and may point beside it.

import { ERRNO, Refusal } from "./errno.mjs";

// Buffers of one read or write: the host makes an object of each. Systems have the same limit.
const MAX_VECTORS = 1024;

export class GuestMemory {
  #memory;

  attach(memory) {
    this.#memory = memory;
  }

  /** A view of these bytes: it is the guest's to change later, and gone when the memory grows. */
  bytes(pointer, length) {
    const [start, size] = [pointer >>> 0, length >>> 0];
    if (start + size > this.#memory.buffer.byteLength) throw new Refusal(ERRNO.fault);
    return Buffer.from(this.#memory.buffer, start, size);
  }

  /** The buffers of a read or a write: pairs of pointer and length. */
  vectors(pointer, count) {
    if (count >>> 0 > MAX_VECTORS) throw new Refusal(ERRNO.fault);
    const table = this.bytes(pointer, count * 8);
    const vectors = [];
    for (let at = 0; at < table.length; at += 8) {
      vectors.push(this.bytes(table.readUInt32LE(at), table.readUInt32LE(at + 4)));
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
