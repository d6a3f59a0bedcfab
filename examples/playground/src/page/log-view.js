// The log view. It accepts any number of lines at any rate, and renders them once per frame.
//
// Lines are untrusted, so they are only inserted as text nodes.

/** Characters of a line that are shown, because a browser takes seconds to lay out a line of 1 MiB. The saved log is complete. */
const MAX_LINE_LENGTH = 4096;
/** Lines per element. An element is laid out only when it is visible. */
const LINES_PER_ELEMENT = 200;

const truncate = (line) => (line.length <= MAX_LINE_LENGTH ? line : `${line.slice(0, MAX_LINE_LENGTH)} … (${line.length - MAX_LINE_LENGTH} more characters in the saved log)`);

export class LogView {
  #log;
  #scroller;
  #onCount;
  #lines = [];
  #renderedCount = 0;
  #frame;

  /** @param {(count: number) => void} onCount called with the number of lines before they are rendered */
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
    this.#renderedCount = 0;
    this.#log.replaceChildren();
  }

  add(line) {
    this.#lines.push(line);
    this.#frame ??= requestAnimationFrame(() => this.flush());
  }

  flush() {
    cancelAnimationFrame(this.#frame);
    this.#frame = undefined;
    if (this.#renderedCount === this.#lines.length) return;
    this.#onCount(this.#lines.length);
    const { scrollHeight, scrollTop, clientHeight } = this.#scroller;
    const isAtEnd = scrollHeight - scrollTop - clientHeight < 40;
    while (this.#renderedCount < this.#lines.length) {
      const available = LINES_PER_ELEMENT - (this.#renderedCount % LINES_PER_ELEMENT);
      const lines = this.#lines.slice(this.#renderedCount, this.#renderedCount + available);
      if (available === LINES_PER_ELEMENT) this.#log.append(document.createElement("div"));
      this.#log.lastElementChild.append(lines.map((line) => `${truncate(line)}\n`).join(""));
      this.#log.lastElementChild.classList.toggle("full", lines.length === available);
      this.#renderedCount += lines.length;
    }
    if (isAtEnd) this.#scroller.scrollTop = this.#scroller.scrollHeight;
  }
}
