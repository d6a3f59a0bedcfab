// Compares the outcomes of the script fixtures in the browser with those of the Rust host.

import { existsSync } from "node:fs";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "smol-toml";
import { expect, SCRIPTS } from "./expect.mjs";

const DIRECTORIES = ["language", "results", "errors", "io"];
// Seconds for a script that ends, generous for a busy machine, and for an endless one.
const LONG_TIMEOUT = 60;
const SHORT_TIMEOUT = 0.3;

/** Fixtures that do not apply, with the reason. */
const SKIPPED = {};

export async function checkOutcomes(page) {
  for (const name of Object.keys(SKIPPED)) expect(existsSync(join(SCRIPTS, `${name}.luau`)), true, `the skipped fixture ${name} exists`);
  const counts = [];
  for (const directory of DIRECTORIES) {
    const fixtures = await loadFixtures(directory);
    for (const fixture of fixtures) {
      const { text, outcome, logs, sizes } = await runInPage(page, fixture, { withFiles: directory === "io", timeout: LONG_TIMEOUT });
      expect(text, (await readFile(fixture.expected, "utf8")).trimEnd(), fixture.name);
      expect(logs.length, outcome.logs.length, `${fixture.name}: lines that arrived during the run`);
      expect(sizes, outcome.files_touched.map(({ bytes }) => bytes), `${fixture.name}: sizes of the files in the page`);
    }
    expect(fixtures.length > 0, true, `the directory ${directory} has fixtures`);
    counts.push(`${fixtures.length} ${directory}`);
  }
  return `fixtures with the same outcome as in the Rust host: ${counts.join(", ")}; skipped: ${Object.keys(SKIPPED).join(", ") || "none"}`;
}

/** Runs the hostile scripts, which a limit must stop. There is no fuel here, so the timeout stops those that use up their fuel. */
export async function checkStopped(page) {
  const counts = {};
  for (const fixture of await loadFixtures("stopped")) {
    const { error: kind, message = "" } = fixture.settings;
    const isEndless = kind === "fuel";
    const { outcome } = await runInPage(page, fixture, { withFiles: false, timeout: isEndless ? SHORT_TIMEOUT : LONG_TIMEOUT });
    const error = outcome.error ?? { kind: "none", message: "" };
    expect([outcome.logs[0], error.kind], ["started", isEndless ? "timeout" : kind], `${fixture.name}: ${error.message}`);
    const expected = isEndless ? `the script ran longer than ${SHORT_TIMEOUT} s` : message;
    expect(error.message.includes(expected), true, `${fixture.name}: ${error.message}`);
    counts[error.kind] = (counts[error.kind] ?? 0) + 1;
  }
  await checkDeepCompilation(page);
  return `hostile scripts stopped with the expected error: ${Object.entries(counts).map(([kind, count]) => `${count} ${kind}`).join(", ")}`;
}

/** Compiling this script needs more stack than a worker has. The page must not report the RangeError of V8. */
async function checkDeepCompilation(page) {
  let source = "local function f0() return 1 end\n";
  for (let index = 1; index <= 6; index += 1) {
    source += `local function f${index}() ${"if true then ".repeat(390)} return f${index - 1}() ${" end".repeat(390)} end\n`;
  }
  const fixture = { source: Buffer.from(`${source}return f6()`), settings: {} };
  const { outcome } = await runInPage(page, fixture, { withFiles: false, timeout: LONG_TIMEOUT });
  if (outcome.result !== 1) expect(outcome.error, { kind: "runtime", message: "stack overflow" }, "script that needs much stack to compile");
}

async function loadFixtures(directory) {
  const path = join(SCRIPTS, directory);
  const names = (await readdir(path)).filter((name) => name.endsWith(".luau")).sort();
  const fixtures = names.map(async (file) => {
    const source = await readFile(join(path, file));
    const lines = source.toString().split("\n").filter((line) => line.startsWith("--# "));
    return {
      name: `${directory}/${file.replace(/\.luau$/, "")}`,
      source,
      settings: parse(lines.map((line) => line.slice(4)).join("\n")),
      expected: join(path, file.replace(/\.luau$/, ".json")),
    };
  });
  return (await Promise.all(fixtures)).filter(({ name }) => !(name in SKIPPED));
}

function runInPage(page, { source, settings }, options) {
  const request = {
    script: source.toString("base64"),
    arguments: settings.arguments,
    files: settings.files ?? {},
    errors: settings.errors,
    maxBytes: settings.max_bytes,
    maxFiles: settings.max_files,
    ...options,
  };
  return page.evaluate(async ({ withFiles, ...request }) => {
    const { run, FileStore } = window.toolscript;
    const defined = Object.fromEntries(Object.entries(request).filter(([, value]) => value !== undefined));
    const files = withFiles ? new FileStore(defined.files) : null;
    const logs = [];
    const script = Uint8Array.from(atob(defined.script), (character) => character.charCodeAt(0));
    const { text, outcome } = await run({ ...defined, script, files, onLog: (line) => logs.push(line) });
    const sizes = outcome.files_touched.map(({ name }) => files.size(name));
    return { text, outcome, logs, sizes };
  }, request);
}
