// Runs: results, logs, limits, cancellation and errors.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { Engine, RunRejected, Sandbox, ScriptError, ToolscriptError } from "toolscript";

const box = await Sandbox.open();

test("a run returns the result, the log and the receipt", async () => {
  const run = await box.run("print('hello', ...) return { sum = 1 + ..., list = {1, 2} }", { arguments: [41] });
  assert.deepEqual(run.result, { sum: 42, list: [1, 2] });
  assert.deepEqual(run.logs, ["hello\t41"]);
  assert.deepEqual([run.filesTouched, run.truncated, run.replaced], [[], [], []]);
  assert.ok(run.receipt.fuel > 0 && run.receipt.memoryPeak > 0);
  assert.deepEqual(Object.keys(run.receipt.hostCalls), ["count", "microseconds"]);
});

test("no value is null, and several are an array", async () => {
  assert.equal((await box.run("")).result, null);
  assert.deepEqual((await box.run("return 1, 'two'")).result, [1, "two"]);
});

test("a script can be bytes", async () => {
  assert.equal((await box.run(Buffer.from("return 'ü'"))).result, "ü");
  await assert.rejects(box.run(7), new TypeError("script must be a string or a Uint8Array"));
});

test("the error of a script has its kind, line, traceback, logs and files", async () => {
  const error = await box.run("print('before')\nlocal function f() error('broken') end\nf()").catch((error) => error);
  assert.ok(error instanceof ScriptError && error instanceof ToolscriptError && error instanceof Error);
  assert.deepEqual([error.name, error.kind, error.message, error.line], ["ScriptError", "runtime", "script:2: broken", 2]);
  assert.equal(error.traceback, "[C] function error\nscript:2 function f\nscript:3");
  assert.deepEqual([error.logs, error.filesTouched, error.truncated, error.cause], [["before"], [], [], undefined]);
  assert.ok(error.receipt.fuel > 0);
  const syntax = await box.run("return +").catch((error) => error);
  assert.deepEqual([syntax.kind, syntax.line], ["syntax", 1]);
});

test("limits of the sandbox and of a run stop a script", async () => {
  const small = await Sandbox.open(undefined, { limits: { timeoutMs: 5000, fuel: 1_000_000, memory: "8MiB" } });
  await assert.rejects(small.run("while true do end"), { kind: "fuel" });
  await assert.rejects(small.run("return string.rep('x', 2^24)", { limits: { fuel: 1e12 } }), { kind: "memory" });
  const error = await box.run("print('started') while true do end", { limits: { timeoutMs: 50 } }).catch((error) => error);
  assert.deepEqual([error.kind, error.message, error.logs], ["timeout", "the script ran longer than 0.05 s", ["started"]]);
  assert.equal(error.receipt.stoppedBy, "timeout");
});

test("invalid options are type errors", async () => {
  const cases = [
    [{ limits: { timeoutMs: 0 } }, "timeoutMs must be more than 0 and at most 86400000"],
    [{ limits: { memory: "64 potatoes" } }, 'invalid size "64 potatoes"; write bytes, or a size such as "512KiB", "64MiB" or "1GB"'],
    [{ limits: { memory: 1 } }, "memory must be between 4 MiB and 4096 MiB"],
    [{ limits: { timeout: 5 } }, 'unknown limit "timeout"'],
    [{ signals: 1 }, 'unknown option "signals"'],
    [{ arguments: [{}] }, "an argument must be a string, a number or a boolean; pass JSON, and read it in the script with json.decode"],
    [{ signal: 1 }, "signal must be an AbortSignal"],
    [{ credentials: { shop: "x" } }, "there is no API or MCP server 'shop' for a credential"],
  ];
  for (const [options, message] of cases) await assert.rejects(box.run("return 1", options), new TypeError(message));
  await assert.rejects(Sandbox.open(undefined, { timeout: 1 }), new TypeError('unknown option "timeout"'));
  await assert.rejects(Sandbox.open("/"), new TypeError("/: it is the root of the file system; name a directory in it"));
});

