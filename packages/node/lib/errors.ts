/** The errors of the package. */

import type { Diagnostic } from "./check.js";
import type { Receipt, TouchedFile } from "./run.js";

/** The base class of all errors of the package. An invalid argument is a `TypeError` instead. */
export class ToolscriptError extends Error {
  override name = "ToolscriptError";
}

/** The kind of an error that ended a run. */
export type ErrorKind = "syntax" | "check" | "runtime" | "result" | "internal" | "fuel" | "timeout" | "memory" | "calls" | "cancelled";

/** The details of a {@link ScriptError}. */
export interface ScriptErrorDetails {
  kind: ErrorKind;
  line: number | undefined;
  traceback: string | undefined;
  logs: string[];
  filesTouched: TouchedFile[];
  receipt: Receipt;
  truncated: string[];
  diagnostics?: Diagnostic[];
}

/**
 * A script failed, or a limit or a signal stopped it.
 *
 * `cause` is the error of a function that the script did not catch, or the reason of the signal.
 */
export class ScriptError extends ToolscriptError {
  override name = "ScriptError";
  /** The kind: a fault of the script, or the limit that stopped it. */
  readonly kind: ErrorKind;
  /** The line of the script, if it is known. */
  readonly line: number | undefined;
  /** The call stack, innermost call first, one per line. */
  readonly traceback: string | undefined;
  /** The lines that the script printed. */
  readonly logs: string[];
  /** The files that the run created, changed or removed, sorted by name. */
  readonly filesTouched: TouchedFile[];
  /** The cost of the run. */
  readonly receipt: Receipt;
  /** The parts that were truncated by a limit. */
  readonly truncated: string[];
  /** The errors that were found before the run. With the kind `check`, they are the reason why the script did not run. */
  readonly diagnostics: Diagnostic[];

  constructor(message: string, details: ScriptErrorDetails, options?: ErrorOptions) {
    super(message, options);
    this.kind = details.kind;
    this.line = details.line;
    this.traceback = details.traceback;
    this.logs = details.logs;
    this.filesTouched = details.filesTouched;
    this.receipt = details.receipt;
    this.truncated = details.truncated;
    this.diagnostics = details.diagnostics ?? [];
  }
}

/** The code of a {@link FileError}. */
export type FileErrorCode =
  | "file_not_found"
  | "permission_denied"
  | "is_directory"
  | "invalid_path"
  | "file_exists"
  | "invalid_argument"
  | "limit_exceeded"
  | "interrupted"
  | "failed"
  | "no_directory";

/** A file operation failed. */
export class FileError extends ToolscriptError {
  override name = "FileError";

  constructor(
    message: string,
    /** The reason, for programs. */
    readonly code: FileErrorCode,
    /** The error number of Linux, if the operating system rejected the operation. */
    readonly errno?: number,
  ) {
    super(message);
  }
}

/** The code of a {@link RunRejected}. */
export type RejectionCode = "script_too_large" | "arguments_too_large" | "environment_too_large" | "invalid_limit" | "busy" | "not_checked";

/** A run did not start, or a script was not checked. */
export class RunRejected extends ToolscriptError {
  override name = "RunRejected";

  constructor(
    message: string,
    /** The reason, for programs. */
    readonly code: RejectionCode,
  ) {
    super(message);
  }
}

/** A specification can't be loaded, or the options of an MCP server are invalid. */
export class SourceError extends ToolscriptError {
  override name = "SourceError";
}

/** An engine can't be built, for example because the address space is limited. */
export class EngineError extends ToolscriptError {
  override name = "EngineError";
}

/** The fields of a {@link FunctionError}. */
export interface FunctionErrorOptions extends ErrorOptions {
  /** The HTTP status, or a similar number. */
  status?: number;
  /** The headers of the response. */
  headers?: Record<string, string>;
  /** The body of the response. */
  body?: unknown;
  /** The number of seconds after which another attempt may succeed. */
  retryAfter?: number;
}

/**
 * An error for scripts. Throw it in a function to choose the message and the fields of the error.
 *
 * A script that catches it with `pcall` reads `status`, `headers`, `body` and `retry_after`.
 */
export class FunctionError extends ToolscriptError {
  override name = "FunctionError";
  readonly status: number | undefined;
  readonly headers: Record<string, string> | undefined;
  readonly body: unknown;
  readonly retryAfter: number | undefined;

  constructor(message: string, options: FunctionErrorOptions = {}) {
    super(message, options);
    this.status = options.status;
    this.headers = options.headers;
    this.body = options.body;
    this.retryAfter = options.retryAfter;
  }
}

/** An error of an operation, as `src/errors.rs` describes it. */
export interface Failure {
  class: "file" | "rejected" | "engine" | "source" | "argument";
  message: string;
  code?: string;
  errno?: number;
}

/** Returns an instance of the class of an error. */
export function failureToError(failure: Failure): Error {
  switch (failure.class) {
    case "file":
      return new FileError(failure.message, failure.code as FileErrorCode, failure.errno);
    case "rejected":
      return new RunRejected(failure.message, failure.code as RejectionCode);
    case "source":
      return new SourceError(failure.message);
    case "argument":
      return new TypeError(failure.message);
    default:
      return new EngineError(failure.message);
  }
}

/** Converts an error that the addon throws before an operation starts. */
export function nativeError(error: unknown): unknown {
  if (!(error instanceof Error) || !("code" in error)) return error;
  const isArgument = typeof error.code === "string" && error.code.endsWith("Expected") || error.code === "InvalidArg";
  return isArgument ? new TypeError(error.message) : new EngineError(error.message);
}
