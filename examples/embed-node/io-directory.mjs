// Prepares the io directory of a run.

import { lstat, mkdir, realpath } from "node:fs/promises";
import { resolve } from "node:path";

/** Returns the real path of the io directory. Creates it first, because node:wasi cannot preopen a missing directory. */
export async function prepareIoDirectory(ioDir) {
  // An empty path would be resolved to the working directory.
  if (ioDir === "") throw new TypeError("the io directory cannot be an empty path");
  // `resolve` removes a trailing slash, which would make `lstat` follow a symlink in the last component.
  const path = resolve(ioDir);
  await mkdir(path, { recursive: true });
  const status = await lstat(path);
  if (!status.isDirectory()) throw Object.assign(new Error(`${path} is a symlink, not a directory`), { code: "ENOTDIR" });
  return realpath(path);
}
