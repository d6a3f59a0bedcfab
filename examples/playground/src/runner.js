// Runs scripts, each in a worker of its own. This is the part that a page of another kind would take over, with `worker.js`.

import { ENTRY_COST, FileStore, MAX_TOTAL } from "./file-store.js";
import { Report } from "./report.js";

const MAX_SCRIPT = 1024 * 1024;
/** For a worker to come up, which is no part of a script's time. */
const MAX_START = 20_000;
/** When a run is stopped: so long after the last message that was on its way, none is. */
const QUIET = 60;
const MAX_QUIET = 2_000;

const encoder = new TextEncoder();

/**
 * @typedef {object} Order
 * @property {string | Uint8Array} script
 * @property {string[]} [arguments] what the script gets as `...`
 * @property {FileStore | null} [files] the io dir, changed as the script changes it; none at all if it is null
 * @property {number} [seconds] after which the script is stopped
 * @property {"raise" | "return"} [errors] what `io` does with refusals
 * @property {number} [maxBytes] that the script may write
 * @property {number} [maxFiles] that it may make
 * @property {AbortSignal} [signal] stops it
 * @property {(line: string) => void} [onLog] each line at the moment it is printed
 */

/**
 * @param {WebAssembly.Module} module compiled once, for all workers
 * @param {string} workerAddress of `worker.js`
 * @returns {(order: Order) => Promise<import("./report.js").Finished>} which never rejects for what a script does
 */
export function createRunner(module, workerAddress) {
  return (order) => new Promise((resolve) => new Run(module, workerAddress, order, resolve).start());
}

class Run {
  #module;
  #workerAddress;
  #order;
  #resolve;
  #report;
  #worker;
  #timer;
  // Why it is being stopped, since when, and until when messages are waited for.
  #stop;

  constructor(module, workerAddress, order, resolve) {
    this.#module = module;
    this.#workerAddress = workerAddress;
    this.#order = { arguments: [], files: new FileStore(), seconds: 5, errors: "raise", ...order };
    this.#resolve = resolve;
    this.#report = new Report(this.#order.files, this.#order.onLog);
  }

  start() {
    const { script, files, signal } = this.#order;
    const bytes = typeof script === "string" ? encoder.encode(script) : script;
    if (bytes.length > MAX_SCRIPT) {
      return this.#finish(this.#report.failed("internal", `the script is ${bytes.length} bytes; at most ${MAX_SCRIPT} are allowed`));
    }
    if (this.#order.arguments.some((argument) => argument.includes("\0"))) {
      return this.#finish(this.#report.failed("internal", "an argument can't contain null bytes"));
    }
    if (signal?.aborted) return this.#finish(this.#report.failed("cancelled", "the run was cancelled"));
    signal?.addEventListener("abort", this.#cancel);

    this.#worker = new Worker(this.#workerAddress, { name: "toolscript run" });
    this.#worker.onmessage = ({ data: message }) => this.#take(message);
    this.#worker.onerror = (event) => {
      event.preventDefault();
      this.#finish(this.#report.failed("internal", `the worker failed: ${event.message ?? "it did not start"}`));
    };
    this.#timer = setTimeout(() => this.#finish(this.#report.failed("internal", "the worker did not start")), MAX_START);
    const snapshot = files?.snapshot();
    const buffers = (snapshot?.files ?? []).map(([, contents]) => contents.buffer);
    this.#worker.postMessage(
      {
        module: this.#module,
        script: bytes,
        programArguments: this.#programArguments(),
        files: snapshot,
        maxTotal: MAX_TOTAL,
        entryCost: ENTRY_COST,
      },
      buffers,
    );
  }

  #programArguments() {
    const { errors, maxBytes, maxFiles, files } = this.#order;
    const all = ["toolscript", "--errors", errors];
    if (maxBytes !== undefined) all.push("--max-bytes", String(maxBytes));
    if (maxFiles !== undefined) all.push("--max-files", String(maxFiles));
    if (files === null) all.push("--no-io");
    // From standard input: a script may have any bytes, and any length, which an argument may not.
    return [...all, "-", "--", ...this.#order.arguments];
  }

  #take(message) {
    // What a script did after it was stopped, it did not do.
    if (this.#stop !== undefined && message.time > this.#stop.since) return this.#finish(this.#report.failed(...this.#stop.error));
    if (message.type === "log") this.#report.log(message.text);
    else if (message.type === "file") this.#report.file(message.change);
    else if (message.type === "end") return this.#finish(this.#report.ended(message));
    else if (this.#stop === undefined) {
      const { seconds } = this.#order;
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#stopBecause("timeout", `the script ran longer than ${seconds} s`), seconds * 1000);
    }
    if (this.#stop !== undefined) this.#waitForQuiet();
  }

  #cancel = () => this.#stopBecause("cancelled", "the run was cancelled");

  // Terminating a worker throws away the messages of its that the page has not read yet, and lines and files with them. So the
  // page first reads all that were posted until now.
  #stopBecause(...error) {
    if (this.#stop !== undefined) return;
    this.#stop = { error, since: performance.timeOrigin + performance.now(), until: performance.now() + MAX_QUIET };
    this.#waitForQuiet();
  }

  #waitForQuiet() {
    clearTimeout(this.#timer);
    const wait = Math.max(0, Math.min(QUIET, this.#stop.until - performance.now()));
    this.#timer = setTimeout(() => this.#finish(this.#report.failed(...this.#stop.error)), wait);
  }

  #finish(finished) {
    clearTimeout(this.#timer);
    this.#order.signal?.removeEventListener("abort", this.#cancel);
    if (this.#worker !== undefined) {
      this.#worker.onmessage = null;
      this.#worker.terminate();
    }
    this.#resolve(finished);
  }
}
