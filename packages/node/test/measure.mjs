// Measures the start and the overhead of a run: node measure.mjs, in a directory in which the package is installed.
const cpu = process.cpuUsage();
const wall = performance.now();
const { Sandbox } = await import("toolscript");
const box = await Sandbox.open();
await box.run("return 1");
const used = process.cpuUsage(cpu);
console.log(`import to first result: ${((used.user + used.system) / 1000).toFixed(1)} ms CPU, ${(performance.now() - wall).toFixed(1)} ms wall`);

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
const measure = async (name, run) => {
  const [total, engine] = [[], []];
  for (let i = 0; i < 6000; i++) {
    const start = performance.now();
    const { receipt } = await run();
    // The first runs warm up the caches and the compiler of JavaScript.
    if (i >= 1000) {
      total.push((performance.now() - start) * 1000);
      engine.push(receipt.microseconds);
    }
  }
  const overhead = total.map((time, index) => time - engine[index]);
  console.log(`${name}: median ${median(total).toFixed(0)} us, in the engine ${median(engine)} us, overhead ${median(overhead).toFixed(0)} us`);
};
await measure("return 1", () => box.run("return 1"));
box.add("f", (x) => x);
await measure("return sdk.f(1)", () => box.run("return sdk.f(1)"));
