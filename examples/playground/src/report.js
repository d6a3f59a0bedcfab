// What is known of a run: told by the module at its end, or put together from what the worker posted if it came to none.

import { endOfValue } from "./json-text.js";

/**
 * @typedef {object} Finished
 * @property {object} outcome `result` or `error`, `logs`, `files_touched`, and `truncated` if something was cut
 * @property {string} text the outcome as one line of JSON, exactly as the module wrote it
 * @property {string | undefined} result the result as JSON: JavaScript would round its numbers and sort its keys
 * @property {number} milliseconds that the script ran
 */

const RESULT = '{"result":';

export class Report {
  #files;
  #onLog;
  #logs = [];
  #pending = "";
  #touched = new Map();
  #began = performance.now();

  constructor(files, onLog = () => {}) {
    this.#files = files;
    this.#onLog = onLog;
  }

  log(text) {
    this.#pending += text;
    if (text.endsWith("\n")) this.#addPending();
  }

  file(change) {
    this.#files.apply(change);
    if (change.op === "folder") return;
    this.#touched.set(change.path, (this.#touched.get(change.path) ?? true) && change.append === true);
  }

  /** @returns {Finished} */
  ended({ exitCode, output, failure, milliseconds }) {
    if (failure !== undefined) return this.#broken(failure, milliseconds);
    let outcome;
    try {
      outcome = JSON.parse(output);
    } catch {
      // Nothing there: the module did not like its arguments, and said why where the log goes.
      const message = this.#logs.join(" ") || `the module ended with exit code ${exitCode} and no outcome`;
      this.#logs = [];
      return this.failed("internal", message, milliseconds);
    }
    const text = output.trimEnd();
    const result = text.startsWith(RESULT) ? text.slice(RESULT.length, endOfValue(text, RESULT.length)) : undefined;
    return { outcome, text, result, milliseconds };
  }

  /** @returns {Finished} */
  failed(kind, message, milliseconds = performance.now() - this.#began) {
    if (this.#pending !== "") this.#addPending();
    const names = [...this.#touched.keys()].sort();
    const outcome = { error: { kind, message }, logs: this.#logs, files_touched: names.map((name) => this.#became(name)) };
    return { outcome, text: JSON.stringify(outcome), result: undefined, milliseconds };
  }

  #addPending() {
    const line = this.#pending.replace(/\n$/, "");
    this.#pending = "";
    this.#logs.push(line);
    this.#onLog(line);
  }

  #became(name) {
    const bytes = this.#files.size(name);
    if (bytes === undefined) return { name, op: "remove" };
    return { name, op: this.#touched.get(name) ? "append" : "write", bytes };
  }

  // A worker's stack is smaller than the one that Luau counts on: deep recursion may end there first, as an error of JavaScript's.
  #broken({ name, message }, milliseconds) {
    const overflowed = (name === "RangeError" && /call stack/i.test(message)) || name === "InternalError";
    return overflowed ? this.failed("runtime", "stack overflow", milliseconds) : this.failed("internal", `${name}: ${message}`, milliseconds);
  }
}
