// The worker of one run. It creates a fresh instance and posts one message that says how the run ended.

import { createContext, Script } from "node:vm";
import { WASI } from "node:wasi";
import { parentPort, workerData } from "node:worker_threads";

import { GuardedWasi } from "./guarded-wasi.mjs";
import { SharedLog } from "./shared-log.mjs";
import { StandardStreams } from "./standard-streams.mjs";

const { module, argv, input, ioDir, timeout, logBuffer } = workerData;

const streams = new StandardStreams(Buffer.from(input), new SharedLog(logBuffer));
const wasi = new WASI({
  version: "preview1",
  args: argv,
  env: {},
  preopens: ioDir === undefined ? {} : { "/": ioDir },
  returnOnExit: true,
});
const guard = new GuardedWasi(wasi, streams, ioDir);
try {
  parentPort.postMessage(run());
} finally {
  guard.close();
}

/** Runs the module and returns how the run ended. */
function run() {
  const instance = new WebAssembly.Instance(module, guard.imports());
  guard.attach(instance.exports.memory);
  try {
    const code = callWithTimeout(() => wasi.start(instance));
    return streams.isOutputTruncated() ? failed("the outcome is too large") : { status: "exit", code, output: streams.output() };
  } catch (error) {
    streams.flush();
    if (error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return { status: "timeout", touched: guard.touchedFiles() };
    // V8 reports a stack overflow only by this message.
    if (error instanceof RangeError && error.message.includes("call stack")) return { status: "stack-overflow", touched: guard.touchedFiles() };
    return failed(String(error));
  }
}

function failed(cause) {
  return { status: "failed", cause, touched: guard.touchedFiles() };
}

/** Interrupts the call at the timeout and then returns, unlike `worker.terminate()`, which would leave files open. */
function callWithTimeout(call) {
  return new Script("call()").runInContext(createContext({ call }), { timeout: Math.ceil(timeout * 1000) });
}
