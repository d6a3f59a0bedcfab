// What a run did to files, as the wall saw it: for runs that are stopped before the module can tell.

import { lstatSync } from "node:fs";

// As the module has it: files that a run may touch, and bytes of their names. The host holds them, and looks at each at the end.
const MAX_TOUCHED = 20_000;
const MAX_NAMES = 1 << 20;

export class Touched {
  #marks = new Map();
  #nameBytes = 0;

  /** The file was made, changed, emptied or removed; or, with `appends`, made or changed by appending to it. */
  mark(path, name, appends) {
    let mark = this.#marks.get(name);
    if (!mark) {
      this.#nameBytes += Buffer.byteLength(name);
      // Only a guest that is broken open gets here.
      if (this.#marks.size >= MAX_TOUCHED || this.#nameBytes > MAX_NAMES) return;
      mark = { path, onlyAppended: true, cut: false };
      this.#marks.set(name, mark);
    }
    mark.onlyAppended &&= appends;
  }

  /** The file is still open for writing: the module may hold bytes for it, which nobody will write. */
  cut(path, name, appends) {
    this.mark(path, name, appends);
    const mark = this.#marks.get(name);
    if (mark) mark.cut = true;
  }

  /** Looks at the disk and tells what became of each, in name order. */
  report() {
    const names = [...this.#marks.keys()].sort((first, second) => Buffer.compare(Buffer.from(first), Buffer.from(second)));
    return names.map((name) => {
      const { path, onlyAppended, cut } = this.#marks.get(name);
      const op = onlyAppended ? "append" : "write";
      const rest = cut ? { cut } : {};
      try {
        const state = lstatSync(path, { throwIfNoEntry: false });
        return state ? { name, op, bytes: state.size, ...rest } : { name, op: "remove" };
      } catch {
        return { name, op, ...rest };
      }
    });
  }
}
