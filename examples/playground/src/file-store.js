// The io dir as the page holds it: files and folders by their paths. It outlives the workers that change it.

import { Content } from "./content.js";

/** Bytes that all files may have together. */
export const MAX_TOTAL = 64 * 1024 * 1024;
/** What a file or a folder costs beside its contents, so that there is an end to empty ones too. */
export const ENTRY_COST = 1024;

const encoder = new TextEncoder();
const RESERVED = [".toolscript-tmp", "toolscript.toml"];

/** What is wrong with a path, by the rules that scripts have; nothing if it keeps to them. */
export function problemOf(path) {
  const components = path.split("/");
  if (path === "") return "a name is needed";
  if (path.startsWith("/")) return "the path must be relative";
  if (path.includes("\0") || !path.isWellFormed()) return "the path has characters that no file name has";
  if (components.some((name) => name === "" || name === "." || name === "..")) return "the path has an empty name, '.' or '..' in it";
  const reserved = RESERVED.find((name) => components.some((component) => component.toLowerCase() === name));
  if (reserved !== undefined) return `'${reserved}' is a reserved name`;
  if (components.length > 64 || encoder.encode(path).length > 4096) return "the path is too long";
  if (components.some((name) => encoder.encode(name).length > 255)) return "a name in the path is too long";
  return undefined;
}

/** Tells of each change by an event `change`. */
export class FileStore extends EventTarget {
  /** @type {Map<string, Content>} */
  #files = new Map();
  #folders = new Set();

  /** @param {Record<string, string | Uint8Array>} files */
  constructor(files = {}) {
    super();
    for (const [path, contents] of Object.entries(files)) this.set(path, contents);
  }

  get total() {
    let total = (this.#files.size + this.#folders.size) * ENTRY_COST;
    for (const content of this.#files.values()) total += content.length;
    return total;
  }

  has(path) {
    return this.#files.has(path) || this.#folders.has(path);
  }

  /** The bytes of a file: a copy. */
  get(path) {
    return this.#files.get(path)?.bytes.slice();
  }

  size(path) {
    return this.#files.get(path)?.length;
  }

  /** All paths in order: a folder, then what is in it. */
  list() {
    const entries = [...this.#folders].map((path) => ({ path, folder: true, size: 0 }));
    for (const [path, content] of this.#files) entries.push({ path, folder: false, size: content.length });
    // The slash comes before all characters that a name may have, so that nothing comes between a folder and its files.
    const key = (path) => path.replaceAll("/", "\0");
    return entries.map((entry) => [key(entry.path), entry]).sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
  }

  /** Puts a file there, with the folders on its way. Throws if that can't be. */
  set(path, contents) {
    const bytes = typeof contents === "string" ? encoder.encode(contents) : contents.slice();
    const problem = problemOf(path);
    if (problem) throw new Error(`${path || "the file"}: ${problem}`);
    const names = path.split("/");
    const folders = names.slice(0, -1).map((_, index) => names.slice(0, index + 1).join("/"));
    for (const folder of folders) if (this.#files.has(folder)) throw new Error(`${folder}: is a file, not a folder`);
    if (this.#folders.has(path)) throw new Error(`${path}: is a folder`);
    const missing = folders.filter((folder) => !this.#folders.has(folder));
    const entries = missing.length + (this.#files.has(path) ? 0 : 1);
    if (this.total - (this.size(path) ?? 0) + bytes.length + entries * ENTRY_COST > MAX_TOTAL) {
      throw new Error(`${path}: all files together may have ${MAX_TOTAL / 1024 / 1024} MiB`);
    }
    for (const folder of missing) this.#folders.add(folder);
    this.#files.set(path, new Content(bytes));
    this.#changed();
  }

  /** Removes a file, or a folder with all that is in it. */
  remove(path) {
    const isInside = (other) => other === path || other.startsWith(`${path}/`);
    for (const other of [...this.#files.keys()].filter(isInside)) this.#files.delete(other);
    for (const other of [...this.#folders].filter(isInside)) this.#folders.delete(other);
    this.#changed();
  }

  /** What a worker gets: copies, whose buffers may be transferred. */
  snapshot() {
    return {
      folders: this.list().filter((entry) => entry.folder).map((entry) => entry.path),
      files: [...this.#files].map(([path, content]) => [path, content.bytes.slice()]),
    };
  }

  /** Does what a script did in its worker; `change` comes from `memory-files.js`, which has checked it. */
  apply(change) {
    if (change.op === "folder") this.#folders.add(change.path);
    else if (change.op === "create") this.#files.set(change.path, new Content());
    else if (change.op === "write") this.#files.get(change.path).write(change.offset, change.bytes);
    else if (change.op === "resize") this.#files.get(change.path).resize(change.size);
    else this.#files.delete(change.path);
    this.#changed();
  }

  #changed() {
    this.dispatchEvent(new Event("change"));
  }
}
