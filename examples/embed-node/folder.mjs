// The directory of a run, before the run begins.

import { lstat, mkdir, realpath } from "node:fs/promises";
import { resolve } from "node:path";

/** The real path of a directory, which is made if it is not there: node:wasi can't grant one that isn't. */
export async function openFolder(folder) {
  // The empty name would be the working directory, which nobody has named.
  if (folder === "") throw new TypeError("the folder has no name");
  // Without a slash at its end, which would follow a link in the directory's own name.
  const path = resolve(folder);
  await mkdir(path, { recursive: true });
  const state = await lstat(path);
  if (!state.isDirectory()) throw Object.assign(new Error(`${path} is a link, not a directory`), { code: "ENOTDIR" });
  return realpath(path);
}
