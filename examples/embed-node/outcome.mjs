// Builds outcomes in the format of `toolscript run --json`.

// The limits of the module: bytes of all log lines, and the overhead that it counts per line.
const MAX_LOGS = 1 << 20;
const LOG_LINE_OVERHEAD = 24;
// The module truncates a line at the end of a UTF-8 character.
const MAX_CHARACTER_BYTES = 4;

const INTERNAL = "the sandbox failed; the cause is in the host's log";

/** Parses and validates the outcome that the module wrote. A compromised guest can write anything. */
export function parseOutcome(output) {
  const outcome = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(output));
  const { result, error, logs, files_touched: touched, truncated } = outcome;
  const isString = (value) => typeof value === "string";
  const isValid =
    (result === undefined) !== (error === undefined) &&
    (error === undefined || (isString(error.kind) && isString(error.message))) &&
    logs.every(isString) &&
    touched.every(({ name, op }) => isString(name) && isString(op)) &&
    (truncated === undefined || truncated.every(isString));
  if (!isValid) throw new TypeError("the module wrote an invalid outcome");
  return outcome;
}

/** Builds the outcome of a run that was stopped before the module could write one. */
export function stoppedOutcome(error, lines, touched) {
  const outcome = { error, logs: decodeLines(lines), files_touched: touched };
  return isFull(outcome.logs) ? { ...outcome, truncated: ["logs"] } : outcome;
}

export function timeoutError(timeout) {
  return { kind: "timeout", message: `the script ran longer than ${timeout} s` };
}

export const stackError = { kind: "runtime", message: "stack overflow" };
export const internalError = { kind: "internal", message: INTERNAL };

/** Decodes log lines. Control characters stay escaped. */
export function decodeLines(lines) {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  return lines.map((line) => decoder.decode(line).replace(/\n$/, ""));
}

/** Returns `true` if the log limit was reached. The module does not report on standard error that it truncated a line. */
function isFull(logs) {
  // The module escapes a control character, but counts it as one byte.
  const size = (line) => Buffer.byteLength(line.replace(/\\u\{[0-9a-f]+\}/g, " ")) + LOG_LINE_OVERHEAD;
  const used = logs.reduce((sum, line) => sum + size(line), 0);
  return used > MAX_LOGS - LOG_LINE_OVERHEAD - MAX_CHARACTER_BYTES;
}
