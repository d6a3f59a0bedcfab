// The worker of one run. It runs a fresh instance of the module and can be terminated at any time.
//
// The module never yields, but messages that the worker posts reach the page nevertheless.

import { ConsoleStdout, File, OpenFile } from "@bjorn3/browser_wasi_shim";
import { ThrottledMessages } from "./throttled-messages.js";
import { PreopenedDirectory, StorageQuota } from "./wasi-files.js";
import { Wasi } from "./wasi.js";

/** Bytes of the outcome: a result and logs of 1 MiB each with every character escaped, and file names. */
const MAX_OUTPUT = 32 * 1024 * 1024;
/** Bytes of the log. The module prints at most 1 MiB, which is longer once control characters are escaped. */
const MAX_LOG = 8 * 1024 * 1024;

self.onmessage = ({ data: request }) => {
  const messages = new ThrottledMessages((message) => self.postMessage(message));
  try {
    messages.post({ type: "end", ...run(request, messages) });
  } catch (error) {
    messages.post({ type: "end", failure: { name: error.name, message: String(error.message) } });
  }
};

function run(request, messages) {
  const output = new OutputBuffer(MAX_OUTPUT);
  const descriptors = [
    new OpenFile(new File(request.script)),
    new ConsoleStdout((bytes) => output.add(bytes)),
    new ConsoleStdout(createLogWriter(messages)),
  ];
  if (request.files !== undefined) {
    const quota = new StorageQuota(request.maxTotal, request.entryCost);
    descriptors.push(new PreopenedDirectory(quota, (change) => messages.post({ type: "file", change }), request.files));
  }
  const host = new Wasi(request.programArguments, descriptors);
  const instance = new WebAssembly.Instance(request.module, { wasi_snapshot_preview1: host.wasiImport });
  messages.post({ type: "start" });
  const start = performance.now();
  try {
    const exitCode = host.start(instance);
    return { exitCode, output: output.text(), milliseconds: performance.now() - start };
  } catch (error) {
    return { failure: { name: error.name, message: String(error.message) }, milliseconds: performance.now() - start };
  }
}

/** Returns a function that posts log output. One `print` is one write that ends with a line break, or several writes if it is long. */
function createLogWriter(messages) {
  const decoder = new TextDecoder();
  let available = MAX_LOG;
  return (bytes) => {
    if (bytes.length > available) return;
    available -= bytes.length;
    messages.post({ type: "log", text: decoder.decode(bytes, { stream: true }) });
  };
}

class OutputBuffer {
  #blocks = [];
  #available;

  constructor(limit) {
    this.#available = limit;
  }

  add(bytes) {
    this.#available -= bytes.length;
    if (this.#available < 0) throw new Error("the outcome of the module is too large");
    this.#blocks.push(bytes);
  }

  text() {
    const decoder = new TextDecoder();
    return this.#blocks.map((block) => decoder.decode(block, { stream: true })).join("") + decoder.decode();
  }
}
