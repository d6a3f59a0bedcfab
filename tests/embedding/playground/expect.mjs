// Assertions and paths for the checks.

import { deepEqual } from "node:assert/strict";

const REPOSITORY = new URL("../../../", import.meta.url);
export const PAGE_URL = new URL("examples/playground/dist/index.html", REPOSITORY).href;
export const SCRIPTS = new URL("tests/scripts/", REPOSITORY).pathname;

export function fail(message) {
  throw new Error(message);
}

export function expect(actual, expected, what) {
  try {
    deepEqual(actual, expected);
  } catch {
    const format = (value) => JSON.stringify(value)?.slice(0, 2000);
    fail(`${what}\n  expected: ${format(expected)}\n  actual:   ${format(actual)}`);
  }
}
