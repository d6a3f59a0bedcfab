/** Functions from OpenAPI specifications and MCP servers. */

import { bridge, perform } from "./bridge.js";
import { nativeError } from "./errors.js";
import { native, type NativeSource } from "./native.js";

/** A credential, which scripts never see. A string is a bearer token, or what the specification asks for. */
export type Credential =
  | string
  | { type: "bearer"; token: string }
  | { type: "api_key"; key: string }
  | { type: "basic"; username: string; password: string };

/** Options of APIs and MCP servers. */
export interface SourceOptions {
  /** The name: scripts call the functions as `sdk.NAME.function({...})`. By default, it is derived from the file, program or host. */
  name?: string;
  auth?: Credential;
  /** The environment variable that contains the credential. */
  authEnv?: string;
  /** Allows private and loopback addresses. */
  allowPrivate?: boolean;
  /** Glob patterns of functions. If there are any, only functions that match one are available. */
  allow?: readonly string[];
  /** Glob patterns of functions that are not available. */
  deny?: readonly string[];
  /** Keeps only operations with the method GET, HEAD or OPTIONS, and tools that are annotated as read-only. */
  readOnly?: boolean;
  /** Values of parameters that scripts can neither see nor set. */
  frozenParams?: Record<string, unknown>;
}

/** Options of {@link fromOpenapi}. */
export interface OpenapiOptions extends SourceOptions {
  /** The URL of the API, instead of the servers in the specification. */
  baseUrl?: string;
  /** The security scheme of the specification that the credential is for. */
  authScheme?: string;
}

/** Options of {@link mcpServer}. */
export interface McpServerOptions extends SourceOptions {
  /** Environment variables of the program. */
  env?: Record<string, string>;
  /** Names of variables that the program inherits, in addition to a few such as `PATH` and `HOME`. */
  inheritEnv?: readonly string[];
  /** The directory in which the program is started. */
  workingDirectory?: string;
  /** Headers of every request to the URL. */
  headers?: Record<string, string>;
  /** `"json"` decodes a text that is the only content of a result. */
  decode?: "json";
}

const sources = new WeakMap<FunctionSource, NativeSource>();

/** The functions of an API or an MCP server. Pass it to any number of sandboxes. */
export class FunctionSource {
  /** The name: scripts call the functions as `sdk.NAME.function`. */
  get name(): string {
    return nativeSource(this).name;
  }

  /** The names of the functions. */
  get functions(): string[] {
    return nativeSource(this).functions();
  }

  /** Remarks: name clashes, parts of the specification that are not used, and servers that are down or still starting. */
  get notes(): string[] {
    return nativeSource(this).notes();
  }

  /** Returns the documentation of a function, as models read it. */
  docs(name: string): string {
    try {
      return nativeSource(this).docs(name);
    } catch (error) {
      throw nativeError(error);
    }
  }

  /** Closes the connection to an MCP server, and ends its program. Later calls of its functions fail. */
  close(): void {
    nativeSource(this).close();
  }
}

export function nativeSource(source: FunctionSource): NativeSource {
  const found = sources.get(source);
  if (found === undefined) throw new TypeError("a source must come from fromOpenapi or mcpServer");
  return found;
}

/**
 * Loads an OpenAPI specification, version 3.0 or 3.1, from a path or an HTTP(S) URL. Scripts call its operations as
 * `sdk.NAME.operation({...})`.
 */
export function fromOpenapi(spec: string | URL, options: OpenapiOptions = {}): Promise<FunctionSource> {
  const { name, ...others } = options;
  const text = String(spec);
  const json = snakeCase({ spec: text, ...others });
  return load((number) => native.NativeSource.loadOpenapi(bridge, number, name ?? specificationName(text), JSON.stringify(json)));
}

/**
 * Connects to an MCP server: a command as an array, such as `["npx", "-y", "@modelcontextprotocol/server-everything"]`, or the URL of a
 * server with the streamable HTTP transport. Scripts call its tools as `sdk.NAME.tool({...})`.
 *
 * A server that is down or slow is not an error: `notes` reports it, and it is retried in the background.
 */
export function mcpServer(server: readonly string[] | string | URL, options: McpServerOptions = {}): Promise<FunctionSource> {
  const { name, workingDirectory, ...others } = options;
  const target = typeof server === "string" || server instanceof URL ? { url: String(server) } : { command: server[0], args: server.slice(1) };
  const json = { options: snakeCase({ ...target, ...others }), working_directory: workingDirectory };
  const derived = () => (target.url === undefined ? programName(server as readonly string[]) : hostName(target.url));
  return load((number) => native.NativeSource.connect(bridge, number, name ?? derived(), JSON.stringify(json)));
}

async function load(begin: (number: number) => NativeSource): Promise<FunctionSource> {
  let loading: NativeSource | undefined;
  await perform((number) => (loading = begin(number)), () => {});
  const source = new FunctionSource();
  sources.set(source, loading as NativeSource);
  return source;
}

/** Returns the options with the keys of the configuration file. Keys inside values stay as they are. */
function snakeCase(options: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.map(([key, value]) => [key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value]));
}

/** Names of specification files that do not name the API. */
const GENERIC_NAMES = ["api", "index", "openapi", "schema", "spec", "specification", "swagger"];

/** Programs that start another one, which has the name of the server. */
const LAUNCHERS = ["bun", "bunx", "deno", "docker", "node", "npx", "pipx", "pnpm", "podman", "python", "python3", "uv", "uvx"];

function identifier(text: string): string {
  const name = text.replace(/[^A-Za-z0-9]/g, "_").replace(/^_+|_+$/g, "").toLowerCase();
  if (!/^[a-z]/.test(name)) throw new TypeError(`no name can be derived from "${text}"; pass the option name`);
  return name;
}

function specificationName(spec: string): string {
  const file = spec.split(/[?#]/, 1)[0]?.split(/[\\/]/).filter(Boolean).at(-1) ?? "";
  const name = identifier(file.split(".", 1)[0] ?? "");
  if (GENERIC_NAMES.includes(name)) throw new TypeError(`the file name of "${spec}" does not name the API; pass the option name`);
  return name;
}

function programName(words: readonly string[]): string {
  const base = (word: string) => word.split(/[\\/]/).at(-1) ?? "";
  let program = words[0];
  if (program === undefined) throw new TypeError("the command of the MCP server is missing");
  if (LAUNCHERS.includes(base(program).split(".", 1)[0] ?? "")) {
    const skipped = ["run", "exec", "dlx", "tool"];
    program = words.slice(1).find((word) => !word.startsWith("-") && !skipped.includes(word)) ?? program;
  }
  const name = identifier((base(program).split("@", 1)[0] ?? "").replace(/\.(py|js|mjs|exe)$/, ""));
  const stripped = name.replace(/^(mcp_server_|server_|mcp_)/, "").replace(/(_mcp_server|_server|_mcp)$/, "");
  return stripped === "" ? name : stripped;
}

function hostName(url: string): string {
  const labels = new URL(url).hostname.split(".").filter((label) => !["mcp", "www", "api"].includes(label));
  return identifier(labels[0] ?? url);
}
