// Runs scripts in a sandbox with a directory, a function and limits.

import { Sandbox, ScriptError } from "toolscript";

const PRICES = new Map([["tea", 3.5], ["cake", 4]]);

const BILL = `
    local total = 0
    for line in io.lines("order.txt") do
        local count, item = line:match("(%d+) (%a+)")
        total += count * sdk.price(item)
        print(item .. ": " .. total)
    end
    io.open("bill.txt", "w"):write(total):close()
    return total
`;

const FAILING = [
  "return sdk.price('gold')",
  "print('started') while true do end",
  "return ('x'):rep(1e9)",
  "return io.open('../secret.txt')",
];

const price = {
  description: "Returns the price of an item.",
  execute(item) {
    if (!PRICES.has(item)) throw new Error(`no price for ${item}`);
    return PRICES.get(item);
  },
};

// Scripts can access the directory `files` and nothing else.
const box = await Sandbox.open("files", { limits: { timeoutMs: 500, memory: "32MiB" }, functions: { price } });

await box.write("order.txt", "2 tea\n1 cake\n", { mode: "overwrite" });
const run = await box.run(BILL);
console.log("result:", run.result);
console.log("logs:", run.logs);
for (const { name, op, bytes } of run.filesTouched) console.log("touched:", name, op, bytes);
console.log("bill.txt:", await box.readText("bill.txt"));

for (const script of FAILING) {
  try {
    await box.run(script);
  } catch (error) {
    if (!(error instanceof ScriptError)) throw error;
    console.log(`${error.kind}: ${error.message}`, error.logs);
  }
}
