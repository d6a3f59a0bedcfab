/** `toolscript/deepagents`: a sandbox as a backend of the npm package `deepagents`. */

import type {
  DeleteResult,
  EditResult,
  ExecuteResponse,
  FileData,
  FileDownloadResponse,
  FileInfo as BackendFileInfo,
  FileOperationError,
  FileUploadResponse,
  GlobResult,
  GrepMatch,
  GrepResult,
  LsResult,
  ReadRawResult,
  ReadResult,
  SandboxBackendProtocolV1,
  SandboxBackendProtocolV2,
  WriteResult,
} from "deepagents";
import { FileError } from "./errors.js";
import type { FileInfo } from "./files.js";
import { Sandbox, type SandboxOptions } from "./sandbox.js";

/** The number of lines that a page has if the caller names none. */
const DEFAULT_LIMIT = 500;

/**
 * The operations that both versions of the protocol share. A path that begins with `/` starts at the directory of the sandbox, and paths in
 * results begin with `/`.
 */
class Backend {
  /** The sandbox that executes the operations. */
  readonly sandbox: Sandbox;

  constructor(sandbox: Sandbox) {
    this.sandbox = sandbox;
  }

  /** Unique identifier of this sandbox. */
  get id(): string {
    return this.sandbox.id;
  }

  /** Writes a file. An existing file is replaced. */
  write(filePath: string, content: string): Promise<WriteResult> {
    return orError(filePath, async () => {
      const { name } = await this.sandbox.write(inner(filePath), content, { mode: "overwrite" });
      return { path: `/${name}`, filesUpdate: null };
    });
  }

  /** Replaces text in a file: its only occurrence, or every occurrence. */
  edit(filePath: string, oldString: string, newString: string, replaceAll = false): Promise<EditResult> {
    return orError(filePath, async () => {
      const { name, count } = await this.sandbox.edit(inner(filePath), oldString, newString, { all: replaceAll });
      return { path: `/${name}`, filesUpdate: null, occurrences: count };
    });
  }

  /** Deletes a file, or a directory with everything in it. */
  delete(filePath: string): Promise<DeleteResult> {
    return orError(filePath, async () => ({ path: `/${(await this.sandbox.delete(inner(filePath))).name}`, filesUpdate: null }));
  }

  /** Writes several files. Existing files are replaced. */
  async uploadFiles(files: Array<[string, Uint8Array]>): Promise<FileUploadResponse[]> {
    const results = await this.sandbox.upload(files.map(([path, contents]) => [inner(path), contents] as const));
    return results.map((result, index) => ({ path: files[index]?.[0] ?? "", error: result instanceof FileError ? errorCode(result) : null }));
  }

  /** Reads several files. */
  async downloadFiles(paths: string[]): Promise<FileDownloadResponse[]> {
    const results = await this.sandbox.download(paths.map(inner));
    return results.map((result, index) => {
      const path = paths[index] ?? "";
      return result instanceof FileError ? { path, content: null, error: errorCode(result) } : { path, content: result, error: null };
    });
  }

