#!/usr/bin/env node
/** The `toolscript` program. */

import { native } from "./native.js";

// Node ends the process at these signals before the program can react. A handler of its own replaces that, and the program adds the real one.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});

// Blocks, because the program has an event loop of its own. Nothing here may use the standard streams of Node, which would change them.
process.exit(native.runCommandLine(["toolscript", ...process.argv.slice(2)]));
