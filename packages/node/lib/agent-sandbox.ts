/** `toolscript/sandbox`: files and commands of one agent, with host paths and typed results. */

import { FileError } from "./errors.js";
import type { Limits } from "./limits.js";
import { posix, resolve, sep } from "node:path";
import { Sandbox, type SandboxOptions } from "./sandbox.js";

export interface SandboxReadArgs {
  path: string;
  /** The number of the first line, counted from 1. */
  offset?: number;
  /** The number of lines. At most 2,000 lines and 50 KiB are returned. */
  limit?: number;
}

export interface SandboxReadResultText {
  type: "text";
  content: string;
  /** The size of the file. */
  bytes: number;
  totalLines: number;
  outputLines: number;
  truncated: boolean;
  truncatedBy: "lines" | "bytes" | null;
  resolvedPath: string;
}

export interface SandboxReadResultBinary {
  type: "image" | "binary";
  content: Buffer;
  bytes: number;
  mimeType: string;
  resolvedPath: string;
}

export type SandboxReadResult = SandboxReadResultText | SandboxReadResultBinary;

export interface SandboxWriteArgs {
  path: string;
  content: string | Uint8Array;
  /** Appends to an existing file. Otherwise it is replaced. */
  append?: boolean;
}

export interface SandboxWriteResult {
  bytes: number;
  resolvedPath: string;
}

export interface SandboxExecArgs {
  /** A `luau` command, the only one supported; see `Sandbox.execute`. */
  command: string;
  /** The directory that relative paths start at. By default `workingDir`. */
  cwd?: string;
  timeoutMs?: number;
  /** The read-only table `env` of the script. */
  env?: Record<string, string>;
  signal?: AbortSignal;
}

export interface SandboxExecResult {
  stdout: string;
  stderr: string;
  /** 0 success, 1 script error, 2 invalid command, 3 limit exceeded, `null` if the run was cancelled. */
  exitCode: number | null;
  /** `"SIGINT"` if the run was cancelled. */
  signal: string | null;
  /** The command did not succeed. */
  failed: boolean;
}

export interface AgentSandboxOptions extends Omit<SandboxOptions, "workingDirectory"> {
  /** The directory that relative paths start at: a path below `homeDir`, absolute or relative to it. By default, `homeDir`. */
  workingDir?: string;
  limits?: Limits;
}

/**
 * Files and commands of one agent.
 *
 * A path is relative to `workingDir`, begins with `~/` for `homeDir`, or is an absolute path of the host below `homeDir`. Nothing else can
 * be accessed. Scripts have no network except the functions of the sandbox.
 */
export class AgentSandbox {
  /** The absolute path of the only directory that can be accessed. */
  readonly homeDir: string;
  /** The absolute path that relative paths start at. */
  readonly workingDir: string;
  /** The sandbox that executes the operations. */
  readonly sandbox: Sandbox;

  private constructor(homeDir: string, sandbox: Sandbox) {
    this.homeDir = homeDir;
    this.sandbox = sandbox;
    this.workingDir = resolve(homeDir, sandbox.workingDirectory);
  }

  /** Opens the sandbox. The first write creates `homeDir`. */
  static async open(homeDir: string, { workingDir, ...options }: AgentSandboxOptions = {}): Promise<AgentSandbox> {
    const home = resolve(homeDir);
    const below = workingDir === undefined ? undefined : relativeToHome(home, workingDir);
    const workingDirectory = below === undefined || below === "~" ? undefined : below.replace(/^~\//, "");
    return new AgentSandbox(home, await Sandbox.open(home, { ...options, workingDirectory }));
  }

  /** Reads lines of a text file, or a whole image or other binary file. */
  async read({ path, offset, limit }: SandboxReadArgs): Promise<SandboxReadResult> {
    const resolvedPath = this.#resolve(path);
    const contents = await this.sandbox.read(relativeToHome(this.homeDir, path), { offset, limit });
    if (contents.type !== "text") {
      const { type, data, mimeType } = contents;
      return { type, content: data, bytes: data.length, mimeType: mimeType ?? "application/octet-stream", resolvedPath };
    }
    const { text, bytes, totalLines, lines, truncatedBy } = contents;
    return { type: "text", content: text, bytes, totalLines, outputLines: lines, truncated: truncatedBy !== null, truncatedBy, resolvedPath };
  }

  /** Writes a file. Missing parent directories are created. */
  async write({ path, content, append = false }: SandboxWriteArgs): Promise<SandboxWriteResult> {
    const mode = append ? "append" : "overwrite";
    const { name, bytes } = await this.sandbox.write(relativeToHome(this.homeDir, path), content, { mode });
    return { bytes, resolvedPath: resolve(this.homeDir, name) };
  }

  /** Runs a command. Errors of the script are in the result. */
  async exec({ command, cwd, timeoutMs, env, signal }: SandboxExecArgs): Promise<SandboxExecResult> {
    const workingDirectory = cwd === undefined ? undefined : relativeToHome(this.homeDir, cwd);
    const limits = timeoutMs === undefined ? undefined : { timeoutMs };
    const { stdout, stderr, exitCode } = await this.sandbox.execute(command, { workingDirectory, limits, env, signal });
    const cancelled = exitCode === 130;
    return { stdout, stderr, exitCode: cancelled ? null : exitCode, signal: cancelled ? "SIGINT" : null, failed: exitCode !== 0 };
  }

  #resolve(path: string): string {
    const inner = relativeToHome(this.homeDir, path);
    return inner === "~" || inner.startsWith("~/") ? resolve(this.homeDir, inner.slice(2)) : resolve(this.workingDir, inner);
  }
}

/** Converts an absolute path of the host to one that begins with `~`. Other paths stay as they are. */
function relativeToHome(home: string, path: string): string {
  if (!posix.isAbsolute(path.replaceAll(sep, "/")) && resolve(path) !== path) return path;
  const absolute = resolve(path);
  if (absolute === home) return "~";
  if (!absolute.startsWith(home + sep)) throw new FileError(`${path}: the path is not below the home directory`, "invalid_path");
  return `~/${absolute.slice(home.length + 1).replaceAll(sep, "/")}`;
}
