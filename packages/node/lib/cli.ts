#!/usr/bin/env node
/** The `toolscript` program. */

import path from "node:path";
import { native } from "./native.js";

// Node ends the process at these signals before the program can react. A handler of its own replaces that, and the program adds the real one.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});

// Blocks, because the program has an event loop of its own. Nothing here may use the standard streams of Node, which would change them.
process.exit(native.runCommandLine(["toolscript", ...process.argv.slice(2)], start(process.argv[1] ?? "")));

/** Returns the command that starts this program, for `toolscript install`. */
function start(program: string): string[] {
  // The directory of npx is a cache, which can be deleted at any time.
  if (program.split(path.sep).includes("_npx")) return ["npx", "-y", "toolscript"];
  return path.extname(program) === ".js" ? [process.execPath, program] : [program];
}
