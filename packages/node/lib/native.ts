/** Loads the addon, and declares its interface. Only this file and `bridge.ts` know that operations report their ends as events. */

import { createRequire } from "node:module";

export type Receive = (kind: number, operation: number, text: string, buffers: Buffer[]) => void;

export interface NativeBridge {
  cancel(operation: number): void;
  reply(call: number, text: string, buffers: Buffer[]): void;
}

export interface NativeEngine {
  state(): number[];
}

export interface NativeSource {
  readonly name: string;
  functions(): string[];
  notes(): string[];
  docs(name: string): string;
  close(): void;
}

export interface NativeSandbox {
  setFunctions(functions: string): void;
  addSource(source: NativeSource): void;
  describe(): string[];
  description(limits: string): string;
  check(operation: number, source: string | Buffer, options: string): void;
  run(operation: number, source: string | Buffer, options: string): void;
  execute(operation: number, command: string, isScript: boolean, options: string): void;
  read(operation: number, path: string, offset: number, limit?: number): void;
  readBytes(operation: number, path: string): void;
  write(operation: number, path: string, contents: string | Buffer, mode: string): void;
  edit(operation: number, path: string, old: string, replacement: string, all: boolean): void;
  list(operation: number, path: string): void;
  glob(operation: number, query: string): void;
  grep(operation: number, query: string): void;
  remove(operation: number, path: string): void;
  delete(operation: number, path: string): void;
  upload(operation: number, paths: string[], contents: Buffer[]): void;
  download(operation: number, paths: string[]): void;
}

export interface Native {
  runCommandLine(args: string[], start: string[]): number;
  Bridge: new (receive: Receive) => NativeBridge;
  NativeEngine: new (options: string) => NativeEngine;
  NativeSandbox: {
    open(bridge: NativeBridge, operation: number, directory: string | undefined, engine: NativeEngine | undefined, options: string): NativeSandbox;
  };
  NativeSource: {
    loadOpenapi(bridge: NativeBridge, operation: number, name: string, options: string): NativeSource;
    connect(bridge: NativeBridge, operation: number, name: string, server: string): NativeSource;
  };
}

function load(): Native {
  const { platform, arch, report } = process;
  let target = `${platform}-${arch}`;
  if (platform === "linux") {
    // A Node that is linked with another C library, such as musl, does not report a version of glibc.
    const header = (report.getReport() as { header?: { glibcVersionRuntime?: string } }).header;
    target += header?.glibcVersionRuntime === undefined ? "-musl" : "-gnu";
  }
  const name = `@toolscript/${target}`;
  try {
    return createRequire(import.meta.url)(name) as Native;
  } catch (cause) {
    const isMissing = cause instanceof Error && "code" in cause && cause.code === "MODULE_NOT_FOUND";
    const reason = isMissing ? "is not installed; install toolscript with optional dependencies on a supported platform" : "can't be loaded";
    throw new Error(`toolscript: the package ${name} ${reason}`, { cause });
  }
}

export const native: Native = load();
