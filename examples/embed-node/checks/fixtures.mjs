// The project's own scripts, beside what the Rust host makes of them.

import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { parse } from "smol-toml";

import { expect, withDirectory } from "./expect.mjs";

const FOLDERS = ["language", "results", "errors", "io"];
// Seconds for a script that does not end by itself.
const SHORT = 0.5;
const LONG = 30;

// Fixtures that can't apply, each with its reason.
export const LEFT_OUT = {};

export async function leftOut(tests) {
  for (const name of Object.keys(LEFT_OUT)) {
    const state = await stat(join(tests, "scripts", `${name}.luau`)).catch(() => undefined);
    expect(state?.isFile(), true, `${name} is left out, and is not there`);
  }
}

export async function outcomes(box, tests) {
  const counts = {};
  for (const folder of FOLDERS) {
    for (const name of await scriptsIn(tests, folder)) {
      const { outcome } = await runFixture(box, join(tests, "scripts", `${name}.luau`), { withFiles: folder === "io" });
      expect(outcome, JSON.parse(await readFile(join(tests, "scripts", `${name}.json`))), name);
      counts[folder] = (counts[folder] ?? 0) + 1;
    }
  }
  expect(Object.keys(counts), FOLDERS, "a folder without fixtures");
  const listed = Object.entries(counts).map(([folder, count]) => `${count} ${folder}`);
  return `fixtures with the same outcome as in the Rust host: ${listed.join(", ")}`;
}

/** Scripts that try not to end. There is no fuel here: what uses it up in the Rust host runs into its time. */
export async function hostile(box, tests) {
  const counts = {};
  for (const name of await scriptsIn(tests, "stopped")) {
    const { outcome, settings } = await runFixture(box, join(tests, "scripts", `${name}.luau`), { withFiles: false });
    const { kind, message } = outcome.error ?? { kind: "none", message: "" };
    const expected = settings.error === "fuel" ? "timeout" : settings.error;
    expect([outcome.logs.slice(0, 1), kind], [["started"], expected], `${name}: ${message}`);
    expect(message.includes(settings.message ?? ""), true, `${name}: ${message}`);
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  expect(Object.keys(counts).sort(), ["memory", "runtime", "timeout"], "kinds of hostile scripts");
  const listed = Object.entries(counts).map(([kind, count]) => `${count} ${kind}`);
  return `hostile scripts that end as they should: ${listed.join(", ")}`;
}

async function scriptsIn(tests, folder) {
  const names = await readdir(join(tests, "scripts", folder));
  const scripts = names.filter((name) => name.endsWith(".luau")).map((name) => `${folder}/${name.slice(0, -5)}`);
  return scripts.filter((name) => !(name in LEFT_OUT)).sort();
}

async function runFixture(box, path, { withFiles }) {
  const script = await readFile(path);
  const settings = settingsOf(script);
  const options = {
    script,
    arguments: settings.arguments,
    timeout: settings.error === "fuel" ? SHORT : LONG,
    maxBytes: settings.max_bytes,
    maxFiles: settings.max_files,
    errors: settings.errors,
  };
  const outcome = await withDirectory(async (folder) => {
    for (const [name, content] of Object.entries(settings.files ?? {})) {
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, name), content);
    }
    return box.run({ ...options, folder: withFiles ? folder : undefined });
  });
  return { outcome, settings };
}

/** What a fixture says of itself, as TOML in its comments. */
function settingsOf(script) {
  const lines = script.toString().split("\n");
  return parse(lines.filter((line) => line.startsWith("--# ")).map((line) => line.slice(4)).join("\n"));
}
