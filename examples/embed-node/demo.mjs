// Runs one script and prints its outcome as a line of JSON.
//
//     node demo.mjs toolscript-core.wasm SCRIPT.luau [ARGUMENT …] [--io-dir DIRECTORY]

import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";

import { Sandbox } from "./toolscript-host.mjs";

const { values, positionals } = parseArgs({ options: { "io-dir": { type: "string" } }, allowPositionals: true });
const [module, script, ...scriptArguments] = positionals;
if (script === undefined) {
  console.error("usage: node demo.mjs toolscript-core.wasm SCRIPT.luau [ARGUMENT …] [--io-dir DIRECTORY]");
  process.exit(2);
}
try {
  const sandbox = await Sandbox.load(module);
  const outcome = await sandbox.run({ script: await readFile(script), arguments: scriptArguments, ioDir: values["io-dir"] });
  console.log(JSON.stringify(outcome));
  process.exitCode = "result" in outcome ? 0 : 1;
} catch (error) {
  // The module is valid, so a Node that cannot compile it is too old.
  const hint = error instanceof WebAssembly.CompileError ? "; Node 26 or later is needed" : "";
  console.error(`error: ${error.message}${hint}`);
  process.exitCode = 2;
}
