// What ends a run, and what it has then.

import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { runCommand } from "../run.mjs";
import { expect, expectRefusal, Wrong, withDirectory } from "./expect.mjs";

// Seconds for a script that does not end by itself.
const SHORT = 0.5;
const TIMEOUT = { kind: "timeout", message: "the script ran longer than 0.5 s" };
// For one that prints until nothing more is kept.
const ENOUGH = 3;

export async function time(box) {
  const endless = [
    "print('begun') while true do end",
    "print('begun') while true do pcall(function() while true do end end) end",
    "print('begun') pcall(function() while true do end end) return 'caught'",
    "print('begun') while true do os.clock() end",
    "print('begun') string.find(('a'):rep(5000), ('.-'):rep(12) .. 'b')",
  ];
  for (const script of endless) {
    const began = performance.now();
    expect(await box.run({ script, timeout: SHORT }), { error: TIMEOUT, logs: ["begun"], files_touched: [] }, script);
    const took = (performance.now() - began) / 1000;
    if (took > 10) throw new Wrong(`it took ${took} s to stop: ${script}`);
  }
  const script = `
    print("one\\ntwo", 3) print(("x"):rep(10000)) print("\\27[1m") print() print("\\u{FEFF}é")
    while true do end
  `;
  const { logs } = await box.run({ script, timeout: SHORT });
  expect(logs, ["one\ntwo\t3", "x".repeat(10000), "\\u{1b}[1m", "", "\ufeffé"], "the log of a run that was stopped");
  for (const timeout of [0, -1, Number.NaN, 86_401]) {
    await expectRefusal(() => box.run({ script: "return 1", timeout }), "the timeout must be", `a timeout of ${timeout}`);
  }
  return `time ends ${endless.length} endless loops, pcall can't catch it, and what was printed is kept`;
}

// The module writes what waits after some steps of a script. Here they are few, and each takes long.
const TOUCH = `
  local large = ("x"):rep(2e7)
  io.open("folder/made", "w"):write("12"):close()
  io.open("longer", "a"):write("er"):close()
  io.open("new-log", "a"):close()
  local f = io.open("changed", "r+") f:write("N") f:close()
  io.open("read"):read("*a")
  os.remove("removed")
  io.open("gone", "w"):close() os.remove("gone")
  local held = io.open("held", "w") held:write("written") held:write("waits")
  while ... do utf8.len(large) end
`;

/** The module can't tell what a run touched that was stopped. The host can. */
export async function stoppedFiles(box) {
  const runTouch = (scriptArguments) =>
    withDirectory(async (folder) => {
      await mkdir(folder);
      for (const name of ["changed", "longer", "read", "removed"]) await writeFile(join(folder, name), "old");
      return box.run({ script: TOUCH, arguments: scriptArguments, folder, timeout: SHORT });
    });
  const touched = (held) => [
    { name: "changed", op: "write", bytes: 3 },
    { name: "folder/made", op: "write", bytes: 2 },
    { name: "gone", op: "remove" },
    { name: "held", op: "write", ...held },
    { name: "longer", op: "append", bytes: 5 },
    { name: "new-log", op: "append", bytes: 0 },
    { name: "removed", op: "remove" },
  ];
  const stopped = await runTouch(["stay"]);
  expect(stopped, { error: TIMEOUT, logs: [], files_touched: touched({ bytes: 7, cut: true }) }, "the files of a run that was stopped");
  // The same, by the module's own word.
  expect((await runTouch([])).files_touched, touched({ bytes: 12 }), "the files of a run that ended");
  return "a run that was stopped tells which files it touched";
}

export async function sizes(box) {
  const long = await box.run({ script: "print(('x'):rep(2^20 + 1)) print(1)" });
  expect([long.logs.length, long.logs[0].length, long.truncated], [1, (1 << 20) - 24, ["logs"]], "a line that is cut");
  const { logs, truncated } = await box.run({ script: "while true do print('flood') end", timeout: ENOUGH });
  expect([logs.length, truncated], [Math.floor((1 << 20) / (5 + 24)), ["logs"]], "the log of a script that only prints");
  const escaped = await box.run({ script: "print(('\\0'):rep(2^20)) while true do end", timeout: ENOUGH });
  expect([escaped.logs[0].slice(0, 10), escaped.truncated], ["\\u{0}\\u{0}", ["logs"]], "control characters in a log that is cut");
  const { error } = await box.run({ script: "return ('x'):rep(2^20)" });
  expect([error.kind, error.message.includes("at most 1048576 are allowed")], ["result", true], "a result that is too large");
  await expectRefusal(() => box.run({ script: " ".repeat((1 << 20) + 1) }), "the script is 1048577 bytes", "a script that is too large");
  await expectRefusal(() => box.run({ script: "return 1", arguments: ["x".repeat((1 << 20) - 15)] }), "the arguments are", "arguments that are too large");
  await expectRefusal(() => box.run({ script: "return 1", arguments: ["a\0b"] }), "null byte", "a null byte");
  const { result } = await box.run({ script: "return select('#', ...), #(...)", arguments: ["x".repeat((1 << 20) - 16)] });
  expect(result, [1, (1 << 20) - 16], "a large argument");
  await withDirectory(async (folder) => {
    await expectRefusal(() => box.run({ script: "return 1", folder, errors: "ignore" }), "errors must be", "an unknown way of errors");
    await expectRefusal(() => box.run({ script: "return 1", folder, maxBytes: -1 }), "maxBytes must be", "a negative quota");
    expect(await readdir(join(folder, "..")), [], "a run that was not made leaves nothing behind");
  });
  return "sizes: logs are cut at 1 MiB, also of runs that are stopped; results, scripts and arguments have their limits";
}

/** Luau's limits come first, as the fixtures show. With a stack that is too small for them, V8's does, and the host lives on. */
export async function stack(module) {
  const script = "print('begun') local function again() table.sort({ 2, 1 }, again) end again()";
  const end = await runCommand(module, { argv: ["toolscript", "-e", script], input: "", timeout: 10, stackMebibytes: 0.3 });
  expect([end.how, end.lines.map(String)], ["stack", ["begun\n"]], "the end of the stack");
  return "a stack that overflows ends its run only";
}
