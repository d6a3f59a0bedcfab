// Measures the overhead of the package, and exits with 1 if a budget is exceeded. Each figure is the best of several rounds, so that other
// programs on the machine matter less.
import { execFileSync } from "node:child_process";
import { Sandbox } from "toolscript";

const FIRST_RESULT_MS = 150;
const RUN_US = 80;
const ROUNDS = 5;
const RUNS = 1000;

const FIRST_RESULT = `
const start = process.cpuUsage();
const { Sandbox } = await import("toolscript");
await (await Sandbox.open()).run("return 1");
const { user, system } = process.cpuUsage(start);
console.log((user + system) / 1000);
`;

/** Returns the CPU time from the import to the first result, in milliseconds. */
function firstResult() {
  return Number(execFileSync(process.execPath, ["--input-type=module", "-e", FIRST_RESULT], { encoding: "utf8" }));
}

/** Returns the time of a warm run in microseconds, without the time that the library itself reports. */
async function runOverhead(box, script) {
  let inside = 0;
  const start = performance.now();
  for (let i = 0; i < RUNS; i++) inside += (await box.run(script)).receipt.microseconds;
  return ((performance.now() - start) * 1000 - inside) / RUNS;
}

async function best(measure) {
  const rounds = [];
  for (let i = 0; i < ROUNDS; i++) rounds.push(await measure());
  return Math.min(...rounds);
}

const box = await Sandbox.open();
await runOverhead(box, "return 1");
const figures = [
  ["import to first result", await best(firstResult), FIRST_RESULT_MS, "ms of CPU time"],
  ["a run, above the library", await best(() => runOverhead(box, "return 1")), RUN_US, "us"],
];
for (const [name, figure, budget, unit] of figures) {
  console.log(`${name}: ${figure.toFixed(1)} ${unit}, at most ${budget}`);
  if (figure > budget) process.exitCode = 1;
}
