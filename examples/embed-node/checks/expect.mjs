// What the checks share.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";

/** Something is not as it should be. */
export class Wrong extends Error {}

export function expect(actual, expected, what) {
  if (isDeepStrictEqual(actual, expected)) return;
  const shown = (value) => (JSON.stringify(value) ?? "nothing").slice(0, 2000);
  throw new Wrong(`${what}\n  expected: ${shown(expected)}\n  actual:   ${shown(actual)}`);
}

/** Expects a run not to be made, for a reason that says this. */
export async function expectRefusal(call, words, what) {
  const refusal = await call().then(
    () => "nothing was refused",
    (error) => error.message,
  );
  if (!refusal.includes(words)) throw new Wrong(`${what}\n  expected: ${words}\n  actual:   ${refusal}`);
}

/** Gives the call a directory for scripts, which does not exist yet, in one of its own. */
export async function withDirectory(call) {
  const outside = await mkdtemp(join(tmpdir(), "toolscript-"));
  try {
    return await call(join(outside, "files"), outside);
  } finally {
    await rm(outside, { recursive: true });
  }
}
