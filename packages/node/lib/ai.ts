/** `toolscript/ai`: a tool for the Vercel AI SDK. */

import { jsonSchema, tool, type Tool } from "ai";
import type { CheckMode, Diagnostic } from "./check.js";
import { RunRejected, ScriptError } from "./errors.js";
import type { Limits } from "./limits.js";
import type { TouchedFile } from "./run.js";
import type { Sandbox } from "./sandbox.js";

/** The size in bytes of the log and of the result that a model gets. */
const MAX_INLINE = 24 * 1024;

/** The input of the tool. */
export interface ScriptInput {
  /** Luau source text. */
  script: string;
  /** The values of `...` in the script. */
  arguments?: string[];
}

/** The output of the tool, with the names that its description has. It has `result` or `error`. */
export interface ScriptOutput {
  result?: unknown;
  error?: { kind: string; message: string; traceback?: string; diagnostics?: Diagnostic[] };
  logs: string[];
  files_touched: TouchedFile[];
  /** The errors that were found before the run, with `check: "warn"`. */
  diagnostics?: Diagnostic[];
  /** The parts that were shortened for the model. */
  truncated?: string[];
}

/** The options of {@link scriptTool}. */
export interface ScriptToolOptions {
  /** Text that is added to the description. */
  instructions?: string;
  /** Limits of each run. The others are those of the sandbox. */
  limits?: Limits;
  /** Looks for mistakes before each run; `"off"` by default. */
  check?: CheckMode;
  /** Called with each line that a script prints. */
  onPrint?: (line: string) => void;
}

/**
 * Returns a tool with which a model runs scripts. Errors of scripts are results, so that the model can correct them.
 *
 * Its description lists the functions that the sandbox has now. Create the tool after you have added all functions.
 */
export function scriptTool(sandbox: Sandbox, { instructions, limits, check, onPrint }: ScriptToolOptions = {}): Tool<ScriptInput, ScriptOutput> {
  const description = sandbox.description({ limits });
  return tool({
    description: instructions === undefined ? description : `${description}\n\n${instructions}`,
    inputSchema: jsonSchema<ScriptInput>({
      type: "object",
      properties: {
        script: { type: "string", description: "Luau source text" },
        arguments: { type: "array", items: { type: "string" }, description: "The values of ... in the script" },
      },
      required: ["script"],
      additionalProperties: false,
    }),
    async execute({ script, arguments: values }: ScriptInput, { abortSignal }): Promise<ScriptOutput> {
      try {
        const run = await sandbox.run(script, { arguments: values, limits, check, onPrint, signal: abortSignal });
        const found = run.diagnostics.length === 0 ? {} : { diagnostics: run.diagnostics };
        return shorten({ result: run.result, logs: run.logs, files_touched: run.filesTouched, ...found }, run.truncated);
      } catch (error) {
        if (error instanceof RunRejected) return { error: { kind: error.code, message: error.message }, logs: [], files_touched: [] };
        if (!(error instanceof ScriptError) || error.kind === "cancelled") throw error;
        const { kind, message, traceback, diagnostics, logs, filesTouched, truncated } = error;
        const details = { ...(traceback === undefined ? {} : { traceback }), ...(diagnostics.length === 0 ? {} : { diagnostics }) };
        return shorten({ error: { kind, message, ...details }, logs, files_touched: filesTouched }, truncated);
      }
    },
  });
}

/** Bounds the log and the result. */
function shorten(output: ScriptOutput, alreadyTruncated: string[]): ScriptOutput {
  const truncated = new Set(alreadyTruncated);
  let size = 0;
  const kept = output.logs.findIndex((line) => (size += Buffer.byteLength(line) + 1) > MAX_INLINE);
  if (kept >= 0) {
    output = { ...output, logs: output.logs.slice(0, kept) };
    truncated.add("logs");
  }
  const bytes = "result" in output ? Buffer.byteLength(JSON.stringify(output.result)) : 0;
  if (bytes > MAX_INLINE) {
    const message = `the result is ${bytes} bytes, of which at most ${MAX_INLINE} are shown; return less, or write it to a file`;
    const { result: _, ...others } = output;
    output = { ...others, error: { kind: "result", message } };
  }
  return truncated.size === 0 ? output : { ...output, truncated: [...truncated] };
}
