// Runs the module's command once, in a worker, and tells how it ended.

import { Worker } from "node:worker_threads";

import { Lines } from "./lines.mjs";

// The thread's stack. Luau's own limits on depth must be reached before its end, so that a script sees an error that it can catch: they need
// half a mebibyte.
const STACK_MEBIBYTES = 4;
// The worker ends itself when its time is over. If it does not, it is ended.
const GRACE_MILLISECONDS = 10_000;

/**
 * `lines` are those of standard error; `how` is
 * - `exit`, with `code` and `output`;
 * - `timeout` or `stack`, a run that was stopped, or `failed`, with `cause`: all with what it had `touched`.
 */
export function runCommand(module, { argv, input, folder, timeout, stackMebibytes = STACK_MEBIBYTES }) {
  const lines = new Lines();
  const worker = new Worker(new URL("worker.mjs", import.meta.url), {
    workerData: { module, argv, input, folder, timeout, printed: lines.shared },
    // Nothing of the program's: no environment, arguments, flags or standard streams.
    env: {},
    argv: [],
    execArgv: ["--disable-warning=ExperimentalWarning"],
    stdin: true,
    stdout: true,
    stderr: true,
    resourceLimits: { stackSizeMb: stackMebibytes },
  });
  return new Promise((resolve) => {
    let end = { how: "failed", cause: "the worker ended without a word", touched: [] };
    const finish = () => {
      clearTimeout(timer);
      resolve({ ...end, lines: lines.all() });
    };
    const timer = setTimeout(() => {
      end = { how: "timeout", touched: [] };
      worker.terminate();
      // It may be inside a call of the system's that does not end: nobody waits for it.
      worker.unref();
      finish();
    }, timeout * 1000 + GRACE_MILLISECONDS);
    worker.on("message", (message) => {
      end = message;
    });
    worker.on("error", (error) => {
      end = { how: "failed", cause: String(error), touched: [] };
    });
    worker.on("exit", finish);
  });
}