  /** Runs a `luau` command, the only one supported. Errors are reported in the output. */
  async execute(command: string): Promise<ExecuteResponse> {
    const { output, exitCode, truncated } = await this.sandbox.execute(command.replace(/^(\s*luau\s+["']?)\//, "$1~/"));
    return { output, exitCode, truncated };
  }

  protected async entries(path: string): Promise<BackendFileInfo[]> {
    const directory = path.endsWith("/") ? path : `${path}/`;
    const entries = await this.sandbox.list(inner(path)).catch(emptyIfMissing);
    return entries.map((entry) => backendFileInfo(entry, directory));
  }

  protected async matches(pattern: string, path?: string | null, glob?: string | null, maxMatches?: number | null) {
    const relativeGlob = glob?.startsWith("/") ? `.${glob}` : (glob ?? undefined);
    const options = { path: inner(path ?? "/"), glob: relativeGlob, hidden: true, maxMatches: maxMatches ?? undefined };
    const found = await this.sandbox.grep(pattern, options).catch((error) => ({ matches: emptyIfMissing(error), truncated: false }));
    const matches = found.matches.map(({ name, line, text }): GrepMatch => ({ path: `/${name}`, line, text }));
    return { matches, truncated: found.truncated };
  }

  protected async find(pattern: string, path: string) {
    // Wildcards match names that begin with a dot, as in the other backends of the package.
    const options = { path: inner(path), hidden: true, filesOnly: true };
    const found = await this.sandbox.glob(pattern.replace(/^\/+/, ""), options).catch((error) => ({ entries: emptyIfMissing(error), truncated: false }));
    return { files: found.entries.map((entry) => backendFileInfo(entry, "/")), truncated: found.truncated };
  }

  /** Returns the contents of a file, and the time of its last change. */
  protected async raw(filePath: string) {
    const path = inner(filePath);
    const contents = await this.sandbox.readBytes(path);
    const slash = path.lastIndexOf("/");
    const siblings = await this.sandbox.list(slash < 0 ? "." : path.slice(0, slash) || "~");
    const modified = siblings.find((entry) => entry.name === path.slice(slash + 1))?.modified ?? new Date();
    return { contents, modified: modified.toISOString() };
  }
}

/** A sandbox as a backend with the current protocol of `deepagents`. Errors are in the results. */
export class ToolscriptBackend extends Backend implements SandboxBackendProtocolV2 {
  /** Opens a sandbox, and returns a backend for it. */
  static async open(directory: string, options?: SandboxOptions): Promise<ToolscriptBackend> {
    return new ToolscriptBackend(await Sandbox.open(directory, options));
  }

  /** Lists a directory. Directories have a slash at the end of their path. */
  ls(path: string): Promise<LsResult> {
    return orError(path, async () => ({ files: await this.entries(path) }));
  }

  /** Reads lines of a text file after skipping `offset` lines, or all bytes of another file. */
  read(filePath: string, offset = 0, limit = DEFAULT_LIMIT): Promise<ReadResult> {
    return orError(filePath, async () => {
      const range = lineRange(offset, limit);
      const page = await this.sandbox.read(inner(filePath), range);
      if (page.type !== "text") return { content: page.data, mimeType: page.mimeType ?? "application/octet-stream" };
      const { text, firstLine, lines, totalLines, nextLine } = page;
      const shown = lines === 0 ? {} : { startLine: firstLine, endLine: firstLine + lines - 1 };
      const next = nextLine === null ? {} : { nextOffset: nextLine - 1 };
      // In the protocol, newlines separate lines. One at the end of a full page would be the start of a line beyond the limit.
      const isFull = nextLine !== null || lines === range.limit;
      const content = isFull ? text.replace(/\n$/, "") : text;
      return { content, mimeType: "text/plain", totalLines, ...shown, ...next };
    });
  }

  /** Reads a whole file. */
  readRaw(filePath: string): Promise<ReadRawResult> {
    return orError(filePath, async () => {
      const { contents, modified } = await this.raw(filePath);
      const times = { created_at: modified, modified_at: modified };
      const text = decodeText(contents);
      if (text !== undefined) return { data: { content: text, mimeType: "text/plain", ...times } };
      const page = await this.sandbox.read(inner(filePath), { limit: 1 });
      const mimeType = page.type === "text" ? "text/plain" : (page.mimeType ?? "application/octet-stream");
      return { data: { content: contents, mimeType, ...times } };
    });
  }

  /** Finds lines that contain a literal text. */
  grep(pattern: string, path?: string | null, glob?: string | null, maxCount?: number | null): Promise<GrepResult> {
    return orError(path ?? "/", () => this.matches(pattern, path, glob, maxCount));
  }

  /** Finds files by a pattern. A pattern without `**` matches at one depth only, as in the other backends of the package. */
  glob(pattern: string, path = "/"): Promise<GlobResult> {
    return orError(path, () => this.find(pattern, path));
  }
}

/** A sandbox as a backend with the first protocol of `deepagents`: `lsInfo`, `readRaw`, `grepRaw` and `globInfo`. */
export class ToolscriptBackendV1 extends Backend implements SandboxBackendProtocolV1 {
  /** Opens a sandbox, and returns a backend for it. */
  static async open(directory: string, options?: SandboxOptions): Promise<ToolscriptBackendV1> {
    return new ToolscriptBackendV1(await Sandbox.open(directory, options));
  }

  /** Lists a directory. A directory that can't be read is empty. */
  async lsInfo(path: string): Promise<BackendFileInfo[]> {
    return this.entries(path).catch(emptyOnFileError);
  }

  /** Reads lines of a text file, each with its number in front. An error is returned as text. */
  async read(filePath: string, offset = 0, limit = 2000): Promise<string> {
    try {
      const page = await this.sandbox.read(inner(filePath), lineRange(offset, limit));
      return page.type === "text" ? page.numbered : `Error: ${filePath}: not a text file`;
    } catch (error) {
      return `Error: ${messageOf(error, filePath)}`;
    }
  }

  /** Reads a whole text file as lines. */
  async readRaw(filePath: string): Promise<FileData> {
    const { contents, modified } = await this.raw(filePath);
    return { content: contents.toString("utf8").split("\n"), created_at: modified, modified_at: modified };
  }

  /** Finds lines that contain a literal text. An error is returned as text. */
  async grepRaw(pattern: string, path: string | null = "/", glob: string | null = null): Promise<GrepMatch[] | string> {
    try {
      return (await this.matches(pattern, path, glob)).matches;
    } catch (error) {
      return `Error: ${messageOf(error, path ?? "/")}`;
    }
  }

  /** Finds files by a pattern. A pattern without `**` matches at one depth only, as in the other backends of the package. */
  async globInfo(pattern: string, path = "/"): Promise<BackendFileInfo[]> {
    return this.find(pattern, path).then(({ files }) => files, emptyOnFileError);
  }
}

/** Converts a path of a backend to one of the sandbox. A second slash stays, and is rejected. */
function inner(path: string): string {
  return path === "/" ? "~" : path.startsWith("/") ? `~${path}` : path;
}

/** The largest number of lines in a range. */
const MAX_LINES = 2 ** 32;

/** Converts a range of lines of the protocol. Models also pass negative numbers and fractions. */
function lineRange(offset: number, limit: number): { offset: number; limit: number } {
  const lines = (value: number) => Math.min(Math.max(Math.trunc(value) || 0, 0), MAX_LINES);
  return { offset: lines(offset) + 1, limit: lines(limit) };
}

function backendFileInfo({ name, kind, bytes, modified }: FileInfo, directory: string): BackendFileInfo {
  const isDirectory = kind === "directory";
  const info: BackendFileInfo = { path: `${directory}${name}${isDirectory ? "/" : ""}`, is_dir: isDirectory, size: bytes };
  if (modified !== null) info.modified_at = modified.toISOString();
  return info;
}

/** Returns the text of a file, or `undefined` if it is not UTF-8 or contains a NUL byte. */
function decodeText(contents: Buffer): string | undefined {
  if (contents.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(contents);
  } catch {
    return undefined;
  }
}

/** Returns the result, or the message of a file error as `error`. */
async function orError<T>(path: string, operation: () => Promise<T>): Promise<T | { error: string }> {
  try {
    return await operation();
  } catch (error) {
    return { error: messageOf(error, path) };
  }
}

/** The beginnings of the messages of failed edits, by a part of the message. Models know them from the other backends of the package. */
const EDIT_ERRORS = [
  ["is not in the file", "String not found: "],
  ["times; include more", "Multiple occurrences: "],
] as const;

/** Returns the message of an error of the sandbox. Other errors are faults of the caller, and are thrown. */
function messageOf(error: unknown, path: string): string {
  if (!(error instanceof FileError)) throw error;
  if (error.code === "file_not_found") return `File '${path}' not found`;
  return `${EDIT_ERRORS.find(([part]) => error.message.includes(part))?.[1] ?? ""}${error.message}`;
}

/** Returns an empty list for a directory that does not exist, as the other backends of the package do. */
function emptyIfMissing(error: unknown): never[] {
  if (error instanceof FileError && error.code === "file_not_found") return [];
  throw error;
}

/** Returns an empty list for an error of the sandbox. */
function emptyOnFileError(error: unknown): never[] {
  if (error instanceof FileError) return [];
  throw error;
}

/** Returns the nearest of the codes that the protocol has. */
function errorCode(error: FileError): FileOperationError {
  switch (error.code) {
    case "file_not_found":
    case "is_directory":
    case "invalid_path":
      return error.code;
    case "invalid_argument":
      return "invalid_path";
    default:
      return "permission_denied";
  }
}
