// The log: takes any number of lines at any pace, and shows them once a frame.
//
// Lines are a script's own text. They go into text nodes and nowhere else.

/** Longer lines are cut in the view, as a browser takes seconds to lay one of a mebibyte out; what is saved is whole. */
const MAX_LINE = 4096;
/** So many lines make an element, which is laid out only when it is in sight. */
const LINES_TOGETHER = 200;

const shown = (line) => (line.length <= MAX_LINE ? line : `${line.slice(0, MAX_LINE)} … (${line.length - MAX_LINE} more characters, in the saved log)`);

export class LogView {
  #log;
  #scroller;
  #onCount;
  #lines = [];
  #shown = 0;
  #frame;

  /** @param {(count: number) => void} onCount told before lines are shown */
  constructor(log, scroller, onCount) {
    this.#log = log;
    this.#scroller = scroller;
    this.#onCount = onCount;
  }

  get text() {
    return this.#lines.map((line) => `${line}\n`).join("");
  }

  clear() {
    this.#lines = [];
    this.#shown = 0;
    this.#log.replaceChildren();
  }

  add(line) {
    this.#lines.push(line);
    this.#frame ??= requestAnimationFrame(() => this.flush());
  }

  flush() {
    cancelAnimationFrame(this.#frame);
    this.#frame = undefined;
    if (this.#shown === this.#lines.length) return;
    this.#onCount(this.#lines.length);
    const { scrollHeight, scrollTop, clientHeight } = this.#scroller;
    const follows = scrollHeight - scrollTop - clientHeight < 40;
    while (this.#shown < this.#lines.length) {
      const room = LINES_TOGETHER - (this.#shown % LINES_TOGETHER);
      const lines = this.#lines.slice(this.#shown, this.#shown + room);
      if (room === LINES_TOGETHER) this.#log.append(document.createElement("div"));
      this.#log.lastElementChild.append(lines.map((line) => `${shown(line)}\n`).join(""));
      this.#log.lastElementChild.classList.toggle("full", lines.length === room);
      this.#shown += lines.length;
    }
    if (follows) this.#scroller.scrollTop = this.#scroller.scrollHeight;
  }
}
