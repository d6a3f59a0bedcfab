// Collects what a run does, and builds its outcome: from the output of the module, or from the worker's messages if the run was stopped.

import { endOfValue } from "./json-scan.js";

/**
 * @typedef {object} FinishedRun
 * @property {object} outcome `result` or `error`, `logs`, `files_touched`, and `truncated` if a limit shortened something
 * @property {string} text the outcome as one line of JSON, exactly as the module wrote it
 * @property {string | undefined} result the result as JSON text, because JavaScript would round numbers and reorder keys
 * @property {number} milliseconds the duration of the run
 */

const RESULT_PREFIX = '{"result":';

export class RunReport {
  #files;
  #onLog;
  #logs = [];
  #pendingLine = "";
  // For each changed file: `true` if it was only appended to.
  #touched = new Map();
  #start = performance.now();

  constructor(files, onLog = () => {}) {
    this.#files = files;
    this.#onLog = onLog;
  }

  addLog(text) {
    this.#pendingLine += text;
    if (text.endsWith("\n")) this.#flushLine();
  }

  addFileChange(change) {
    this.#files.apply(change);
    if (change.op === "create-directory") return;
    this.#touched.set(change.path, (this.#touched.get(change.path) ?? true) && change.append === true);
  }

  /**
   * Returns the outcome of a run whose module ended.
   * @returns {FinishedRun}
   */
  ended({ exitCode, output, failure, milliseconds }) {
    if (failure !== undefined) return this.#crashed(failure, milliseconds);
    let outcome;
    try {
      outcome = JSON.parse(output);
    } catch {
      // The module rejected its arguments and wrote the reason to standard error, which is the log.
      const message = this.#logs.join(" ") || `the module ended with exit code ${exitCode} and no outcome`;
      this.#logs = [];
      return this.failed("internal", message, milliseconds);
    }
    const text = output.trimEnd();
    const result = text.startsWith(RESULT_PREFIX) ? text.slice(RESULT_PREFIX.length, endOfValue(text, RESULT_PREFIX.length)) : undefined;
    return { outcome, text, result, milliseconds };
  }

  /**
   * Returns the outcome of a run that was stopped or could not start.
   * @returns {FinishedRun}
   */
  failed(kind, message, milliseconds = performance.now() - this.#start) {
    if (this.#pendingLine !== "") this.#flushLine();
    const names = [...this.#touched.keys()].sort();
    const outcome = { error: { kind, message }, logs: this.#logs, files_touched: names.map((name) => this.#touchedFile(name)) };
    return { outcome, text: JSON.stringify(outcome), result: undefined, milliseconds };
  }

  #flushLine() {
    const line = this.#pendingLine.replace(/\n$/, "");
    this.#pendingLine = "";
    this.#logs.push(line);
    this.#onLog(line);
  }

  #touchedFile(name) {
    const bytes = this.#files.size(name);
    if (bytes === undefined) return { name, op: "remove" };
    return { name, op: this.#touched.get(name) ? "append" : "write", bytes };
  }

  // The stack of a worker is smaller than Luau expects, so deep recursion can end with a JavaScript error first.
  #crashed({ name, message }, milliseconds) {
    const overflowed = (name === "RangeError" && /call stack/i.test(message)) || name === "InternalError";
    return overflowed ? this.failed("runtime", "stack overflow", milliseconds) : this.failed("internal", `${name}: ${message}`, milliseconds);
  }
}
