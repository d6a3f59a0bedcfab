// The io directory of the page: files and directories by path. It outlives the workers that change it.

import { FileContent } from "./file-content.js";

/** The maximum size of all files together. */
export const MAX_TOTAL = 64 * 1024 * 1024;
/** Bytes that each file or directory counts in addition to its content, so that empty ones are bounded too. */
export const ENTRY_COST = 1024;

const encoder = new TextEncoder();
/** Names that scripts can neither use nor see. */
const RESERVED = [".toolscript-tmp", "toolscript.toml"];

/** Returns why a path is invalid, or `undefined`. The rules are those for scripts. */
export function pathProblem(path) {
  const components = path.split("/");
  if (path === "") return "a path is required";
  if (path.startsWith("/")) return "the path must be relative";
  if (path.includes("\0") || !path.isWellFormed()) return "the path contains invalid characters";
  if (components.some((name) => name === "" || name === "." || name === "..")) return "the path cannot contain an empty name, '.' or '..'";
  const reserved = RESERVED.find((name) => components.some((component) => component.toLowerCase() === name));
  if (reserved !== undefined) return `'${reserved}' is a reserved name`;
  if (components.length > 64 || encoder.encode(path).length > 4096) return "the path is too long";
  if (components.some((name) => encoder.encode(name).length > 255)) return "a name in the path is too long";
  return undefined;
}

/** Files and directories in memory. Dispatches an event `change` for each change. */
export class FileStore extends EventTarget {
  /** @type {Map<string, FileContent>} */
  #files = new Map();
  #directories = new Set();

  /** @param {Record<string, string | Uint8Array>} files */
  constructor(files = {}) {
    super();
    for (const [path, contents] of Object.entries(files)) this.set(path, contents);
  }

  get total() {
    let total = (this.#files.size + this.#directories.size) * ENTRY_COST;
    for (const content of this.#files.values()) total += content.length;
    return total;
  }

  has(path) {
    return this.#files.has(path) || this.#directories.has(path);
  }

  /** Returns a copy of the bytes of a file. */
  get(path) {
    return this.#files.get(path)?.bytes.slice();
  }

  size(path) {
    return this.#files.get(path)?.length;
  }

  /** Returns all entries sorted by path. Each directory is followed by its contents. */
  list() {
    const entries = [...this.#directories].map((path) => ({ path, isDirectory: true, size: 0 }));
    for (const [path, content] of this.#files) entries.push({ path, isDirectory: false, size: content.length });
    // The slash sorts before all other characters, so that nothing comes between a directory and its contents.
    const key = (path) => path.replaceAll("/", "\0");
    return entries.map((entry) => [key(entry.path), entry]).sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
  }

  /** Adds or replaces a file, and creates its parent directories. Throws if the path is invalid or the quota is exceeded. */
  set(path, contents) {
    const bytes = typeof contents === "string" ? encoder.encode(contents) : contents.slice();
    const problem = pathProblem(path);
    if (problem) throw new Error(`${path || "the file"}: ${problem}`);
    const names = path.split("/");
    const parents = names.slice(0, -1).map((_, index) => names.slice(0, index + 1).join("/"));
    for (const parent of parents) if (this.#files.has(parent)) throw new Error(`${parent}: is a file, not a directory`);
    if (this.#directories.has(path)) throw new Error(`${path}: is a directory`);
    const missing = parents.filter((parent) => !this.#directories.has(parent));
    const entries = missing.length + (this.#files.has(path) ? 0 : 1);
    if (this.total - (this.size(path) ?? 0) + bytes.length + entries * ENTRY_COST > MAX_TOTAL) {
      throw new Error(`${path}: all files together exceed the limit of ${MAX_TOTAL / 1024 / 1024} MiB`);
    }
    for (const parent of missing) this.#directories.add(parent);
    this.#files.set(path, new FileContent(bytes));
    this.#changed();
  }

  /** Removes a file, or a directory and its contents. */
  remove(path) {
    const isInside = (other) => other === path || other.startsWith(`${path}/`);
    for (const other of [...this.#files.keys()].filter(isInside)) this.#files.delete(other);
    for (const other of [...this.#directories].filter(isInside)) this.#directories.delete(other);
    this.#changed();
  }

  /** Returns copies of all files for a worker. Their buffers can be transferred. */
  snapshot() {
    return {
      directories: this.list().filter((entry) => entry.isDirectory).map((entry) => entry.path),
      files: [...this.#files].map(([path, content]) => [path, content.bytes.slice()]),
    };
  }

  /** Applies a change that a script made in its worker. `wasi-files.js` has already checked it. */
  apply(change) {
    if (change.op === "create-directory") this.#directories.add(change.path);
    else if (change.op === "create-file") this.#files.set(change.path, new FileContent());
    else if (change.op === "write") this.#files.get(change.path).write(change.offset, change.bytes);
    else if (change.op === "resize") this.#files.get(change.path).resize(change.size);
    else this.#files.delete(change.path);
    this.#changed();
  }

  #changed() {
    this.dispatchEvent(new Event("change"));
  }
}
