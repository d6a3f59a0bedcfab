// What a run ended in, in the shape of `toolscript run --json`.

// As the module has it: bytes of all log lines, and what each of them takes beside its own.
const MAX_LOGS = 1 << 20;
const LOG_LINE_OVERHEAD = 24;
// The module cuts a line where a character ends.
const LONGEST_CHARACTER = 4;

const INTERNAL = "the sandbox failed; the cause is in the host's log";

/** The module's own account, if it is one: a guest that is broken open may say anything. */
export function told(output) {
  const outcome = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(output));
  const { result, error, logs, files_touched: touched, truncated } = outcome;
  const isText = (value) => typeof value === "string";
  const isWhole =
    (result === undefined) !== (error === undefined) &&
    (error === undefined || (isText(error.kind) && isText(error.message))) &&
    logs.every(isText) &&
    touched.every(({ name, op }) => isText(name) && isText(op)) &&
    (truncated === undefined || truncated.every(isText));
  if (!isWhole) throw new TypeError("the module told no outcome");
  return outcome;
}

/** The host's account of a run that could not tell its own. */
export function stopped(error, lines, touched) {
  const outcome = { error, logs: logsOf(lines), files_touched: touched };
  return isFull(outcome.logs) ? { ...outcome, truncated: ["logs"] } : outcome;
}

export function timeoutError(timeout) {
  return { kind: "timeout", message: `the script ran longer than ${timeout} s` };
}

export const stackError = { kind: "runtime", message: "stack overflow" };
export const internalError = { kind: "internal", message: INTERNAL };

/** What was printed, line by line; control characters stay escaped. */
export function logsOf(lines) {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  return lines.map((line) => decoder.decode(line).replace(/\n$/, ""));
}

/** Whether there was room for another line: the module does not say on standard error that it cut one. */
function isFull(logs) {
  // It shows a control character as an escape, and counts it as it was.
  const size = (line) => Buffer.byteLength(line.replace(/\\u\{[0-9a-f]+\}/g, " ")) + LOG_LINE_OVERHEAD;
  const used = logs.reduce((sum, line) => sum + size(line), 0);
  return used > MAX_LOGS - LOG_LINE_OVERHEAD - LONGEST_CHARACTER;
}
