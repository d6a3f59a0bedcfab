// Checks concurrent runs and their effect on the program.

import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import { CheckFailed, expect, withIoDir } from "./expect.mjs";

const CONCURRENT_RUNS = 8;

export async function checkEventLoop(sandbox) {
  let ticks = 0;
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
    ticks += 1;
  }, 5);
  await sandbox.run({ script: "while true do end", timeout: 1 });
  clearInterval(timer);
  if (ticks < 20 || longest > 500) throw new CheckFailed(`the event loop was blocked: ${ticks} ticks, longest gap ${longest} ms`);
  return "an endless script does not block the event loop";
}

export async function checkConcurrentRuns(sandbox) {
  const numbers = Array.from({ length: CONCURRENT_RUNS }, (_, number) => number);
  await withIoDir(async (ioDir) => {
    const script = `
      local own = ...
      marker = marker or own
      print("I am " .. own)
      for round = 1, 50 do
          io.open("file" .. own, "a"):write(own):close()
          io.open("shared/" .. round, "w"):write(own):close()
      end
      return marker, #io.open("file" .. own):read("*a")
    `;
    const outcomes = await Promise.all(numbers.map((number) => sandbox.run({ script, arguments: [String(number)], ioDir })));
    for (const number of numbers) {
      const { result, logs, files_touched: touched, error } = outcomes[number];
      expect([result, logs, error], [[String(number), 50], [`I am ${number}`], undefined], `run ${number} of ${CONCURRENT_RUNS}`);
      expect(touched.length, 51, "number of files that a concurrent run touched");
      expect(await readFile(join(ioDir, `file${number}`), "utf8"), String(number).repeat(50), "file of a concurrent run");
    }
  });
  const loops = await Promise.all(numbers.map((number) => sandbox.run({ script: "print(...) while true do end", arguments: [String(number)], timeout: 1 })));
  const ends = loops.map(({ error, logs }) => [error?.kind, ...logs]);
  expect(ends, numbers.map((number) => ["timeout", String(number)]), "concurrent endless scripts");
  return `${CONCURRENT_RUNS} concurrent runs: each has its own memory, log and timeout`;
}

/** Counts the descriptors and workers of the process. */
export function countResources() {
  const workers = process.getActiveResourcesInfo().filter((name) => /worker|messageport/i.test(name));
  return { descriptors: readdirSync("/dev/fd").length, workers: workers.length };
}

export async function checkNothingLeft(sandbox, before) {
  await withIoDir(async (ioDir) => {
    const script = "for number = 1, 60 do io.open('f' .. number, 'w'):write('x') end while true do end";
    const { files_touched: touched } = await sandbox.run({ script, ioDir, timeout: 1 });
    expect(touched.length, 60, "number of files that were open when a run was stopped");
  });
  // The descriptors of a thread are closed shortly after it ends.
  for (let attempt = 0; attempt < 20 && countResources().descriptors > before.descriptors; attempt += 1) await wait(100);
  expect(countResources(), before, "descriptors and workers after all runs");
  return "no worker and no descriptor is leaked";
}
