// `toolscript/ai` with the real package.
import assert from "node:assert/strict";
import { test } from "node:test";
import { generateText, stepCountIs } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { Sandbox } from "toolscript";
import { scriptTool } from "toolscript/ai";

const double = { description: "Returns twice a number.\nTakes (number).", execute: (x) => 2 * x };
const box = await Sandbox.open(undefined, { functions: { double } });
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };

test("a model calls the tool and gets the result", async () => {
  const answers = [
    { content: [{ type: "tool-call", toolCallId: "1", toolName: "script", input: JSON.stringify({ script: "print('log') return sdk.double(21)" }) }], finishReason: { unified: "tool-calls" } },
    { content: [{ type: "text", text: "it is 42" }], finishReason: { unified: "stop" } },
  ];
  const model = new MockLanguageModelV3({ doGenerate: async () => ({ ...answers.shift(), usage, warnings: [] }) });
  const { text, steps } = await generateText({ model, prompt: "go", tools: { script: scriptTool(box, { instructions: "Be brief." }) }, stopWhen: stepCountIs(3) });
  assert.equal(text, "it is 42");
  assert.deepEqual(steps[0].toolResults[0].output, { result: 42, logs: ["log"], files_touched: [] });
  const [{ tools }] = model.doGenerateCalls;
  assert.match(tools[0].description, /^Runs a Luau script in a sandbox[^]*\n- sdk\.double\(\.\.\.\): any: Returns twice a number\.\n[^]*\n\nBe brief\.$/);
  assert.deepEqual(tools[0].inputSchema.required, ["script"]);
});

test("the description has the limits of the tool", () => {
  assert.match(scriptTool(box).description, /Limits: 30 s, 64 MiB of memory/);
  assert.match(scriptTool(box, { limits: { timeoutMs: 1500, memory: "8MiB" } }).description, /Limits: 1\.5 s, 8 MiB of memory/);
});

test("errors are results, and large outputs are shortened", async () => {
  const execute = (input, options = {}) => scriptTool(box).execute(input, { toolCallId: "1", messages: [], ...options });
  const failed = await execute({ script: "print(1) error('broken')" });
  assert.deepEqual([failed.error.kind, failed.error.message, failed.logs], ["runtime", "script:1: broken", ["1"]]);
  const large = await execute({ script: "for i = 1, 3000 do print(string.rep('x', 9)) end return string.rep('x', 30000)" });
  assert.deepEqual([large.truncated, large.logs.length, large.error.kind], [["logs"], 2457, "result"]);
  assert.match(large.error.message, /^the result is 30002 bytes, of which at most 24576 are shown/);
  await assert.rejects(execute({ script: "while true do end" }, { abortSignal: AbortSignal.abort() }), { kind: "cancelled" });
  const checked = await scriptTool(box, { check: "errors" }).execute({ script: "print(1) return totl" }, { toolCallId: "1", messages: [] });
  assert.deepEqual([checked.error.kind, checked.error.diagnostics[0].message, checked.logs], ["check", "unknown global 'totl'", []]);
  const args = await execute({ script: "return ...", arguments: ["a"] });
  assert.equal(args.result, "a");
});
