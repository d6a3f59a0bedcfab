// Runs each script in its own worker. Together with `worker.js`, this is the part to reuse in other pages.

import { ENTRY_COST, FileStore, MAX_TOTAL } from "./file-store.js";
import { RunReport } from "./run-report.js";

const MAX_SCRIPT = 1024 * 1024;
/** Milliseconds for a worker to start. They do not count towards the timeout of the script. */
const MAX_START = 20_000;
/** Milliseconds without a message after which a stopped worker has no messages left to read, and the maximum to wait for that. */
const IDLE_TIME = 60;
const MAX_IDLE_WAIT = 2_000;

const encoder = new TextEncoder();

/**
 * @typedef {object} RunOptions
 * @property {string | Uint8Array} script
 * @property {string[]} [arguments] the arguments that the script receives as `...`
 * @property {FileStore | null} [files] the io directory, updated while the script runs; `null` for none
 * @property {number} [timeout] seconds after which the script is stopped
 * @property {"raise" | "return"} [errors] how scripts see file errors
 * @property {number} [maxBytes] the number of bytes that the script can write
 * @property {number} [maxFiles] the number of files that it can create
 * @property {AbortSignal} [signal] stops the script
 * @property {(line: string) => void} [onLog] receives each line when it is printed
 */

/**
 * Returns a function that runs a script. Its promise never rejects because of what a script does.
 *
 * @param {WebAssembly.Module} module the compiled module, shared by all workers
 * @param {string} workerUrl the URL of `worker.js`
 * @returns {(options: RunOptions) => Promise<import("./run-report.js").FinishedRun>}
 */
export function createRunner(module, workerUrl) {
  return (options) => new Promise((resolve) => new Run(module, workerUrl, options, resolve).start());
}

class Run {
  #module;
  #workerUrl;
  #options;
  #resolve;
  #report;
  #worker;
  #timer;
  // Set while the run is being stopped: the error, the time of the stop, and the deadline for reading remaining messages.
  #stop;

  constructor(module, workerUrl, options, resolve) {
    this.#module = module;
    this.#workerUrl = workerUrl;
    this.#options = { arguments: [], files: new FileStore(), timeout: 5, errors: "raise", ...options };
    this.#resolve = resolve;
    this.#report = new RunReport(this.#options.files, this.#options.onLog);
  }

  start() {
    const { script, files, signal } = this.#options;
    const bytes = typeof script === "string" ? encoder.encode(script) : script;
    if (bytes.length > MAX_SCRIPT) {
      return this.#finish(this.#report.failed("internal", `the script is ${bytes.length} bytes; at most ${MAX_SCRIPT} are allowed`));
    }
    if (this.#options.arguments.some((argument) => argument.includes("\0"))) {
      return this.#finish(this.#report.failed("internal", "an argument contains a null byte"));
    }
    if (signal?.aborted) return this.#finish(this.#report.failed("cancelled", "the run was cancelled"));
    signal?.addEventListener("abort", this.#cancel);

    this.#worker = new Worker(this.#workerUrl, { name: "toolscript run" });
    this.#worker.onmessage = ({ data: message }) => this.#receive(message);
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
    const { errors, maxBytes, maxFiles, files } = this.#options;
    const programArguments = ["toolscript", "--errors", errors];
    if (maxBytes !== undefined) programArguments.push("--max-bytes", String(maxBytes));
    if (maxFiles !== undefined) programArguments.push("--max-files", String(maxFiles));
    if (files === null) programArguments.push("--no-io");
    // The script comes from standard input, because an argument cannot hold arbitrary bytes.
    return [...programArguments, "-", "--", ...this.#options.arguments];
  }

  #receive(message) {
    // Ignore everything that the script did after it was stopped.
    if (this.#stop !== undefined && message.time > this.#stop.time) return this.#finish(this.#report.failed(...this.#stop.error));
    if (message.type === "log") this.#report.addLog(message.text);
    else if (message.type === "file") this.#report.addFileChange(message.change);
    else if (message.type === "end") return this.#finish(this.#report.ended(message));
    else if (this.#stop === undefined) {
      const { timeout } = this.#options;
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#stopWith("timeout", `the script ran longer than ${timeout} s`), timeout * 1000);
    }
    if (this.#stop !== undefined) this.#waitUntilIdle();
  }

  #cancel = () => this.#stopWith("cancelled", "the run was cancelled");

  // Terminating a worker discards messages that the page has not read yet, including log lines and file changes. So the page first reads
  // all messages that were posted before the stop.
  #stopWith(...error) {
    if (this.#stop !== undefined) return;
    this.#stop = { error, time: performance.timeOrigin + performance.now(), deadline: performance.now() + MAX_IDLE_WAIT };
    this.#waitUntilIdle();
  }

  #waitUntilIdle() {
    clearTimeout(this.#timer);
    const wait = Math.max(0, Math.min(IDLE_TIME, this.#stop.deadline - performance.now()));
    this.#timer = setTimeout(() => this.#finish(this.#report.failed(...this.#stop.error)), wait);
  }

  #finish(finished) {
    clearTimeout(this.#timer);
    this.#options.signal?.removeEventListener("abort", this.#cancel);
    if (this.#worker !== undefined) {
      this.#worker.onmessage = null;
      this.#worker.terminate();
    }
    this.#resolve(finished);
  }
}
