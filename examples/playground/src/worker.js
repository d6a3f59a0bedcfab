// One run: starts a fresh instance of the module in this worker, which has nothing else to do and may be terminated at any moment.
//
// The module never yields, but what is posted here reaches the page all the same.

import { ConsoleStdout, File, OpenFile } from "@bjorn3/browser_wasi_shim";
import { GrantedFolder, Ledger } from "./memory-files.js";
import { Mailbox } from "./mailbox.js";
import { Wasi } from "./wasi.js";

/** The module's one line: a result and logs of 1 MiB each, with every character escaped, and names of files. */
const MAX_OUTPUT = 32 * 1024 * 1024;
/** Logs as they are printed; the module keeps to 1 MiB, which grows where control characters are spelled out. */
const MAX_LOG = 8 * 1024 * 1024;

self.onmessage = ({ data: order }) => {
  const mailbox = new Mailbox((message) => self.postMessage(message));
  try {
    mailbox.post({ type: "end", ...run(order, mailbox) });
  } catch (error) {
    mailbox.post({ type: "end", failure: { name: error.name, message: String(error.message) } });
  }
};

function run(order, mailbox) {
  const output = new Collector(MAX_OUTPUT);
  const descriptors = [
    new OpenFile(new File(order.script)),
    new ConsoleStdout((bytes) => output.add(bytes)),
    new ConsoleStdout(logTo(mailbox)),
  ];
  if (order.files !== undefined) {
    const ledger = new Ledger(order.maxTotal, order.entryCost, (change) => mailbox.post({ type: "file", change }));
    descriptors.push(new GrantedFolder(ledger, order.files));
  }
  const host = new Wasi(order.programArguments, descriptors);
  const instance = new WebAssembly.Instance(order.module, { wasi_snapshot_preview1: host.wasiImport });
  mailbox.post({ type: "start" });
  const started = performance.now();
  try {
    const exitCode = host.start(instance);
    return { exitCode, output: output.text(), milliseconds: performance.now() - started };
  } catch (error) {
    return { failure: { name: error.name, message: String(error.message) }, milliseconds: performance.now() - started };
  }
}

/** One `print` is written at once, with a line break at its end; a long one in several blocks. */
function logTo(mailbox) {
  const decoder = new TextDecoder();
  let left = MAX_LOG;
  return (bytes) => {
    if (bytes.length > left) return;
    left -= bytes.length;
    mailbox.post({ type: "log", text: decoder.decode(bytes, { stream: true }) });
  };
}

class Collector {
  #blocks = [];
  #left;

  constructor(limit) {
    this.#left = limit;
  }

  add(bytes) {
    this.#left -= bytes.length;
    if (this.#left < 0) throw new Error("the module wrote more than it may");
    this.#blocks.push(bytes);
  }

  text() {
    const decoder = new TextDecoder();
    return this.#blocks.map((block) => decoder.decode(block, { stream: true })).join("") + decoder.decode();
  }
}
