// Runs all checks of examples/embed-node. Use the script `run`, which installs what they need.
//
//     node run-checks.mjs toolscript-core.wasm

import { readFile } from "node:fs/promises";

import { Sandbox } from "../../../examples/embed-node/toolscript-host.mjs";
import { checkCommandLine, checkSurroundings } from "./check-command-line.mjs";
import { checkConcurrentRuns, checkEventLoop, checkNothingLeft, countResources } from "./check-concurrency.mjs";
import { checkConfinement, checkLongList } from "./check-confinement.mjs";
import { checkDemo } from "./check-demo.mjs";
import { checkOutcomes, checkSkipped, checkStopped, SKIPPED } from "./check-fixtures.mjs";
import { checkGuardedWasi } from "./check-guarded-wasi.mjs";
import { checkSizes, checkStack, checkStoppedFiles, checkTimeout } from "./check-limits.mjs";
import { checkQuotas } from "./check-quotas.mjs";
import { checkUnguardedWasi } from "./check-unguarded-wasi.mjs";
import { CheckFailed } from "./expect.mjs";

const MAX_SECONDS = 300;

const [modulePath] = process.argv.slice(2);
if (modulePath === undefined) {
  console.error("usage: node run-checks.mjs toolscript-core.wasm");
  process.exit(2);
}
setTimeout(() => {
  console.error(`FAILED: the checks take longer than ${MAX_SECONDS} s`);
  process.exit(1);
}, MAX_SECONDS * 1000).unref();

const module = await WebAssembly.compile(await readFile(modulePath));
const sandbox = new Sandbox(module);
try {
  await checkSkipped();
  console.log(await checkDemo(modulePath));
  // Counted after a first run and a first child process, because Node keeps some descriptors open once it has used them.
  await sandbox.run({ script: "return 1" });
  const before = countResources();
  console.log(await checkOutcomes(sandbox));
  console.log(await checkStopped(sandbox));
  console.log(await checkTimeout(sandbox));
  console.log(await checkStoppedFiles(sandbox));
  console.log(await checkSizes(sandbox));
  console.log(await checkStack(module));
  console.log(await checkConfinement(sandbox));
  console.log(await checkQuotas(sandbox));
  console.log(await checkLongList(sandbox));
  console.log(await checkGuardedWasi());
  console.log(await checkUnguardedWasi(module));
  console.log(await checkCommandLine(module));
  console.log(await checkSurroundings(sandbox, module));
  console.log(await checkEventLoop(sandbox));
  console.log(await checkConcurrentRuns(sandbox));
  console.log(await checkNothingLeft(sandbox, before));
} catch (error) {
  if (!(error instanceof CheckFailed)) throw error;
  console.error(`FAILED: ${error.message}`);
  process.exit(1);
}
console.log(`all checks passed; skipped: ${Object.keys(SKIPPED).join(", ") || "none"}`);