test("a run that does not start is rejected", async () => {
  const error = await box.run("-".repeat(200), { limits: { script: 100 } }).catch((error) => error);
  assert.ok(error instanceof RunRejected);
  assert.deepEqual([error.code, error.message], ["script_too_large", "the script is 200 bytes; at most 100 are allowed"]);
});

test("an engine limits concurrent and waiting runs", async () => {
  const engine = new Engine({ concurrency: 1, queueLimit: 1 });
  assert.deepEqual([engine.concurrency, engine.queueLimit, engine.running, engine.waiting], [1, 1, 0, 0]);
  const busy = await Sandbox.open(undefined, { engine });
  const controller = new AbortController();
  let started;
  const running = new Promise((resolve) => (started = resolve));
  const first = busy.run("print('started') while true do end", { signal: controller.signal, onPrint: started });
  await running;
  const second = busy.run("return 2");
  const third = await busy.run("return 3").catch((error) => error);
  assert.deepEqual([third.code, engine.running, engine.waiting], ["busy", 1, 1]);
  controller.abort();
  await assert.rejects(first, { kind: "cancelled" });
  assert.equal((await second).result, 2);
});

test("a signal stops a run, which reports what it did", async () => {
  const controller = new AbortController();
  const onPrint = () => controller.abort(new Error("changed my mind"));
  const error = await box.run("print('started') while true do end", { signal: controller.signal, onPrint }).catch((error) => error);
  assert.deepEqual([error.kind, error.logs, error.cause.message], ["cancelled", ["started"], "changed my mind"]);
  const before = await box.run("return 1", { signal: AbortSignal.abort() }).catch((error) => error);
  assert.deepEqual([before.kind, before.message, before.cause.name, before.receipt.fuel], ["cancelled", "the run was cancelled", "AbortError", 0]);
});

test("log lines and progress arrive in order, before the end of the run", async () => {
  const events = [];
  const onProgress = (progress) => events.push(progress);
  await box.run("print(1) progress(1, 2, 'half') print(2)", { onPrint: (line) => events.push(line), onProgress });
  assert.deepEqual(events, ["1", { done: 1, total: 2, message: "half" }, "2"]);
});

test("progress that nobody received yet is replaced", async () => {
  let reports = 0, last;
  await box.run("for i = 1, 200000 do progress(i) end", { onProgress: (progress) => (reports++, (last = progress.done)) });
  assert.equal(last, 200000);
  assert.ok(reports < 200000, `${reports} reports`);
});

test("an error of a listener stops the run", async () => {
  const failure = new Error("no more");
  const onPrint = () => { throw failure; };
  await assert.rejects(box.run("print(1) while true do end", { onPrint }), failure);
});

test("a run does not block the event loop", async () => {
  let turns = 0;
  const controller = new AbortController();
  const run = box.run("while true do end", { signal: controller.signal });
  await new Promise((resolve) => {
    const turn = () => (++turns === 100 ? resolve() : setImmediate(turn));
    turn();
  });
  controller.abort();
  await assert.rejects(run, { kind: "cancelled" });
  assert.equal(turns, 100);
});

test("runs execute at the same time", async () => {
  const results = await Promise.all(Array.from({ length: 50 }, (_, index) => box.run("return ...", { arguments: [index] })));
  assert.deepEqual(results.map((run) => run.result), Array.from({ length: 50 }, (_, index) => String(index)));
});

test("a seed makes random numbers reproducible, and env is a table", async () => {
  const numbers = async () => (await box.run("return math.random()", { seed: 7 })).result;
  assert.equal(await numbers(), await numbers());
  assert.equal((await box.run("return env.PLACE", { env: { PLACE: "Oslo" } })).result, "Oslo");
});

test("the package can be loaded with require", async (context) => {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major < 20 || (major === 20 && minor < 19)) return context.skip("Node loads ES modules with require from 20.19 on");
  const required = createRequire(import.meta.url)("toolscript");
  assert.equal(required.Sandbox, Sandbox);
});
