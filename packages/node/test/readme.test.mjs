// Executes the examples of the README, and the example of the repository, and compares their output with the pages.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const readme = readFileSync("README.md", "utf8");
const blocks = [...readme.matchAll(/(<!-- run: elsewhere: .* -->\n)?```(\w+)\n([^]*?)```/g)].map(([, elsewhere, language, text]) => ({ elsewhere, language, text }));

test("every example has an output, or is executed elsewhere", () => {
  const executed = blocks.filter((block, index) => block.language !== "text" && blocks[index + 1]?.language === "text");
  assert.equal(executed.length, 5);
  const others = blocks.filter((block) => block.language !== "text" && !executed.includes(block) && !block.elsewhere);
  assert.deepEqual(others.map((block) => block.text), ["npm i toolscript\n"]);
});

blocks.forEach(({ language, text, elsewhere }, index) => {
  const expected = blocks[index + 1];
  if (language === "text" || expected?.language !== "text" || elsewhere) return;
  test(`example: ${text.split("\n").findLast((line) => line !== "")}`, () => {
    const command = language === "js" ? [process.execPath, ["--input-type=module", "-e", text]] : ["sh", ["-c", text.replace("npx", "npx --no-install")]];
    const { stdout, stderr, status } = spawnSync(...command, { encoding: "utf8" });
    // npm warns about settings of the user.
    assert.deepEqual([status, stderr.replace(/^npm warn .*\n/gm, "")], [0, ""]);
    assert.equal(stdout, expected.text);
  });
});

test("the example of the repository", () => {
  // The check of the package copies it from examples/.
  const output = [...readFileSync("embed-node/README.md", "utf8").matchAll(/```text\n([^]*?)```/g)].map(([, text]) => text);
  const { stdout, stderr, status } = spawnSync(process.execPath, ["demo.mjs"], { cwd: "embed-node", encoding: "utf8" });
  assert.deepEqual([status, stderr, [stdout]], [0, "", output]);
});
