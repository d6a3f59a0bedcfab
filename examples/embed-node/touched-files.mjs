// Records which files a run changes, for runs that are stopped before the module can report it.

import { lstatSync } from "node:fs";

// The limits of the module: files that a run can touch, and the bytes of their names. The host stats each file at the end.
const MAX_TOUCHED = 20_000;
const MAX_NAME_BYTES = 1 << 20;

export class TouchedFiles {
  #files = new Map();
  #nameBytes = 0;

  /** Records that a file was created, changed, truncated or removed. `appended` is set if it was only created or appended to. */
  touch(path, name, appended) {
    let file = this.#files.get(name);
    if (!file) {
      this.#nameBytes += Buffer.byteLength(name);
      // Only a compromised guest gets here.
      if (this.#files.size >= MAX_TOUCHED || this.#nameBytes > MAX_NAME_BYTES) return;
      file = { path, onlyAppended: true, truncated: false };
      this.#files.set(name, file);
    }
    file.onlyAppended &&= appended;
  }

  /** Marks a file that is still open for writing: bytes that the module buffers for it are lost. */
  markTruncated(path, name, appended) {
    this.touch(path, name, appended);
    const file = this.#files.get(name);
    if (file) file.truncated = true;
  }

  /** Returns the current state of each file, sorted by name. */
  report() {
    const names = [...this.#files.keys()].sort((first, second) => Buffer.compare(Buffer.from(first), Buffer.from(second)));
    return names.map((name) => {
      const { path, onlyAppended, truncated } = this.#files.get(name);
      const op = onlyAppended ? "append" : "write";
      const cut = truncated ? { cut: true } : {};
      try {
        const status = lstatSync(path, { throwIfNoEntry: false });
        return status ? { name, op, bytes: status.size, ...cut } : { name, op: "remove" };
      } catch {
        return { name, op, ...cut };
      }
    });
  }
}
