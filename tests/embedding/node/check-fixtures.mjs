// Compares the outcomes of the script fixtures with those of the Rust host.

import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { parse } from "smol-toml";

import { expect, SCRIPTS, withIoDir } from "./expect.mjs";

const DIRECTORIES = ["language", "results", "errors", "io"];
// Seconds for an endless script, and for all others.
const SHORT_TIMEOUT = 0.5;
const LONG_TIMEOUT = 30;

/** Fixtures that do not apply, with the reason. */
export const SKIPPED = {};

export async function checkSkipped() {
  for (const name of Object.keys(SKIPPED)) {
    const status = await stat(join(SCRIPTS, `${name}.luau`)).catch(() => undefined);
    expect(status?.isFile(), true, `the skipped fixture ${name} exists`);
  }
}

export async function checkOutcomes(sandbox) {
  const counts = {};
  for (const directory of DIRECTORIES) {
    for (const name of await listFixtures(directory)) {
      const { outcome } = await runFixture(sandbox, name, { withFiles: directory === "io" });
      expect(outcome, JSON.parse(await readFile(join(SCRIPTS, `${name}.json`))), name);
      counts[directory] = (counts[directory] ?? 0) + 1;
    }
  }
  expect(Object.keys(counts), DIRECTORIES, "directories with fixtures");
  const summary = Object.entries(counts).map(([directory, count]) => `${count} ${directory}`);
  return `fixtures with the same outcome as in the Rust host: ${summary.join(", ")}`;
}

/** Runs the hostile scripts, which a limit must stop. There is no fuel here, so the timeout stops those that use up their fuel. */
export async function checkStopped(sandbox) {
  const counts = {};
  for (const name of await listFixtures("stopped")) {
    const { outcome, settings } = await runFixture(sandbox, name, { withFiles: false });
    const { kind, message } = outcome.error ?? { kind: "none", message: "" };
    const expected = settings.error === "fuel" ? "timeout" : settings.error;
    expect([outcome.logs.slice(0, 1), kind], [["started"], expected], `${name}: ${message}`);
    expect(message.includes(settings.message ?? ""), true, `${name}: ${message}`);
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  expect(Object.keys(counts).sort(), ["memory", "runtime", "timeout"], "error kinds of hostile scripts");
  const summary = Object.entries(counts).map(([kind, count]) => `${count} ${kind}`);
  return `hostile scripts stopped with the expected error: ${summary.join(", ")}`;
}

async function listFixtures(directory) {
  const names = await readdir(join(SCRIPTS, directory));
  const fixtures = names.filter((name) => name.endsWith(".luau")).map((name) => `${directory}/${name.slice(0, -5)}`);
  return fixtures.filter((name) => !(name in SKIPPED)).sort();
}

async function runFixture(sandbox, name, { withFiles }) {
  const script = await readFile(join(SCRIPTS, `${name}.luau`));
  const settings = readSettings(script);
  const options = {
    script,
    arguments: settings.arguments,
    timeout: settings.error === "fuel" ? SHORT_TIMEOUT : LONG_TIMEOUT,
    maxBytes: settings.max_bytes,
    maxFiles: settings.max_files,
    errors: settings.errors,
  };
  const outcome = await withIoDir(async (ioDir) => {
    for (const [file, content] of Object.entries(settings.files ?? {})) {
      await mkdir(ioDir, { recursive: true });
      await writeFile(join(ioDir, file), content);
    }
    return sandbox.run({ ...options, ioDir: withFiles ? ioDir : undefined });
  });
  return { outcome, settings };
}

/** Parses the settings of a fixture: TOML in comments that start with `--# `. */
function readSettings(script) {
  const lines = script.toString().split("\n");
  return parse(lines.filter((line) => line.startsWith("--# ")).map((line) => line.slice(4)).join("\n"));
}
