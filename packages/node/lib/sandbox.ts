/** `Sandbox`: scripts, functions and files for one agent or tenant. */

import { bridge, perform } from "./bridge.js";
import type { CheckOptions, Diagnostic } from "./check.js";
import { Engine, nativeEngine } from "./engine.js";
import { failureToError, nativeError, type Failure, type FileError } from "./errors.js";
import {
  fileInfo,
  type BinaryFile,
  type DeleteResult,
  type EditOptions,
  type EditResult,
  type FileInfo,
  type GlobOptions,
  type GlobResult,
  type GrepOptions,
  type GrepResult,
  type OperationOptions,
  type ReadOptions,
  type TextPage,
  type WriteOptions,
  type WriteResult,
} from "./files.js";
import { bytesOf, integer, limitsToJson, type Limits, type Size } from "./limits.js";
import { native, type NativeSandbox } from "./native.js";
import {
  convertReceipt,
  partialOutcome,
  runOptionsToJson,
  RunState,
  sharedOptionsToJson,
  type CompletedRun,
  type Receipt,
  type Run,
  type RunOptions,
  type ScriptFunction,
  type TouchedFile,
} from "./run.js";
import { FunctionSource, nativeSource } from "./sources.js";
import { toBuffer } from "./values.js";

/** A function with the documentation that scripts and models read with `sdk.docs` and `sdk.search`. */
export interface DescribedFunction {
  description: string;
  execute: ScriptFunction;
}

/** Functions by name, and sources such as those of `fromOpenapi`. A source has a name of its own, which its key must repeat. */
export type FunctionSet = Record<string, ScriptFunction | DescribedFunction | FunctionSource>;

/** The options of {@link Sandbox.open}. */
export interface SandboxOptions {
  /** The limits of each run. */
  limits?: Limits;
  /** Functions that scripts call as `sdk.name(...)`. */
  functions?: FunctionSet | readonly FunctionSource[];
  /** The engine that runs the scripts. By default, all sandboxes of the process share one. */
  engine?: Engine;
  /** The directory below the directory of the sandbox at which relative paths start. */
  workingDirectory?: string;
  /** The number of bytes that a run or a file operation can write; 50 MiB by default. */
  maxBytes?: Size;
  /** The number of files that a run or a file operation can create; 10,000 by default. */
  maxFiles?: number;
  /** The size that all files together can have. Opening the sandbox counts the existing files. */
  diskQuota?: Size;
  /** The number of runs of this sandbox that execute at the same time. By default, only the engine limits them. */
  concurrency?: number;
  /** `"raise"`, the default, or `"return"` for `nil, message, number` as in Lua. */
  ioErrors?: "raise" | "return";
  /** Rejects changes of names such as `.git`, and any access to names such as `.env`. On by default. */
  protectNames?: boolean;
}

/** The options of {@link Sandbox.exec} and {@link Sandbox.execute}. */
export interface ExecOptions extends Omit<RunOptions, "check" | "seed"> {
  /** The directory that relative paths start at, relative to the working directory of the sandbox. */
  workingDirectory?: string;
}

/** The result of a command. */
export interface Execution {
  /** The log lines, the result and the error: `stdout` followed by `stderr`. */
  output: string;
  /** The log lines, followed by a line with the result as JSON unless it is null. */
  stdout: string;
  /** The error with its traceback. */
  stderr: string;
  /** 0 success, 1 script error, 2 invalid command, 3 limit exceeded, 130 cancelled. */
  exitCode: number;
  /** The output was truncated by a limit. */
  truncated: boolean;
  /** The files that the run created, changed or removed. */
  filesTouched: TouchedFile[];
  /** The cost of the run. Missing if the script did not run. */
  receipt?: Receipt;
}

const NO_OPTIONS = "{}";

/**
 * Runs scripts with limits, functions and, if it has a directory, files.
 *
 * Paths are relative to the working directory; `~` is the directory of the sandbox. Symlinks are never followed.
 */
