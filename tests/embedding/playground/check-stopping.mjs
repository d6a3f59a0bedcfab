// Checks the timeout and the Stop button.

import { expect } from "./expect.mjs";
import { clickRun, measureTicks, outputOf, runScript, textOf, waitUntilDone, writeScript } from "./page-driver.mjs";

const ENDLESS_SCRIPT = `io.open("kept.txt", "w"):write("kept"):close() print("before") while true do end`;

export async function checkStopping(page) {
  const loop = await checkTimeout(page);
  await checkStopButton(page);
  await checkPendingMessages(page);
  const flood = await checkFlood(page);
  const longest = Math.round(Math.max(loop.longest, flood.longest));
  return `the timeout and Stop end a loop and keep its log and files; the page stays responsive (longest pause ${longest} ms)`;
}

async function checkTimeout(page) {
  const ticks = await measureTicks(page, () => runScript(page, ENDLESS_SCRIPT, { timeout: 2 }));
  const expected = { status: "Stopped after 2 seconds", log: "before\n", kind: "timeout", message: "the script ran longer than 2 s" };
  expect(await outputOf(page), expected, "output of an endless script");
  expect(await textOf(page, "#touched"), "write kept.txt (4 bytes)", "files of an endless script");
  // An idle machine has two hundred ticks in this time, a busy one fewer.
  expect(ticks.count >= 10, true, `${ticks.count} timer ticks during an endless script`);
  return ticks;
}

async function checkStopButton(page) {
  await writeScript(page, ENDLESS_SCRIPT.replace("kept", "also").replace("before", "started"));
  await page.getByLabel("Timeout").fill("60");
  await clickRun(page);
  await page.locator("#log", { hasText: "started" }).waitFor();
  expect(await page.getByRole("button", { name: "New" }).isDisabled(), true, "files cannot be changed while a script runs");
  await page.getByRole("button", { name: "Stop" }).click();
  await waitUntilDone(page);
  const cancelled = { status: "Stopped", log: "started\n", kind: "cancelled", message: "the run was cancelled" };
  expect(await outputOf(page), cancelled, "output of a stopped script");
  expect(await textOf(page, "#touched"), "write also.txt (4 bytes)", "files of a stopped script");
}

/** Messages that were posted while the page was busy are not lost when it then stops the script. */
async function checkPendingMessages(page) {
  const actual = await page.evaluate(async () => {
    const { run, FileStore } = window.toolscript;
    const files = new FileStore();
    const controller = new AbortController();
    const onLog = (line) => {
      if (line !== "started") return;
      for (const end = performance.now() + 500; performance.now() < end; );
      controller.abort();
    };
    const script = `print("started") local f = io.open("f", "w") for n = 1, 50 do print(n) f:write(n, " "):flush() end while true do end`;
    const { outcome } = await run({ script, files, onLog, signal: controller.signal, timeout: 60 });
    return [outcome.error.kind, outcome.logs.join(" "), new TextDecoder().decode(files.get("f"))];
  });
  const numbers = Array.from({ length: 50 }, (_, index) => index + 1).join(" ");
  expect(actual, ["cancelled", `started ${numbers}`, `${numbers} `], "messages that were pending when a script was stopped");
}

/** A script that only writes is throttled, and its log and file have no gaps. */
async function checkFlood(page) {
  const script = `local f = io.open("flood.txt", "w") local n = 0 while true do n += 1 f:write(n, "\\n"):flush() if n % 100 == 0 then print(n) end end`;
  const ticks = await measureTicks(page, () => runScript(page, script, { timeout: 3 }));
  // Without throttling, the page would be blocked for more than the three seconds.
  expect(ticks.count >= 10, true, `${ticks.count} timer ticks during a script that only writes`);
  const lines = (await textOf(page, "#log")).trimEnd().split("\n").map(Number);
  expect(lines.length > 10, true, `${lines.length} log lines of a script that only writes`);
  expect(lines, lines.map((_, index) => (index + 1) * 100), "log of a script that only writes");
  await runScript(page, `local n = 0 for line in io.lines("flood.txt") do n += 1 assert(line == tostring(n)) end os.remove("flood.txt") return n`);
  const count = Number(await textOf(page, "#result"));
  expect(count >= lines.at(-1) && count <= lines.at(-1) + 100, true, `${count} lines in the file, ${lines.at(-1)} in the log`);
  return ticks;
}
