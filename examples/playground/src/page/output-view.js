// The output of a run: its log while it runs, then its result or error, and the files that it touched.
//
// All of it is untrusted, so it is only inserted as text.

import { download } from "./download.js";
import { formatCount, formatSize } from "./format.js";
import { formatJson } from "./json-format.js";
import { LogView } from "./log-view.js";

/** Characters of a result or an error that are shown, and touched files that are listed. */
const MAX_SHOWN = 64 * 1024;
const MAX_TOUCHED = 200;

const element = (id) => document.getElementById(id);
const truncate = (text) => (text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)} …` : text);

export class OutputView {
  #log = new LogView(element("log"), element("output"), (count) => {
    element("log-section").hidden = false;
    element("log-note").textContent = formatCount(count, "line");
  });
  #finished;

  constructor() {
    element("save-log").addEventListener("click", () => download("log.txt", this.#log.text));
    element("save-result").addEventListener("click", () => download("result.json", `${this.#finished.result}\n`));
  }

  begin() {
    for (const id of ["log-section", "result-section", "error-section", "touched-section"]) element(id).hidden = true;
    // Release the memory of the previous output, which may be large.
    for (const id of ["result", "error-message", "error-traceback", "touched"]) element(id).replaceChildren();
    element("empty").hidden = true;
    element("output").scrollTop = 0;
    this.#finished = undefined;
    this.#log.clear();
  }

  log(line) {
    this.#log.add(line);
  }

  /** @param {import("../runner/run-report.js").FinishedRun} finished */
  finish(finished) {
    this.#finished = finished;
    this.#log.flush();
    const { scrollTop, scrollHeight, clientHeight } = element("output");
    const isAtEndOfLog = scrollTop > 0 && scrollHeight - scrollTop - clientHeight < 40;
    const { outcome, result } = finished;
    if (outcome.truncated?.includes("logs")) element("log-note").textContent += ", truncated: more than 1 MiB was printed";
    if (result !== undefined) this.#showResult(result);
    if (outcome.error !== undefined) this.#showError(outcome.error);
    this.#showTouched(outcome.files_touched);
    // If the end of the log was visible, scroll to the result below it.
    if (isAtEndOfLog) element("output").scrollTop = element(result === undefined ? "error-section" : "result-section").offsetTop - 8;
  }

  #showResult(result) {
    const text = formatJson(result, MAX_SHOWN);
    element("result").textContent = truncate(text);
    element("result-note").textContent = text.length > MAX_SHOWN ? `truncated in this view: ${formatSize(result.length)} in total` : "";
    element("result-section").hidden = false;
  }

  #showError({ kind, message, traceback = "" }) {
    element("error-kind").textContent = kind;
    element("error-message").textContent = truncate(message);
    element("error-traceback").textContent = truncate(traceback);
    element("error-section").hidden = false;
  }

  #showTouched(touched) {
    const lines = touched.slice(0, MAX_TOUCHED).map(({ name, op, bytes, cut: isTruncated }) => {
      const size = bytes === undefined ? "" : ` (${formatCount(bytes, "byte")})`;
      return `${op} ${name}${size}${isTruncated ? ", truncated" : ""}`;
    });
    if (touched.length > MAX_TOUCHED) lines.push(`… and ${touched.length - MAX_TOUCHED} more`);
    for (const line of lines) {
      const item = document.createElement("li");
      item.textContent = line;
      element("touched").append(item);
    }
    element("touched-section").hidden = lines.length === 0;
  }
}
