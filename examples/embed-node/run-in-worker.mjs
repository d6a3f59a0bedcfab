// Runs the command of the module once, in a worker.

import { Worker } from "node:worker_threads";

import { SharedLog } from "./shared-log.mjs";

// The stack of the worker. A script must reach Luau's own depth limits before its end, because only those raise an error that the script
// can catch. They need half a mebibyte.
const STACK_MEBIBYTES = 4;
// The worker stops itself at the timeout. If it does not, it is terminated after this time.
const TERMINATE_DELAY_MILLISECONDS = 10_000;

/**
 * Returns how the run ended. `lines` are the lines of standard error. `status` is one of:
 * - `exit`, with `code` and `output`;
 * - `timeout` or `stack-overflow` for a run that was stopped, with the `touched` files;
 * - `failed`, with `cause` and the `touched` files.
 */
export function runInWorker(module, { argv, input, ioDir, timeout, stackMebibytes = STACK_MEBIBYTES }) {
  const log = new SharedLog();
  const worker = new Worker(new URL("worker.mjs", import.meta.url), {
    workerData: { module, argv, input, ioDir, timeout, logBuffer: log.buffer },
    // The worker gets no environment, arguments, flags or standard streams of the program.
    env: {},
    argv: [],
    execArgv: ["--disable-warning=ExperimentalWarning"],
    stdin: true,
    stdout: true,
    stderr: true,
    resourceLimits: { stackSizeMb: stackMebibytes },
  });
  return new Promise((resolve) => {
    let end = { status: "failed", cause: "the worker ended without a message", touched: [] };
    const finish = () => {
      clearTimeout(timer);
      resolve({ ...end, lines: log.lines() });
    };
    const timer = setTimeout(() => {
      end = { status: "timeout", touched: [] };
      worker.terminate();
      // The worker may be blocked in a system call that never returns, so nothing waits for it.
      worker.unref();
      finish();
    }, timeout * 1000 + TERMINATE_DELAY_MILLISECONDS);
    worker.on("message", (message) => {
      end = message;
    });
    worker.on("error", (error) => {
      end = { status: "failed", cause: String(error), touched: [] };
    });
    worker.on("exit", finish);
  });
}
