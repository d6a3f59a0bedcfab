/** Runs: their options, results and events. */

import { bridge, cancelOnAbort, start } from "./bridge.js";
import type { CheckMode, Diagnostic } from "./check.js";
import { failureToError, FunctionError, ScriptError, type ErrorKind, type Failure, type FunctionErrorOptions } from "./errors.js";
import { limitsToJson, type Limits } from "./limits.js";
import { decodeArguments, encode, type EncodedArguments } from "./values.js";

/** A file that a run created, changed or removed. */
export interface TouchedFile {
  /** The path, relative to the directory of the sandbox. */
  name: string;
  op: "write" | "append" | "remove";
  /** The size after the run. Missing if the file was removed. */
  bytes?: number;
  /** The run was stopped before all bytes were written. */
  truncated: boolean;
}

/** The cost of a run. */
export interface Receipt {
  /** About one unit per instruction. */
  fuel: number;
  /** The wall time, without the time in the queue. */
  microseconds: number;
  /** The peak size of all memories in bytes. */
  memoryPeak: number;
  logBytes: number;
  resultBytes: number;
  bytesRead: number;
  bytesWritten: number;
  filesCreated: number;
  hostCalls: { count: number; microseconds: number };
  /** The kind of the limit that stopped the run. */
  stoppedBy?: ErrorKind;
}

/** A completed run. */
export interface Run<T = any> {
  /** The value that the script returned. Several values are an array, none is `null`. */
  result: T;
  /** The lines that the script printed. */
  logs: string[];
  /** The files that the run created, changed or removed, sorted by name. */
  filesTouched: TouchedFile[];
  receipt: Receipt;
  /** The parts that were truncated by a limit: `"logs"`. */
  truncated: string[];
  /** The parts of the result that JSON can't represent, with their replacements. */
  replaced: string[];
  /** The errors that were found before the run, with `check: "warn"`. */
  diagnostics: Diagnostic[];
}

/** A report of progress. */
export interface Progress {
  done: number;
  total: number | null;
  message: string | null;
}

/** The options of a run. */
export interface RunOptions {
  /** The values of `...` in the script, which receives them as strings. */
  arguments?: readonly (string | number | boolean)[];
  /** Limits of this run. The others are those of the sandbox. */
  limits?: Limits;
  /** Called with each line that the script prints. An error that it throws stops the run. */
  onPrint?: (line: string) => void;
  /** Called with the latest report of progress. An error that it throws stops the run. */
  onProgress?: (progress: Progress) => void;
  /** Stops the run. It then rejects with a `ScriptError` of the kind `cancelled`, whose cause is the reason of the signal. */
  signal?: AbortSignal;
  /** The seed of `math.random`, for reproducible runs. */
  seed?: number;
  /** Credentials for this run, by the name of their API or MCP server. */
  credentials?: Record<string, string>;
  /** The read-only table `env` of the script. Environment variables of the process are never visible to scripts. */
  env?: Record<string, string>;
  /** Looks for mistakes before the run, as `Sandbox.check` does; `"off"` by default. */
  check?: CheckMode;
}

/** The context of a function call, which is `this` in a function that is not an arrow function. */
export interface FunctionContext {
  /** Is aborted when the run ends, so that the function can stop work that nobody waits for. */
  readonly signal: AbortSignal;
}

/** A function that scripts call as `sdk.name(...)`. It receives the arguments of the call, and can be async. */
export type ScriptFunction = (this: FunctionContext, ...args: any[]) => unknown;

/** The maximum number of errors that are kept as possible causes. A script can catch any number of them. */
const MAX_CAUSES = 16;

/** The outcome of a run, as the library serializes it. */
interface Outcome {
  result?: unknown;
  error?: { kind: ErrorKind; message: string; traceback?: string };
  logs: string[];
  files_touched: { name: string; op: TouchedFile["op"]; bytes?: number; cut?: boolean }[];
  truncated?: string[];
  replaced?: string[];
}

