// A host in Node for toolscript's core module: runs Luau scripts inside WebAssembly.
//
//     const box = await Box.load("toolscript-core.wasm");
//     await box.run({ script: "return 1 + 1" }); // { result: 2, logs: [], files_touched: [] }

import { readFile } from "node:fs/promises";

import { openFolder } from "./folder.mjs";
import * as outcomes from "./outcome.mjs";
import { runCommand } from "./run.mjs";

const DEFAULT_TIMEOUT = 30;
// A day. Beyond that, a run is a daemon.
const MAX_TIMEOUT = 86_400;
const DEFAULT_BYTES = 50 << 20;
const DEFAULT_FILES = 10_000;
const MAX_SCRIPT = 1 << 20;
const MAX_ARGUMENTS = 1 << 20;
// What an empty argument takes.
const ARGUMENT_OVERHEAD = 16;
// The module's exit code.
const WRONG_USAGE = 2;

/** The module, compiled once. It can be used for any number of runs, also at the same time. */
export class Box {
  #module;

  constructor(module) {
    this.#module = module;
  }

  static async load(path) {
    return new Box(await WebAssembly.compile(await readFile(path)));
  }

  /**
   * Runs a script in a fresh instance; the outcome is what `toolscript run --json` prints.
   *
   * - `script`: a string or bytes; `arguments`: the strings that it gets as `...`.
   * - `folder`: the directory for `io`, which is made if it is not there; without it a script has no files.
   * - `timeout`: seconds; a run that takes longer ends with an error of the kind `timeout`.
   * - `maxBytes`, `maxFiles`: what it may write.
   * - `errors`: `raise` or `return`, what a script sees of refusals of the operating system.
   *
   * It throws if the run was not made: a `TypeError` or a `RangeError` about the options, or the system's error about the folder.
   */
  async run({
    script,
    arguments: scriptArguments = [],
    folder,
    timeout = DEFAULT_TIMEOUT,
    maxBytes = DEFAULT_BYTES,
    maxFiles = DEFAULT_FILES,
    errors = "raise",
  }) {
    const input = Buffer.from(script);
    check(input, scriptArguments, timeout, errors);
    const options = ["--errors", errors, "--max-bytes", whole(maxBytes, "maxBytes"), "--max-files", whole(maxFiles, "maxFiles")];
    const end = await runCommand(this.#module, {
      argv: ["toolscript", ...options, "-", "--", ...scriptArguments],
      input,
      folder: folder === undefined ? undefined : await openFolder(folder),
      timeout,
    });
    return outcomeOf(end, timeout);
  }
}

function outcomeOf({ how, code, output, cause, lines, touched }, timeout) {
  if (how === "exit" && code === WRONG_USAGE) throw new RangeError(outcomes.logsOf(lines).join("\n"));
  if (how === "timeout") return outcomes.stopped(outcomes.timeoutError(timeout), lines, touched);
  if (how === "stack") return outcomes.stopped(outcomes.stackError, lines, touched);
  try {
    if (how === "exit") return outcomes.told(output);
    throw new Error(cause);
  } catch (error) {
    // For whoever runs the program, not for whoever wrote the script.
    console.error(`toolscript: ${how} ${code ?? ""}: ${error.message}`);
    return outcomes.stopped(outcomes.internalError, lines, touched ?? []);
  }
}

function check(input, scriptArguments, timeout, errors) {
  if (input.length > MAX_SCRIPT) throw new RangeError(`the script is ${input.length} bytes; at most ${MAX_SCRIPT} are allowed`);
  const size = scriptArguments.reduce((sum, text) => sum + Buffer.byteLength(text) + ARGUMENT_OVERHEAD, 0);
  if (size > MAX_ARGUMENTS) throw new RangeError(`the arguments are ${size} bytes; at most ${MAX_ARGUMENTS} are allowed`);
  // They are passed as a command line is, in which a null byte ends a text.
  if (scriptArguments.some((text) => text.includes("\0"))) throw new TypeError("an argument has a null byte");
  if (!(timeout > 0 && timeout <= MAX_TIMEOUT)) throw new RangeError(`the timeout must be more than 0 and at most ${MAX_TIMEOUT} seconds`);
  if (errors !== "raise" && errors !== "return") throw new TypeError("errors must be 'raise' or 'return'");
}

function whole(number, name) {
  if (!Number.isSafeInteger(number) || number < 0) throw new RangeError(`${name} must be a whole number`);
  return String(number);
}
