/** Converts values between JavaScript and scripts. Bytes, which JSON can't represent, are passed as buffers beside the JSON text. */

/** The nesting depth of a value, which also ends a cycle. */
const MAX_DEPTH = 128;

/** A value as JSON, with the location and the bytes of each byte array in it. */
export interface EncodedValue {
  value: unknown;
  /** JSON pointers. The value has an empty string at each. */
  pointers: string[];
  buffers: Buffer[];
}

/** Encodes the return value of a function. */
export function encode(value: unknown): EncodedValue {
  const encoded: EncodedValue = { value: null, pointers: [], buffers: [] };
  encoded.value = prepare(value, "", 0, encoded);
  return encoded;
}

function prepare(value: unknown, pointer: string, depth: number, encoded: EncodedValue): unknown {
  switch (typeof value) {
    case "undefined":
      return null;
    case "bigint":
      // As for integers of an API: those that a number can't represent are strings.
      return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
    case "function":
    case "symbol":
      throw new TypeError(`a ${typeof value} can't be passed to a script${pointer === "" ? "" : ` (at ${pointer})`}`);
    case "object":
      break;
    default:
      return value;
  }
  if (value === null) return null;
  const bytes = toBuffer(value);
  if (bytes !== undefined) {
    encoded.pointers.push(pointer);
    encoded.buffers.push(bytes);
    return "";
  }
  if (depth === MAX_DEPTH) throw new TypeError(`a value is nested more than ${MAX_DEPTH} levels deep, or contains itself`);
  if ("toJSON" in value && typeof value.toJSON === "function") return prepare(value.toJSON(), pointer, depth + 1, encoded);
  if (value instanceof Set) value = [...value];
  if (Array.isArray(value)) return value.map((item, index) => prepare(item, `${pointer}/${index}`, depth + 1, encoded));
  const entries = value instanceof Map ? [...value] : Object.entries(value as object);
  const prepared: Record<string, unknown> = Object.create(null);
  for (const [key, item] of entries) {
    if (item === undefined) continue;
    const name = String(key);
    prepared[name] = prepare(item, `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`, depth + 1, encoded);
  }
  return prepared;
}

/** Returns the bytes of a byte array without copying them, or `undefined` for any other value. */
export function toBuffer(value: unknown): Buffer | undefined {
  if (Buffer.isBuffer(value)) return value;
  if (ArrayBuffer.isView(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (value instanceof ArrayBuffer || value instanceof SharedArrayBuffer) return Buffer.from(value);
  return undefined;
}

/** The arguments of a function call, as `src/functions.rs` encodes them. */
export interface EncodedArguments {
  arguments: unknown[];
  attachments: { argument: number; pointer: string }[];
}

/** Puts the bytes back into the arguments of a call. */
export function decodeArguments({ arguments: values, attachments }: EncodedArguments, buffers: Buffer[]): unknown[] {
  attachments.forEach(({ argument, pointer }, index) => {
    let parent: any = values;
    let key: string = String(argument);
    for (const part of pointer.split("/").slice(1)) {
      parent = parent[key];
      key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    }
    // An assignment to `__proto__` would change the prototype.
    Object.defineProperty(parent, key, { value: buffers[index], writable: true, enumerable: true, configurable: true });
  });
  return values;
}
