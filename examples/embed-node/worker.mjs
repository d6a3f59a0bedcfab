// One run: a thread of its own, a fresh instance, one message to the program about its end.

import { createContext, Script } from "node:vm";
import { WASI } from "node:wasi";
import { parentPort, workerData } from "node:worker_threads";

import { Lines } from "./lines.mjs";
import { Streams } from "./streams.mjs";
import { Wall } from "./wall.mjs";

const { module, argv, input, folder, timeout, printed } = workerData;

const streams = new Streams(Buffer.from(input), new Lines(printed));
const wasi = new WASI({
  version: "preview1",
  args: argv,
  env: {},
  preopens: folder === undefined ? {} : { "/": folder },
  returnOnExit: true,
});
const wall = new Wall(wasi, streams, folder);
try {
  parentPort.postMessage(run());
} finally {
  wall.close();
}

/** How the run ended. */
function run() {
  const instance = new WebAssembly.Instance(module, wall.imports());
  wall.attach(instance.exports.memory);
  try {
    const code = withinTime(() => wasi.start(instance));
    return streams.isOutputCut() ? failed("the outcome is too large") : { how: "exit", code, output: streams.output() };
  } catch (error) {
    streams.flush();
    if (error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return { how: "timeout", touched: wall.stopped() };
    // V8's word for a full stack; there is no other way to know it.
    if (error instanceof RangeError && error.message.includes("call stack")) return { how: "stack", touched: wall.stopped() };
    return failed(String(error));
  }
}

function failed(cause) {
  return { how: "failed", cause, touched: wall.stopped() };
}

/** Ends the call when the time is over, wherever it is, and comes back: unlike `worker.terminate()`, which leaves the files open. */
function withinTime(call) {
  return new Script("call()").runInContext(createContext({ call }), { timeout: Math.ceil(timeout * 1000) });
}
