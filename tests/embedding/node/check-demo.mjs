// Runs `demo.mjs` as a user would, also with the command in the README.

import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { EXAMPLE, expect, withIoDir } from "./expect.mjs";

const SCRIPT = `
  local name = ...
  print("for " .. name)
  io.open("notes/a.txt", "w"):write("one\\ntwo\\n"):close()
  return { #io.open("notes/a.txt"):read("*a"), io.list("notes"), sdk == nil }
`;

export async function checkDemo(modulePath) {
  await withIoDir(async (ioDir, outside) => {
    const path = join(outside, "script.luau");
    await writeFile(path, SCRIPT);
    const demoArguments = [join(EXAMPLE, "demo.mjs"), modulePath, path, "Ada", "--io-dir", ioDir];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, demoArguments, { timeout: 60_000 });
    expect([stdout.trimEnd().split("\n").length, stderr], [1, ""], "lines of the demo");
    const expected = {
      result: [8, ["a.txt"], true],
      logs: ["for Ada"],
      files_touched: [{ name: "notes/a.txt", op: "write", bytes: 8 }],
    };
    expect(JSON.parse(stdout), expected, "outcome of the demo");

    const readme = await readFile(join(EXAMPLE, "README.md"), "utf8");
    const [, commandLine, shown] = readme.match(/^node (demo\.mjs toolscript-core\.wasm .*)\n```\n\n```json\n(.*\n)```/m);
    const paths = { "toolscript-core.wasm": modulePath, "./files": ioDir };
    const shownArguments = commandLine.split(" ").map((argument) => paths[argument] ?? argument);
    const run = await promisify(execFile)(process.execPath, shownArguments, { cwd: EXAMPLE, timeout: 60_000 });
    expect(run.stdout, shown, "output in the README");
  });
  return "demo: arguments, log and file, no sdk; the command in the README";
}
