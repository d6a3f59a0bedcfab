/** Starts operations of the addon, and settles their promises. */

import { failureToError, FileError, nativeError, type Failure } from "./errors.js";
import { native, type NativeBridge } from "./native.js";

/** The kinds of events. `src/events.rs` has the same numbers. */
const DONE = 0;
const PRINT = 1;
const PROGRESS = 2;
const CALL = 3;

/** An operation in progress. */
export interface Operation {
  done(text: string, buffers: Buffer[]): void;
  print?(line: string): void;
  progress?(text: string): void;
  call?(text: string, buffers: Buffer[]): void;
}

const operations = new Map<number, Operation>();
let lastOperation = 0;

// Keeps the process alive while operations are in progress. The event function of the addon does not.
const keepAlive = setInterval(() => {}, 0x7fffffff);
keepAlive.unref();

export const bridge: NativeBridge = new native.Bridge((kind, operation, text, buffers) => {
  const receiver = operations.get(operation);
  switch (kind) {
    case DONE:
      operations.delete(operation);
      if (operations.size === 0) keepAlive.unref();
      receiver?.done(text, buffers);
      break;
    case PRINT:
      receiver?.print?.(text);
      break;
    case PROGRESS:
      receiver?.progress?.(text);
      break;
    case CALL:
      receiver?.call?.(text, buffers);
      break;
  }
});

/** Registers an operation, and starts it with its number. An error of `begin` is thrown. */
export function start(operation: Operation, begin: (number: number) => void): number {
  do {
    lastOperation = (lastOperation + 1) >>> 0;
  } while (operations.has(lastOperation));
  const number = lastOperation;
  if (operations.size === 0) keepAlive.ref();
  operations.set(number, operation);
  try {
    begin(number);
  } catch (error) {
    operations.delete(number);
    if (operations.size === 0) keepAlive.unref();
    throw nativeError(error);
  }
  return number;
}

/** Stops an operation when the signal is aborted. Returns a function that ends this. */
export function cancelOnAbort(number: number, signal: AbortSignal | undefined): () => void {
  if (signal === undefined) return () => {};
  const cancel = () => bridge.cancel(number);
  signal.addEventListener("abort", cancel, { once: true });
  return () => signal.removeEventListener("abort", cancel);
}

/** Starts an operation whose result is a JSON value and buffers. */
export function perform<T>(begin: (number: number) => void, convert: (value: any, buffers: Buffer[]) => T, signal?: AbortSignal): Promise<T> {
  if (signal?.aborted) {
    const error = new FileError("the operation timed out or was cancelled", "interrupted");
    error.cause = signal.reason;
    return Promise.reject(error);
  }
  return new Promise((resolve, reject) => {
    let release = () => {};
    const number = start(
      {
        done(text, buffers) {
          release();
          try {
            const value = JSON.parse(text) as { failure?: Failure } | null;
            if (value !== null && typeof value === "object" && value.failure !== undefined) {
              const error = failureToError(value.failure);
              if (signal?.aborted) error.cause = signal.reason;
              reject(error);
            } else {
              resolve(convert(value, buffers));
            }
          } catch (error) {
            reject(error as Error);
          }
        },
      },
      begin,
    );
    release = cancelOnAbort(number, signal);
  });
}
