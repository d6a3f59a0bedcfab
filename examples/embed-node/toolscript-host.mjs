// A Node host for the toolscript core module. It runs Luau scripts inside WebAssembly.
//
//     const sandbox = await Sandbox.load("toolscript-core.wasm");
//     await sandbox.run({ script: "return 1 + 1" }); // { result: 2, logs: [], files_touched: [] }

import { readFile } from "node:fs/promises";

import { prepareIoDirectory } from "./io-directory.mjs";
import { decodeLines, internalError, parseOutcome, stackError, stoppedOutcome, timeoutError } from "./outcome.mjs";
import { runInWorker } from "./run-in-worker.mjs";

const DEFAULT_TIMEOUT = 30;
// One day.
const MAX_TIMEOUT = 86_400;
const DEFAULT_BYTES = 50 << 20;
const DEFAULT_FILES = 10_000;
const MAX_SCRIPT = 1 << 20;
const MAX_ARGUMENTS = 1 << 20;
// Bytes that each argument counts in addition to its text, so that empty arguments are bounded too.
const ARGUMENT_OVERHEAD = 16;
// The exit code of the module for invalid options.
const USAGE_ERROR = 2;

/** The compiled module. It can run any number of scripts, also at the same time. */
export class Sandbox {
  #module;

  constructor(module) {
    this.#module = module;
  }

  static async load(path) {
    return new Sandbox(await WebAssembly.compile(await readFile(path)));
  }

  /**
   * Runs a script in a fresh instance and returns the outcome that `toolscript run --json` prints.
   *
   * - `script`: a string or bytes. `arguments`: the strings that the script receives as `...`.
   * - `ioDir`: the io directory, created if it does not exist. Without it, scripts have no `io`.
   * - `timeout`: seconds. A longer run ends with an error of kind `timeout`.
   * - `maxBytes`, `maxFiles`: the number of bytes that a run can write and of files that it can create.
   * - `errors`: `raise` or `return`, how scripts see errors of the operating system.
   * - `protectNames`: whether scripts cannot write files that other programs execute or trust, such as `.git`.
   *
   * Throws a `TypeError` or `RangeError` for an invalid option, or a system error if the io directory cannot be opened. The script does
   * not run in either case.
   */
  async run({
    script,
    arguments: scriptArguments = [],
    ioDir,
    timeout = DEFAULT_TIMEOUT,
    maxBytes = DEFAULT_BYTES,
    maxFiles = DEFAULT_FILES,
    errors = "raise",
    protectNames = true,
  }) {
    const input = Buffer.from(script);
    checkOptions(input, scriptArguments, timeout, errors);
    const options = ["--errors", errors, "--max-bytes", formatCount(maxBytes, "maxBytes"), "--max-files", formatCount(maxFiles, "maxFiles")];
    if (!protectNames) options.push("--unprotected-names");
    const end = await runInWorker(this.#module, {
      argv: ["toolscript", ...options, "-", "--", ...scriptArguments],
      input,
      ioDir: ioDir === undefined ? undefined : await prepareIoDirectory(ioDir),
      timeout,
    });
    return outcomeOf(end, timeout);
  }
}

function outcomeOf({ status, code, output, cause, lines, touched }, timeout) {
  if (status === "exit" && code === USAGE_ERROR) throw new RangeError(decodeLines(lines).join("\n"));
  if (status === "timeout") return stoppedOutcome(timeoutError(timeout), lines, touched);
  if (status === "stack-overflow") return stoppedOutcome(stackError, lines, touched);
  try {
    if (status === "exit") return parseOutcome(output);
    throw new Error(cause);
  } catch (error) {
    // Logged for the operator and not part of the outcome, because it may expose the host.
    console.error(`toolscript: ${status} ${code ?? ""}: ${error.message}`);
    return stoppedOutcome(internalError, lines, touched ?? []);
  }
}

function checkOptions(input, scriptArguments, timeout, errors) {
  if (input.length > MAX_SCRIPT) throw new RangeError(`the script is ${input.length} bytes; at most ${MAX_SCRIPT} are allowed`);
  const size = scriptArguments.reduce((sum, text) => sum + Buffer.byteLength(text) + ARGUMENT_OVERHEAD, 0);
  if (size > MAX_ARGUMENTS) throw new RangeError(`the arguments are ${size} bytes; at most ${MAX_ARGUMENTS} are allowed`);
  // WASI passes arguments as null-terminated strings.
  if (scriptArguments.some((text) => text.includes("\0"))) throw new TypeError("an argument contains a null byte");
  if (!(timeout > 0 && timeout <= MAX_TIMEOUT)) throw new RangeError(`the timeout must be more than 0 and at most ${MAX_TIMEOUT} seconds`);
  if (errors !== "raise" && errors !== "return") throw new TypeError("errors must be 'raise' or 'return'");
}

function formatCount(number, name) {
  if (!Number.isSafeInteger(number) || number < 0) throw new RangeError(`${name} must be a non-negative integer`);
  return String(number);
}
