// Runs the example for real, and compares it with what the Rust host does.
//
//     node check.mjs toolscript-core.wasm ../../tests

import { readFile } from "node:fs/promises";

import * as command from "./checks/command.mjs";
import { Wrong } from "./checks/expect.mjs";
import * as files from "./checks/files.mjs";
import * as fixtures from "./checks/fixtures.mjs";
import * as limits from "./checks/limits.mjs";
import { plain } from "./checks/plain.mjs";
import * as together from "./checks/together.mjs";
import { brokenGuest } from "./checks/wall.mjs";
import { Box } from "./toolscript-host.mjs";

const LONGEST_SECONDS = 300;

const [modulePath, tests] = process.argv.slice(2);
if (tests === undefined) {
  console.error("usage: node check.mjs toolscript-core.wasm TESTS");
  process.exit(2);
}
setTimeout(() => {
  console.error(`WRONG: the checks take longer than ${LONGEST_SECONDS} s`);
  process.exit(1);
}, LONGEST_SECONDS * 1000).unref();

const module = await WebAssembly.compile(await readFile(modulePath));
const box = new Box(module);
try {
  await fixtures.leftOut(tests);
  console.log(await command.demo(modulePath));
  // After a first run and a first program: what Node opens once, it keeps.
  await box.run({ script: "return 1" });
  const before = together.held();
  console.log(await fixtures.outcomes(box, tests));
  console.log(await fixtures.hostile(box, tests));
  console.log(await limits.time(box));
  console.log(await limits.stoppedFiles(box));
  console.log(await limits.sizes(box));
  console.log(await limits.stack(module));
  console.log(await files.waysOut(box));
  console.log(await files.quotas(box));
  console.log(await files.longLists(box));
  console.log(await brokenGuest());
  console.log(await plain(module));
  console.log(await command.commandLine(module));
  console.log(await command.surroundings(box, module));
  console.log(await together.eventLoop(box));
  console.log(await together.atOnce(box));
  console.log(await together.nothingLeft(box, before));
} catch (error) {
  if (!(error instanceof Wrong)) throw error;
  console.error(`WRONG: ${error.message}`);
  process.exit(1);
}
const names = Object.keys(fixtures.LEFT_OUT);
console.log(`all is well; left out: ${names.length === 0 ? "nothing" : names.join(", ")}`);
