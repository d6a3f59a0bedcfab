// Checks the timeout, the stack, and the limits on sizes.

import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { runInWorker } from "../../../examples/embed-node/run-in-worker.mjs";
import { CheckFailed, expect, expectRejected, withIoDir } from "./expect.mjs";

// Seconds for an endless script.
const SHORT_TIMEOUT = 0.5;
const TIMEOUT_ERROR = { kind: "timeout", message: "the script ran longer than 0.5 s" };
// Seconds for an endless script that prints until the log is full.
const LOG_TIMEOUT = 3;

export async function checkTimeout(sandbox) {
  const endless = [
    "print('started') while true do end",
    "print('started') while true do pcall(function() while true do end end) end",
    "print('started') pcall(function() while true do end end) return 'caught'",
    "print('started') while true do os.clock() end",
    "print('started') string.find(('a'):rep(5000), ('.-'):rep(12) .. 'b')",
  ];
  for (const script of endless) {
    const start = performance.now();
    const expected = { error: TIMEOUT_ERROR, logs: ["started"], files_touched: [] };
    expect(await sandbox.run({ script, timeout: SHORT_TIMEOUT }), expected, script);
    const elapsed = (performance.now() - start) / 1000;
    if (elapsed > 10) throw new CheckFailed(`stopping the script took ${elapsed} s: ${script}`);
  }
  const script = `
    print("one\\ntwo", 3) print(("x"):rep(10000)) print("\\27[1m") print() print("\\u{FEFF}é")
    while true do end
  `;
  const { logs } = await sandbox.run({ script, timeout: SHORT_TIMEOUT });
  expect(logs, ["one\ntwo\t3", "x".repeat(10000), "\\u{1b}[1m", "", "\ufeffé"], "log of a stopped run");
  for (const timeout of [0, -1, Number.NaN, 86_401]) {
    await expectRejected(() => sandbox.run({ script: "return 1", timeout }), "the timeout must be", `timeout of ${timeout}`);
  }
  return `the timeout stops ${endless.length} endless loops, even inside pcall, and keeps the log`;
}

// The module flushes its buffers after a number of interpreter steps. This script has few steps, and each takes long, so that the last
// write is still buffered at the timeout.
const TOUCH_FILES = `
  local large = ("x"):rep(2e7)
  io.open("directory/made", "w"):write("12"):close()
  io.open("longer", "a"):write("er"):close()
  io.open("new-log", "a"):close()
  local f = io.open("changed", "r+") f:write("N") f:close()
  io.open("read"):read("*a")
  os.remove("removed")
  io.open("gone", "w"):close() os.remove("gone")
  local buffered = io.open("buffered", "w") buffered:write("written") buffered:write("waits")
  while ... do utf8.len(large) end
`;

/** The module cannot report the files of a stopped run, so the host does. */
export async function checkStoppedFiles(sandbox) {
  const run = (scriptArguments) =>
    withIoDir(async (ioDir) => {
      await mkdir(ioDir);
      for (const name of ["changed", "longer", "read", "removed"]) await writeFile(join(ioDir, name), "old");
      return sandbox.run({ script: TOUCH_FILES, arguments: scriptArguments, ioDir, timeout: SHORT_TIMEOUT });
    });
  const expected = (buffered) => [
    { name: "buffered", op: "write", ...buffered },
    { name: "changed", op: "write", bytes: 3 },
    { name: "directory/made", op: "write", bytes: 2 },
    { name: "gone", op: "remove" },
    { name: "longer", op: "append", bytes: 5 },
    { name: "new-log", op: "append", bytes: 0 },
    { name: "removed", op: "remove" },
  ];
  const stopped = await run(["loop"]);
  expect(stopped, { error: TIMEOUT_ERROR, logs: [], files_touched: expected({ bytes: 7, cut: true }) }, "files of a stopped run");
  // Without an argument the script ends, and the module itself reports the files.
  expect((await run([])).files_touched, expected({ bytes: 12 }), "files of a completed run");
  return "a stopped run reports the files that it touched";
}

export async function checkSizes(sandbox) {
  const long = await sandbox.run({ script: "print(('x'):rep(2^20 + 1)) print(1)" });
  expect([long.logs.length, long.logs[0].length, long.truncated], [1, (1 << 20) - 24, ["logs"]], "truncated line");
  const { logs, truncated } = await sandbox.run({ script: "while true do print('flood') end", timeout: LOG_TIMEOUT });
  expect([logs.length, truncated], [Math.floor((1 << 20) / (5 + 24)), ["logs"]], "log of a script that only prints");
  const escaped = await sandbox.run({ script: "print(('\\0'):rep(2^20)) while true do end", timeout: LOG_TIMEOUT });
  expect([escaped.logs[0].slice(0, 10), escaped.truncated], ["\\u{0}\\u{0}", ["logs"]], "control characters in a truncated log");
  const { error } = await sandbox.run({ script: "return ('x'):rep(2^20)" });
  expect([error.kind, error.message.includes("at most 1048576 are allowed")], ["result", true], "result that is too large");
  await expectRejected(() => sandbox.run({ script: " ".repeat((1 << 20) + 1) }), "the script is 1048577 bytes", "script that is too large");
  const largeArguments = ["x".repeat((1 << 20) - 15)];
  await expectRejected(() => sandbox.run({ script: "return 1", arguments: largeArguments }), "the arguments are", "arguments that are too large");
  await expectRejected(() => sandbox.run({ script: "return 1", arguments: ["a\0b"] }), "null byte", "argument with a null byte");
  const { result } = await sandbox.run({ script: "return select('#', ...), #(...)", arguments: ["x".repeat((1 << 20) - 16)] });
  expect(result, [1, (1 << 20) - 16], "large argument");
  await withIoDir(async (ioDir) => {
    await expectRejected(() => sandbox.run({ script: "return 1", ioDir, errors: "ignore" }), "errors must be", "invalid value of `errors`");
    await expectRejected(() => sandbox.run({ script: "return 1", ioDir, maxBytes: -1 }), "maxBytes must be", "negative quota");
    expect(await readdir(join(ioDir, "..")), [], "no directory is created for invalid options");
  });
  return "sizes: logs are truncated at 1 MiB, also for stopped runs; results, scripts and arguments are limited";
}

/** With a stack that is too small for Luau's depth limits, V8 stops the script, and the host continues. */
export async function checkStack(module) {
  const script = "print('started') local function again() table.sort({ 2, 1 }, again) end again()";
  const end = await runInWorker(module, { argv: ["toolscript", "-e", script], input: "", timeout: 10, stackMebibytes: 0.3 });
  expect([end.status, end.lines.map(String)], ["stack-overflow", ["started\n"]], "run that overflows the stack");
  return "a stack overflow ends only its own run";
}