export class Sandbox {
  #native: NativeSandbox;
  /** Replaced on each change, so that runs in progress keep the functions they have. */
  #functions: ReadonlyMap<string, ScriptFunction> = new Map();
  #descriptions: ReadonlyMap<string, string> = new Map();

  private constructor(opened: NativeSandbox) {
    this.#native = opened;
  }

  /**
   * Opens a sandbox. `directory` is the only directory that scripts and file operations can access; the first write creates it. Without
   * it, scripts have no `io` library.
   */
  static async open(directory?: string | null, options: SandboxOptions = {}): Promise<Sandbox> {
    const { limits, functions, engine, maxBytes, maxFiles, diskQuota, concurrency, workingDirectory, ioErrors, protectNames, ...unknown } = options;
    const key = Object.keys(unknown)[0];
    if (key !== undefined) throw new TypeError(`unknown option "${key}"`);
    if (ioErrors !== undefined && ioErrors !== "raise" && ioErrors !== "return") throw new TypeError('ioErrors must be "raise" or "return"');
    const json = JSON.stringify({
      limits: limits && limitsToJson(limits),
      workingDirectory,
      maxBytes: maxBytes === undefined ? undefined : bytesOf(maxBytes),
      maxFiles: maxFiles === undefined ? undefined : integer("maxFiles", maxFiles),
      diskQuota: diskQuota === undefined ? undefined : bytesOf(diskQuota),
      concurrency: concurrency === undefined ? undefined : integer("concurrency", concurrency),
      returnIoErrors: ioErrors === "return",
      protectNames: protectNames ?? true,
    });
    let opening: NativeSandbox | undefined;
    const begin = (number: number) => {
      opening = native.NativeSandbox.open(bridge, number, directory ?? undefined, engine && nativeEngine(engine), json);
    };
    await perform(begin, () => {});
    const sandbox = new Sandbox(opening as NativeSandbox);
    if (Array.isArray(functions)) {
      for (const source of functions as readonly FunctionSource[]) sandbox.add(source);
    } else if (functions !== undefined) {
      for (const [name, entry] of Object.entries(functions as FunctionSet)) {
        if (entry instanceof FunctionSource) {
          if (entry.name !== name) throw new TypeError(`the source has the name "${entry.name}", not "${name}"; pass the option name when you create it`);
          sandbox.add(entry);
        } else {
          sandbox.add(name, entry);
        }
      }
    }
    return sandbox;
  }

