// The life of the process: its end, workers, memory, descriptors and threads.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Worker } from "node:worker_threads";
import { Sandbox } from "toolscript";

const script = (source) => spawnSync(process.execPath, ["--input-type=module", "-e", source], { encoding: "utf8", timeout: 60_000 });

test("a process waits for its runs, and ends after them", () => {
  const { status, signal, stdout, stderr } = script(`
    import { Sandbox } from "toolscript";
    const box = await Sandbox.open();
    box.run("sleep(0.05) return 'done'").then((run) => console.log(run.result));
  `);
  assert.deepEqual([status, signal, stdout, stderr], [0, null, "done\n", ""]);
});

test("a process can exit while scripts run", () => {
  const { status, signal, stderr } = script(`
    import { Sandbox } from "toolscript";
    const box = await Sandbox.open(undefined, { functions: { wait: () => new Promise(() => {}) } });
    const started = () => process.exit(7);
    for (let i = 0; i < 4; i++) box.run("while true do end").catch(() => {});
    box.run("sdk.wait()").catch(() => {});
    box.run("print('started') while true do end", { onPrint: started });
  `);
  assert.deepEqual([status, signal, stderr], [7, null, ""]);
});

test("a worker thread can use the package, and be ended while a script runs", async () => {
  const worker = new Worker(`
    const { parentPort } = require("node:worker_threads");
    import("toolscript").then(async ({ Sandbox }) => {
      const box = await Sandbox.open(undefined, { functions: { double: (x) => 2 * x } });
      parentPort.postMessage((await box.run("return sdk.double(21)")).result);
      box.run("print('started') while true do end", { onPrint: (line) => parentPort.postMessage(line) });
    });
  `, { eval: true });
  const messages = [];
  await new Promise((resolve, reject) => {
    worker.on("error", reject);
    worker.on("message", (message) => (messages.push(message), messages.length === 2 && resolve()));
  });
  assert.deepEqual(messages, [42, "started"]);
  await worker.terminate();
  const box = await Sandbox.open();
  assert.equal((await box.run("return 1")).result, 1);
});

test("10,000 runs do not increase memory, descriptors or threads", async () => {
  const box = await Sandbox.open(undefined, { functions: { add: async (a, b) => a + b } });
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc");
  const count = (name) => readdirSync(`/proc/self/${name}`).length;
  const batch = async (runs) => {
    for (let i = 0; i < runs; i += 10) {
      await Promise.all(Array.from({ length: 10 }, (_, j) =>
        j === 0
          ? box.run("error('x')", { onPrint() {}, signal: new AbortController().signal }).catch(() => {})
          : box.run("print('x') return sdk.add(1, 2)", { onPrint() {} })));
    }
    collectGarbage();
    return { rss: process.memoryUsage.rss(), descriptors: count("fd"), threads: count("task") };
  };
  // Until the instances of the pool, and the caches of the allocator for each thread, have their final sizes.
  const warm = await batch(15000);
  const end = await batch(10000);
  assert.ok(end.rss < warm.rss * 1.05, `memory: ${warm.rss} before, ${end.rss} after`);
  assert.deepEqual([end.descriptors, end.threads <= warm.threads], [warm.descriptors, true], JSON.stringify({ warm, end }));
});
