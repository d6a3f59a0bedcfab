// What a run says: its log while it runs, then its result or its error, and the files it touched.
//
// All of it is a script's own text: it is only ever set as text.

import { layOut } from "./json-text.js";
import { LogView } from "./log-view.js";
import { countOf, download, sizeOf } from "./words.js";

/** Characters of a result, and of an error, that are shown. */
const MAX_SHOWN = 64 * 1024;
const MAX_TOUCHED = 200;

const part = (id) => document.getElementById(id);
const cut = (text) => (text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)} …` : text);

export class OutputView {
  #log = new LogView(part("log"), part("output"), (count) => {
    part("log-part").hidden = false;
    part("log-note").textContent = countOf(count, "line");
  });
  #finished;

  constructor() {
    part("save-log").addEventListener("click", () => download("log.txt", this.#log.text));
    part("save-result").addEventListener("click", () => download("result.json", `${this.#finished.result}\n`));
  }

  begin() {
    for (const id of ["log-part", "result-part", "error-part", "touched-part"]) part(id).hidden = true;
    // Whatever was there may be large, and its room is needed.
    for (const id of ["result", "error-message", "error-traceback", "touched"]) part(id).replaceChildren();
    part("empty").hidden = true;
    part("output").scrollTop = 0;
    this.#finished = undefined;
    this.#log.clear();
  }

  log(line) {
    this.#log.add(line);
  }

  /** @param {import("./report.js").Finished} finished */
  finish(finished) {
    this.#finished = finished;
    this.#log.flush();
    const { scrollTop, scrollHeight, clientHeight } = part("output");
    const isBehindLog = scrollTop > 0 && scrollHeight - scrollTop - clientHeight < 40;
    const { outcome, result } = finished;
    if (outcome.truncated?.includes("logs")) part("log-note").textContent += ", cut: more than 1 MiB was printed";
    if (result !== undefined) this.#showResult(result);
    if (outcome.error !== undefined) this.#showError(outcome.error);
    this.#showTouched(outcome.files_touched);
    // Whoever followed a long log to its end sees how it ended.
    if (isBehindLog) part("output").scrollTop = part(result === undefined ? "error-part" : "result-part").offsetTop - 8;
  }

  #showResult(result) {
    const text = layOut(result, MAX_SHOWN);
    part("result").textContent = cut(text);
    part("result-note").textContent = text.length > MAX_SHOWN ? `cut in this view: ${sizeOf(result.length)} in all` : "";
    part("result-part").hidden = false;
  }

  #showError({ kind, message, traceback = "" }) {
    part("error-kind").textContent = kind;
    part("error-message").textContent = cut(message);
    part("error-traceback").textContent = cut(traceback);
    part("error-part").hidden = false;
  }

  #showTouched(touched) {
    const lines = touched.slice(0, MAX_TOUCHED).map(({ name, op, bytes, cut: isCut }) => {
      const size = bytes === undefined ? "" : ` (${countOf(bytes, "byte")})`;
      return `${op} ${name}${size}${isCut ? ", cut" : ""}`;
    });
    if (touched.length > MAX_TOUCHED) lines.push(`… and ${touched.length - MAX_TOUCHED} more`);
    for (const line of lines) {
      const item = document.createElement("li");
      item.textContent = line;
      part("touched").append(item);
    }
    part("touched-part").hidden = lines.length === 0;
  }
}
