// Assertions, paths and temporary directories for the checks.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";

const REPOSITORY = join(import.meta.dirname, "../../..");
export const EXAMPLE = join(REPOSITORY, "examples/embed-node");
export const SCRIPTS = join(REPOSITORY, "tests/scripts");

/** An expectation was not met. */
export class CheckFailed extends Error {}

export function expect(actual, expected, what) {
  if (isDeepStrictEqual(actual, expected)) return;
  const format = (value) => (JSON.stringify(value) ?? "undefined").slice(0, 2000);
  throw new CheckFailed(`${what}\n  expected: ${format(expected)}\n  actual:   ${format(actual)}`);
}

/** Expects the call to reject with a message that contains this text. */
export async function expectRejected(call, text, what) {
  const message = await call().then(
    () => "the call succeeded",
    (error) => error.message,
  );
  if (!message.includes(text)) throw new CheckFailed(`${what}\n  expected: ${text}\n  actual:   ${message}`);
}

/** Passes the path of an io directory that does not exist yet, and of the temporary directory that contains it. */
export async function withIoDir(call) {
  const outside = await mkdtemp(join(tmpdir(), "toolscript-"));
  try {
    return await call(join(outside, "files"), outside);
  } finally {
    await rm(outside, { recursive: true });
  }
}
