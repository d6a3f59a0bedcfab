// Checks the types as a program sees them. It is compiled, and not executed.
import { FileError, fromOpenapi, FunctionError, mcpServer, RunRejected, Sandbox, ScriptError, type Diagnostic, type Run, type ScriptFunction } from "toolscript";
import { scriptTool } from "toolscript/ai";
import { ToolscriptBackend, ToolscriptBackendV1 } from "toolscript/deepagents";
import { AgentSandbox, type SandboxReadResult } from "toolscript/sandbox";
import { generateText, type LanguageModel, type ToolSet } from "ai";
import { createDeepAgent, type SandboxBackendProtocolV1, type SandboxBackendProtocolV2 } from "deepagents";

const weather: ScriptFunction = async function ({ city }: { city: string }) {
  this.signal satisfies AbortSignal;
  if (city === "") throw new FunctionError("no city", { status: 400 });
  return { city };
};
const box = await Sandbox.open("./data", {
  limits: { timeoutMs: 5000, memory: "64MiB" },
  functions: { weather, plain: (a: number, b: number) => a + b, described: { description: "d", execute: () => 1 }, shop: await fromOpenapi("shop.yaml") },
});
box.add(await mcpServer(["npx", "server"], { name: "server" }));
const run: Run<{ degrees: number }> = await box.run("return 1", { onPrint: console.log, signal: new AbortController().signal });
run.result.degrees satisfies number;
const found: Diagnostic[] = await box.check("return 1", { env: { NAME: "n" } });
(await box.run("return 1", { check: "warn" })).diagnostics satisfies typeof found;
// @ts-expect-error: there is no such mode.
await box.run("return 1", { check: "on" });
// @ts-expect-error: commands are not checked.
await box.exec("return 1", { check: "errors" });
// @ts-expect-error: there is no such limit.
await Sandbox.open("./data", { limits: { timeout: 5 } });
// @ts-expect-error: a script is text.
await box.run(1);
const page = await box.read("a.txt");
if (page.type === "text") page.truncatedBy satisfies "lines" | "bytes" | null;
else page.data satisfies Uint8Array;
try {
  await box.run("x");
} catch (error) {
  if (error instanceof ScriptError && error.kind === "check") error.diagnostics[0]?.severity satisfies "error" | "note" | undefined;
  if (error instanceof ScriptError) [error.kind, error.line, error.filesTouched[0]?.op] satisfies unknown[];
  if (error instanceof FileError) error.code satisfies string;
  if (error instanceof RunRejected && error.code === "busy") throw error;
}

const agent = await AgentSandbox.open("/home/agent");
const result: SandboxReadResult = await agent.read({ path: "a" });
if (result.type === "text") result.outputLines satisfies number;

const current: SandboxBackendProtocolV2 = await ToolscriptBackend.open("./data");
const first: SandboxBackendProtocolV1 = await ToolscriptBackendV1.open("./data");
createDeepAgent({ backend: current });
first satisfies object;

declare const model: LanguageModel;
const tools = { script: scriptTool(box) } satisfies ToolSet;
await generateText({ model, prompt: "go", tools });