  /** Adds all functions of an API or an MCP server. */
  add(source: FunctionSource): void;
  /** Adds a function, or replaces the one of the same name. Runs in progress keep the functions they have. */
  add(name: string, implementation: ScriptFunction | DescribedFunction): void;
  add(first: FunctionSource | string, implementation?: ScriptFunction | DescribedFunction): void {
    try {
      if (first instanceof FunctionSource) {
        this.#native.addSource(nativeSource(first));
        return;
      }
      const described = typeof implementation === "object" && implementation !== null;
      const execute = described ? implementation.execute : implementation;
      if (typeof execute !== "function") throw new TypeError(`the function "${first}" must be a function, or an object with execute`);
      const descriptions = new Map(this.#descriptions).set(first, described ? implementation.description : "");
      this.#native.setFunctions(JSON.stringify([...descriptions].map(([name, description]) => ({ name, description }))));
      this.#descriptions = descriptions;
      this.#functions = new Map(this.#functions).set(first, execute);
    } catch (error) {
      throw nativeError(error);
    }
  }

  /** The identifier, which is random. */
  get id(): string {
    return this.#native.describe()[0] ?? "";
  }

  /** The directory that relative paths start at, relative to the directory of the sandbox; `.` is the directory itself. */
  get workingDirectory(): string {
    return this.#native.describe()[1] ?? ".";
  }

  /**
   * Returns a description of scripts for a model: the language, the functions that there are now, the files and the limits.
   *
   * `limits` are those of the runs, if they differ from the limits of the sandbox.
   */
  description({ limits = {} }: { limits?: Limits } = {}): string {
    try {
      return this.#native.description(JSON.stringify(limitsToJson(limits)));
    } catch (error) {
      throw nativeError(error);
    }
  }

  /**
   * Runs a script. Rejects with a `ScriptError` if the script fails or a limit stops it, and with `RunRejected` if the run does not start.
   *
   * @param script Luau source text.
   */
  async run<T = any>(script: string | Uint8Array, options?: RunOptions): Promise<Run<T>> {
    const source = typeof script === "string" ? script : (toBuffer(script) ?? notText("script"));
    const json = options === undefined ? NO_OPTIONS : runOptionsToJson(options);
    const state = new RunState(this.#functions, options ?? {});
    return state.perform((number) => this.#native.run(number, source, json), (value: CompletedRun) => state.conclude(value));
  }

  /**
   * Finds mistakes in a script without running it: wrong names, and wrong literals in arguments of the functions of APIs and MCP servers. A
   * syntax error is reported alone. Rejects with `RunRejected` if the script was not checked.
   */
  async check(script: string | Uint8Array, { env, ...unknown }: CheckOptions = {}): Promise<Diagnostic[]> {
    const source = typeof script === "string" ? script : (toBuffer(script) ?? notText("script"));
    const key = Object.keys(unknown)[0];
    if (key !== undefined) throw new TypeError(`unknown option "${key}"`);
    const json = JSON.stringify({ env });
    return perform((number) => this.#native.check(number, source, json), (value) => value as Diagnostic[]);
  }

  /** Runs a script like a command. Errors are in the output, and the exit code is that of the command line. */
  exec(script: string, options: ExecOptions = {}): Promise<Execution> {
    return this.#execute(script, true, options);
  }

  /**
   * Runs a `luau` command, the only one supported: `luau FILE [ARGS…]`, `luau -e CODE [ARGS…]`, or `luau - [ARGS…]` with the script as a
   * here-document.
   */
  execute(command: string, options: ExecOptions = {}): Promise<Execution> {
    return this.#execute(command, false, options);
  }

  async #execute(command: string, isScript: boolean, options: ExecOptions): Promise<Execution> {
    const { workingDirectory, ...shared } = options;
    const json = sharedOptionsToJson(shared, { workingDirectory });
    if (options.signal?.aborted) return cancelledExecution();
    const state = new RunState(this.#functions, options);
    return state.perform((number) => this.#native.execute(number, command, isScript, json), convertExecution);
  }

  /** Reads lines of a text file, or a whole image or other binary file. */
  async read(path: string, { offset = 1, limit, signal }: ReadOptions = {}): Promise<TextPage | BinaryFile> {
    integer("offset", offset);
    const begin = (number: number) => this.#native.read(number, path, offset, limit === undefined ? undefined : integer("limit", limit));
    return perform(begin, (value, [data]) => (data === undefined ? (value as TextPage) : { ...value, data }), signal);
  }

  /** Reads all bytes of a file. */
  async readBytes(path: string, { signal }: OperationOptions = {}): Promise<Buffer> {
    return perform((number) => this.#native.readBytes(number, path), (_, [data]) => data as Buffer, signal);
  }

  /** Reads a whole file as UTF-8. Rejects with a `TypeError` if it is not. */
  async readText(path: string, options?: OperationOptions): Promise<string> {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await this.readBytes(path, options));
  }

  /** Writes a file. Missing parent directories are created. */
  async write(path: string, contents: string | Uint8Array, { mode = "create", signal }: WriteOptions = {}): Promise<WriteResult> {
    const data = typeof contents === "string" ? contents : (toBuffer(contents) ?? notText("contents"));
    return perform((number) => this.#native.write(number, path, data, mode), (value) => value as WriteResult, signal);
  }

  /** Replaces text in a file: its only occurrence, or every occurrence. */
  async edit(path: string, oldText: string, newText: string, { all = false, signal }: EditOptions = {}): Promise<EditResult> {
    return perform((number) => this.#native.edit(number, path, oldText, newText, all), (value) => value as EditResult, signal);
  }

  /** Lists a directory, sorted by name. */
  async list(path = ".", { signal }: OperationOptions = {}): Promise<FileInfo[]> {
    return perform((number) => this.#native.list(number, path), (value) => value.map(fileInfo), signal);
  }

  /** Finds files and directories by a pattern such as `reports/*.csv`. */
  async glob(pattern: string, { signal, ...options }: GlobOptions = {}): Promise<GlobResult> {
    const begin = (number: number) => this.#native.glob(number, JSON.stringify({ ...options, pattern }));
    return perform(begin, (value) => ({ ...value, entries: value.entries.map(fileInfo) }), signal);
  }

  /** Finds lines that contain a text, or match a regular expression. */
  async grep(pattern: string, { signal, ...options }: GrepOptions = {}): Promise<GrepResult> {
    return perform((number) => this.#native.grep(number, JSON.stringify({ ...options, pattern })), (value) => value as GrepResult, signal);
  }

  /** Removes a file. Returns its path, relative to the directory of the sandbox. */
  async remove(path: string, { signal }: OperationOptions = {}): Promise<string> {
    return perform((number) => this.#native.remove(number, path), (value) => value as string, signal);
  }

  /** Deletes a file, or a directory with everything in it. */
  async delete(path: string, { signal }: OperationOptions = {}): Promise<DeleteResult> {
    return perform((number) => this.#native.delete(number, path), (value) => value as DeleteResult, signal);
  }

  /** Writes several files, and returns a result or an error for each, in the same order. Existing files are replaced. */
  async upload(
    files: Record<string, string | Uint8Array> | Iterable<readonly [string, string | Uint8Array]>,
    { signal }: OperationOptions = {},
  ): Promise<(WriteResult | FileError)[]> {
    const pairs = [...(Symbol.iterator in files ? files : Object.entries(files))];
    const contents = pairs.map(([, data]) => (typeof data === "string" ? Buffer.from(data) : (toBuffer(data) ?? notText("contents"))));
    const convert = (each: { failure?: Failure; written: WriteResult }[]) =>
      each.map(({ failure, written }) => (failure === undefined ? written : (failureToError(failure) as FileError)));
    return perform((number) => this.#native.upload(number, pairs.map(([path]) => path), contents), convert, signal);
  }

  /** Reads several files, and returns the bytes or an error for each, in the same order. */
  async download(paths: readonly string[], { signal }: OperationOptions = {}): Promise<(Buffer | FileError)[]> {
    const convert = (each: { failure?: Failure }[], buffers: Buffer[]) => {
      let next = 0;
      return each.map(({ failure }) => (failure === undefined ? (buffers[next++] as Buffer) : (failureToError(failure) as FileError)));
    };
    return perform((number) => this.#native.download(number, [...paths]), convert, signal);
  }
}

function convertExecution({ run, ...execution }: Omit<Execution, "filesTouched"> & { run?: CompletedRun }): Execution {
  if (run === undefined) return { ...execution, filesTouched: [] };
  return { ...execution, filesTouched: partialOutcome(run.outcome).filesTouched, receipt: convertReceipt(run.receipt) };
}

/** Returns the result of a command whose signal was aborted before it started. */
function cancelledExecution(): Execution {
  const output = "error: cancelled: the run was cancelled\n";
  return { output, stdout: "", stderr: output, exitCode: 130, truncated: false, filesTouched: [] };
}

function notText(name: string): never {
  throw new TypeError(`${name} must be a string or a Uint8Array`);
}
