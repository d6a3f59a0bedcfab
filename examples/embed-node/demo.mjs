// Runs one script and prints its outcome as a line of JSON.
//
//     node demo.mjs toolscript-core.wasm SCRIPT.luau [ARGUMENT …] [--folder DIRECTORY]

import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";

import { Box } from "./toolscript-host.mjs";

const { values, positionals } = parseArgs({ options: { folder: { type: "string" } }, allowPositionals: true });
const [module, script, ...scriptArguments] = positionals;
if (script === undefined) {
  console.error("usage: node demo.mjs toolscript-core.wasm SCRIPT.luau [ARGUMENT …] [--folder DIRECTORY]");
  process.exit(2);
}
try {
  const box = await Box.load(module);
  const outcome = await box.run({ script: await readFile(script), arguments: scriptArguments, folder: values.folder });
  console.log(JSON.stringify(outcome));
  process.exitCode = "result" in outcome ? 0 : 1;
} catch (error) {
  // The module is from our own build: a Node that can't compile it is too old.
  const hint = error instanceof WebAssembly.CompileError ? "; Node 26 or later is needed" : "";
  console.error(`error: ${error.message}${hint}`);
  process.exitCode = 2;
}