export interface CompletedRun {
  outcome: Outcome;
  receipt: Record<string, any>;
  diagnostics?: Diagnostic[];
}

/** A run in progress: calls its functions and listeners, and keeps their errors. */
export class RunState {
  readonly #functions: ReadonlyMap<string, ScriptFunction>;
  readonly #options: RunOptions;
  #causes: { message: string; error: unknown }[] = [];
  #raised: { error: unknown } | undefined;
  #context: AbortController | undefined;
  #number = 0;

  constructor(functions: ReadonlyMap<string, ScriptFunction>, options: RunOptions) {
    this.#functions = functions;
    this.#options = options;
  }

  /** Starts the operation, and converts its result. */
  perform<T>(begin: (number: number) => void, convert: (value: any) => T): Promise<T> {
    const { signal, onPrint, onProgress } = this.#options;
    if (signal?.aborted) return Promise.reject(cancelledBeforeStart(signal));
    return new Promise((resolve, reject) => {
      let release = () => {};
      this.#number = start(
        {
          done: (text) => {
            release();
            this.#context?.abort();
            try {
              if (this.#raised !== undefined) throw this.#raised.error;
              const value = JSON.parse(text) as { failure?: Failure };
              if (value.failure !== undefined) throw failureToError(value.failure);
              resolve(convert(value));
            } catch (error) {
              reject(error as Error);
            }
          },
          print: onPrint && ((line) => this.#listen(() => onPrint(line))),
          progress: onProgress && ((text) => this.#listen(() => onProgress(JSON.parse(text) as Progress))),
          call: (text, buffers) => void this.#call(text, buffers),
        },
        begin,
      );
      release = cancelOnAbort(this.#number, signal);
    });
  }

  /** Returns the run, or throws the error that ended it. */
  conclude({ outcome, receipt, diagnostics = [] }: CompletedRun): Run {
    const details = { ...partialOutcome(outcome), receipt: convertReceipt(receipt), diagnostics };
    if (outcome.error === undefined) return { result: outcome.result ?? null, ...details, replaced: outcome.replaced ?? [] };
    const { kind, message, traceback } = outcome.error;
    const cause = this.#cause(kind, message);
    const line = kind === "check" ? diagnostics[0]?.line : lineOf(message, traceback);
    throw new ScriptError(message, { kind, traceback, line, ...details }, cause);
  }

  #cause(kind: ErrorKind, message: string): ErrorOptions | undefined {
    if (kind === "cancelled") return this.#options.signal?.aborted ? { cause: this.#options.signal.reason } : undefined;
    const found = this.#causes.findLast((cause) => message.includes(cause.message));
    return found && { cause: found.error };
  }

  #listen(notify: () => void): void {
    if (this.#raised !== undefined) return;
    try {
      notify();
    } catch (error) {
      this.#raised = { error };
      bridge.cancel(this.#number);
    }
  }

  async #call(text: string, buffers: Buffer[]): Promise<void> {
    const call = JSON.parse(text) as EncodedArguments & { call: number; name: string };
    try {
      const implementation = this.#functions.get(call.name);
      if (implementation === undefined) throw new Error("there is no such function");
      const returned = implementation.apply(this.#functionContext(), decodeArguments(call, buffers));
      const { value, pointers, buffers: bytes } = encode(await returned);
      bridge.reply(call.call, JSON.stringify({ value, pointers }), bytes);
    } catch (error) {
      const { text, buffers: bytes, message } = encodeError(call.name, error);
      if (this.#causes.length === MAX_CAUSES) this.#causes.shift();
      // Line breaks in messages are escaped on the way, so only the first line is compared.
      this.#causes.push({ message: message.split("\n", 1)[0] ?? "", error });
      bridge.reply(call.call, text, bytes);
    }
  }

  #functionContext(): FunctionContext {
    const state = this;
    return {
      get signal() {
        state.#context ??= new AbortController();
        return state.#context.signal;
      },
    };
  }
}

/** Returns the error of a run whose signal was aborted before it started. */
function cancelledBeforeStart(signal: AbortSignal): ScriptError {
  const counts = { fuel: 0, microseconds: 0, memoryPeak: 0, logBytes: 0, resultBytes: 0, bytesRead: 0, bytesWritten: 0, filesCreated: 0 };
  const receipt: Receipt = { ...counts, hostCalls: { count: 0, microseconds: 0 }, stoppedBy: "cancelled" };
  const details = { kind: "cancelled" as const, line: undefined, traceback: undefined, logs: [], filesTouched: [], receipt, truncated: [] };
  return new ScriptError("the run was cancelled", details, { cause: signal.reason });
}

/** Returns the parts of an outcome that a failed run has, too. */
export function partialOutcome(outcome: Outcome) {
  const filesTouched = outcome.files_touched.map(({ cut, ...file }): TouchedFile => ({ ...file, truncated: cut === true }));
  return { logs: outcome.logs, filesTouched, truncated: outcome.truncated ?? [] };
}

export function convertReceipt(receipt: Record<string, any>): Receipt {
  const converted: Record<string, unknown> = {};
  for (const key in receipt) converted[key.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())] = receipt[key];
  return converted as unknown as Receipt;
}

/** Returns the line of the script at which an error was raised, from its message or else from its traceback. */
function lineOf(message: string, traceback: string | undefined): number | undefined {
  const line = /^script:(\d+)/.exec(message) ?? /^script:(\d+)/m.exec(traceback ?? "");
  return line === null ? undefined : Number(line[1]);
}

/** Returns the error that a script gets for an error of a function. */
function describeError(name: string, error: unknown): { message: string } & FunctionErrorOptions {
  if (error instanceof FunctionError) {
    const { message, status, headers, retryAfter, body } = error;
    return { message: `${name}: ${message}`, status, headers, retryAfter, body };
  }
  let text = "the function failed";
  try {
    text = error instanceof Error && error.name === "Error" ? error.message : String(error);
  } catch {
    // `toString` can throw, too.
  }
  return { message: `${name}: ${text}` };
}

/** Encodes an error for the addon. If its fields can't be passed to the script, only the message is. */
function encodeError(name: string, error: unknown): { text: string; buffers: Buffer[]; message: string } {
  const { message, status, headers, retryAfter, body } = describeError(name, error);
  try {
    const { value, pointers, buffers } = encode(body);
    return { text: JSON.stringify({ message, status, headers, retryAfter, value, pointers }), buffers, message };
  } catch {
    return { text: JSON.stringify({ message }), buffers: [], message };
  }
}

function argument(value: unknown): string {
  if (["string", "number", "boolean"].includes(typeof value)) return String(value);
  throw new TypeError("an argument must be a string, a number or a boolean; pass JSON, and read it in the script with json.decode");
}

/** Returns the options of a run for the addon. */
export function runOptionsToJson({ check, seed, ...options }: RunOptions): string {
  if (check !== undefined && !["off", "errors", "warn"].includes(check)) throw new TypeError('check must be "off", "errors" or "warn"');
  return sharedOptionsToJson(options, { check, seed });
}

/** Returns the options that runs and commands have, and more options, for the addon. */
export function sharedOptionsToJson(options: Omit<RunOptions, "check" | "seed">, more: Record<string, unknown>): string {
  const { arguments: values, limits, onPrint, onProgress, signal, credentials, env, ...unknown } = options;
  const key = Object.keys(unknown)[0];
  if (key !== undefined) throw new TypeError(`unknown option "${key}"`);
  if (signal !== undefined && !(signal instanceof AbortSignal)) throw new TypeError("signal must be an AbortSignal");
  return JSON.stringify({
    arguments: values?.map(argument),
    limits: limits && limitsToJson(limits),
    credentials,
    env,
    onPrint: onPrint !== undefined,
    onProgress: onProgress !== undefined,
    ...more,
  });
}
