/** The engine, which runs scripts. */

import { nativeError } from "./errors.js";
import { integer } from "./limits.js";
import { native, type NativeEngine } from "./native.js";

/** The settings of an {@link Engine}. */
export interface EngineOptions {
  /** The number of runs that can execute at the same time; four per core by default. */
  concurrency?: number;
  /** The number of runs that can wait; 1,024 by default. Further runs are rejected. */
  queueLimit?: number;
}

const engines = new WeakMap<Engine, NativeEngine>();

/**
 * Runs scripts, with a limit on how many run and wait at the same time.
 *
 * Sandboxes share one engine of the process unless you pass another. Each engine reserves 8 GiB of address space per concurrent run.
 */
export class Engine {
  constructor({ concurrency, queueLimit }: EngineOptions = {}) {
    const options = {
      concurrency: concurrency === undefined ? undefined : integer("concurrency", concurrency),
      queueLimit: queueLimit === undefined ? undefined : integer("queueLimit", queueLimit),
    };
    try {
      engines.set(this, new native.NativeEngine(JSON.stringify(options)));
    } catch (error) {
      throw nativeError(error);
    }
  }

  /** The number of runs that can execute at the same time. */
  get concurrency(): number {
    return nativeEngine(this).state()[0] ?? 0;
  }

  /** The number of runs that can wait. */
  get queueLimit(): number {
    return nativeEngine(this).state()[1] ?? 0;
  }

  /** The number of runs that are executing now. */
  get running(): number {
    return nativeEngine(this).state()[2] ?? 0;
  }

  /** The number of runs that are waiting now. */
  get waiting(): number {
    return nativeEngine(this).state()[3] ?? 0;
  }
}

export function nativeEngine(engine: Engine): NativeEngine {
  const found = engines.get(engine);
  if (found === undefined) throw new TypeError("engine must be an Engine");
  return found;
}
