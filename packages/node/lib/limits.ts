/** The limits of runs. */

/** A size in bytes, or a text such as `"64MiB"`. */
export type Size = number | string;

/** The limits of a run. All of them have a default, and a script can't raise them. */
export interface Limits {
  /** The wall time in milliseconds; 30,000 by default. */
  timeoutMs?: number;
  /** About one unit per instruction. By default it scales with the timeout. */
  fuel?: number;
  /** All memories together; 64 MiB by default. */
  memory?: Size;
  /** The script; 1 MiB by default. */
  script?: Size;
  /** The log lines; 1 MiB by default. Logs over the limit are truncated. */
  logs?: Size;
  /** The result as JSON; 1 MiB by default. */
  result?: Size;
  /** The number of function calls; 1,000 by default. */
  apiCalls?: number;
}

/** The units of sizes, in lower case. */
const UNITS: Record<string, number> = {
  "": 1, b: 1, k: 1e3, kb: 1e3, m: 1e6, mb: 1e6, g: 1e9, gb: 1e9, kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30, tib: 2 ** 40,
};

/** Returns a size in bytes. */
export function bytesOf(size: Size): number {
  if (typeof size === "number") return integer("a size", size);
  const [, number, unit] = /^\s*(\d+)\s*([a-z]*)\s*$/i.exec(size) ?? [];
  const bytes = Number(number) * (UNITS[unit?.toLowerCase() ?? ""] ?? Number.NaN);
  if (!Number.isSafeInteger(bytes)) {
    throw new TypeError(`invalid size "${size}"; write bytes, or a size such as "512KiB", "64MiB" or "1GB"`);
  }
  return bytes;
}

/** Checks a number that counts something. */
export function integer(name: string, value: number): number {
  if (!Number.isSafeInteger(value) || value < 0) throw new TypeError(`${name} must be a whole number that is not negative, not ${String(value)}`);
  return value;
}

/** Returns the limits as the addon reads them. */
export function limitsToJson(limits: Limits): Record<string, unknown> {
  const { timeoutMs, fuel, memory, script, logs, result, apiCalls, ...unknown } = limits;
  const key = Object.keys(unknown)[0];
  if (key !== undefined) throw new TypeError(`unknown limit "${key}"`);
  if (timeoutMs !== undefined && !(timeoutMs > 0 && timeoutMs <= 86_400_000)) {
    throw new TypeError("timeoutMs must be more than 0 and at most 86400000");
  }
  const size = (value: Size | undefined) => (value === undefined ? undefined : bytesOf(value));
  return {
    timeoutMs,
    fuel: fuel === undefined ? undefined : integer("fuel", fuel),
    memory: size(memory),
    script: size(script),
    logs: size(logs),
    result: size(result),
    apiCalls: apiCalls === undefined ? undefined : integer("apiCalls", apiCalls),
  };
}
