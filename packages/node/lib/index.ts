/** Runs LLM-written Luau scripts in a WebAssembly sandbox with hard resource limits. */

export type { CheckMode, CheckOptions, Diagnostic } from "./check.js";
export { Engine, type EngineOptions } from "./engine.js";
export {
  EngineError,
  FileError,
  FunctionError,
  RunRejected,
  ScriptError,
  SourceError,
  ToolscriptError,
  type ErrorKind,
  type FileErrorCode,
  type FunctionErrorOptions,
  type RejectionCode,
  type ScriptErrorDetails,
} from "./errors.js";
export type {
  BinaryFile,
  ContextLine,
  DeleteResult,
  EditOptions,
  EditResult,
  FileInfo,
  GlobOptions,
  GlobResult,
  GrepMatch,
  GrepOptions,
  GrepResult,
  OperationOptions,
  ReadOptions,
  TextPage,
  WriteOptions,
  WriteResult,
} from "./files.js";
export type { Limits, Size } from "./limits.js";
export type { FunctionContext, Progress, Receipt, Run, RunOptions, ScriptFunction, TouchedFile } from "./run.js";
export { Sandbox, type DescribedFunction, type ExecOptions, type Execution, type FunctionSet, type SandboxOptions } from "./sandbox.js";
export {
  fromOpenapi,
  FunctionSource,
  mcpServer,
  type Credential,
  type McpServerOptions,
  type OpenapiOptions,
  type SourceOptions,
} from "./sources.js";
