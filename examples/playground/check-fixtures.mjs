// The scripts of the repository with their exact outcomes, run in the browser.

import { existsSync } from "node:fs";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "smol-toml";
import { expect } from "./check-page.mjs";

const FOLDERS = ["language", "results", "errors", "io"];
// A machine with other work is slow.
const SECONDS = 60;
// For those that only a limit ends: long enough to start.
const SHORT = 0.3;

/** Fixtures that can't apply, each with its reason. */
const LEFT_OUT = {};

async function load(tests, folder) {
  const path = join(tests, "scripts", folder);
  const names = (await readdir(path)).filter((name) => name.endsWith(".luau")).sort();
  const all = names.map(async (file) => {
    const source = await readFile(join(path, file));
    const lines = source.toString().split("\n").filter((line) => line.startsWith("--# "));
    return {
      name: `${folder}/${file.replace(/\.luau$/, "")}`,
      source,
      settings: parse(lines.map((line) => line.slice(4)).join("\n")),
      expected: join(path, file.replace(/\.luau$/, ".json")),
    };
  });
  return (await Promise.all(all)).filter(({ name }) => !(name in LEFT_OUT));
}

function runInPage(page, { source, settings }, options) {
  const order = {
    script: source.toString("base64"),
    arguments: settings.arguments,
    files: settings.files ?? {},
    errors: settings.errors,
    maxBytes: settings.max_bytes,
    maxFiles: settings.max_files,
    ...options,
  };
  return page.evaluate(async ({ withFiles, ...order }) => {
    const { run, FileStore } = window.toolscript;
    const given = Object.fromEntries(Object.entries(order).filter(([, value]) => value !== undefined));
    const files = withFiles ? new FileStore(given.files) : null;
    const logs = [];
    const script = Uint8Array.from(atob(given.script), (character) => character.charCodeAt(0));
    const { text, outcome } = await run({ ...given, script, files, onLog: (line) => logs.push(line) });
    const sizes = outcome.files_touched.map(({ name }) => files.size(name));
    return { text, outcome, logs, sizes };
  }, order);
}

export async function fixtures(page, tests) {
  for (const name of Object.keys(LEFT_OUT)) expect(existsSync(join(tests, "scripts", `${name}.luau`)), true, `${name} is left out, and is not there`);
  const counts = [];
  for (const folder of FOLDERS) {
    const all = await load(tests, folder);
    for (const fixture of all) {
      const { text, outcome, logs, sizes } = await runInPage(page, fixture, { withFiles: folder === "io", seconds: SECONDS });
      expect(text, (await readFile(fixture.expected, "utf8")).trimEnd(), fixture.name);
      expect(logs.length, outcome.logs.length, `${fixture.name}: lines that came while it ran`);
      expect(sizes, outcome.files_touched.map(({ bytes }) => bytes), `${fixture.name}: sizes of the files that the page has`);
    }
    expect(all.length > 0, true, `a folder without fixtures: ${folder}`);
    counts.push(`${all.length} ${folder}`);
  }
  const left = Object.keys(LEFT_OUT);
  return `fixtures with exactly the outcome of the program: ${counts.join(", ")}; left out: ${left.join(", ") || "none"}`;
}

/** Compiling this needs more stack than a worker has: whatever V8 makes of it, the page is not told of a RangeError. */
async function deepCompilation(page) {
  let source = "local function f0() return 1 end\n";
  for (let index = 1; index <= 6; index += 1) {
    source += `local function f${index}() ${"if true then ".repeat(390)} return f${index - 1}() ${" end".repeat(390)} end\n`;
  }
  const { outcome } = await runInPage(page, { source: Buffer.from(`${source}return f6()`), settings: {} }, { withFiles: false, seconds: SECONDS });
  if (outcome.result !== 1) expect(outcome.error, { kind: "runtime", message: "stack overflow" }, "a script that takes much stack to compile");
}

export async function hostileFixtures(page, tests) {
  const counts = {};
  for (const fixture of await load(tests, "stopped")) {
    const { error: kind, message = "" } = fixture.settings;
    const isEndless = kind === "fuel";
    const { outcome } = await runInPage(page, fixture, { withFiles: false, seconds: isEndless ? SHORT : SECONDS });
    const error = outcome.error ?? { kind: "none", message: "" };
    expect([outcome.logs[0], error.kind], ["started", isEndless ? "timeout" : kind], `${fixture.name}: ${error.message}`);
    const words = isEndless ? `the script ran longer than ${SHORT} s` : message;
    expect(error.message.includes(words), true, `${fixture.name}: ${error.message}`);
    counts[error.kind] = (counts[error.kind] ?? 0) + 1;
  }
  await deepCompilation(page);
  return `hostile scripts that end as they should: ${Object.entries(counts).map(([kind, count]) => `${count} ${kind}`).join(", ")}`;
}
