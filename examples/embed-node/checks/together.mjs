// Many runs, and the program beside them.

import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import { expect, Wrong, withDirectory } from "./expect.mjs";

const AT_ONCE = 8;

export async function eventLoop(box) {
  let ticks = 0;
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
    ticks += 1;
  }, 5);
  await box.run({ script: "while true do end", timeout: 1 });
  clearInterval(timer);
  if (ticks < 20 || longest > 500) throw new Wrong(`the event loop was held up: ${ticks} ticks, ${longest} ms between two`);
  return "the event loop is free while a script loops";
}

export async function atOnce(box) {
  const numbers = Array.from({ length: AT_ONCE }, (_, number) => number);
  await withDirectory(async (folder) => {
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
    const outcomes = await Promise.all(numbers.map((number) => box.run({ script, arguments: [String(number)], folder })));
    for (const number of numbers) {
      const { result, logs, files_touched: touched, error } = outcomes[number];
      expect([result, logs, error], [[String(number), 50], [`I am ${number}`], undefined], `run ${number} of ${AT_ONCE}`);
      expect(touched.length, 51, "files of one of several runs");
      expect(await readFile(join(folder, `file${number}`), "utf8"), String(number).repeat(50), "a file of one of several runs");
    }
  });
  const loops = await Promise.all(numbers.map((number) => box.run({ script: "print(...) while true do end", arguments: [String(number)], timeout: 1 })));
  const ends = loops.map(({ error, logs }) => [error?.kind, ...logs]);
  expect(ends, numbers.map((number) => ["timeout", String(number)]), "endless scripts at once");
  return `${AT_ONCE} runs at once: each has its own memory, log and end`;
}

/** What the process holds: taken before and after, so that nothing stays behind. */
export function held() {
  const workers = process.getActiveResourcesInfo().filter((name) => /worker|messageport/i.test(name));
  return { descriptors: readdirSync("/dev/fd").length, workers: workers.length };
}

export async function nothingLeft(box, before) {
  await withDirectory(async (folder) => {
    const script = "for number = 1, 60 do io.open('f' .. number, 'w'):write('x') end while true do end";
    const { files_touched: touched } = await box.run({ script, folder, timeout: 1 });
    expect(touched.length, 60, "files that were open when a run was stopped");
  });
  // A thread's own descriptors go a moment after it.
  for (let attempt = 0; attempt < 20 && held().descriptors > before.descriptors; attempt += 1) await wait(100);
  expect(held(), before, "what is held when all runs have ended");
  return "no worker and no descriptor stays behind";
}
