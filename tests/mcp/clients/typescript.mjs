// Checks the server over HTTP with the official TypeScript SDK: list, call, fail, progress, cancel, and a connection that is cut.
//
// Usage: typescript.mjs PROGRAM, in a directory with the package @modelcontextprotocol/sdk

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import net from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

// The package is in the working directory, not beside this file.
const require = createRequire(path.join(process.cwd(), "package.json"));
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StreamableHTTPClientTransport } = require("@modelcontextprotocol/sdk/client/streamableHttp.js");

const OPTIONS = ["serve", "--transport", "http", "--listen", "127.0.0.1:0", "--io-dir", "files", "--timeout", "25"];

// Milliseconds for one check. Shorter than the timeout of a script, so that a check cannot pass only because a script timed out.
const CHECK_TIMEOUT = 20_000;

// The SDK resumes a stream after three seconds.
const RESUME_TIME = 3_500;

const START = 'io.open("started", "w"):close() ';

const directory = mkdtempSync(path.join(tmpdir(), "toolscript-client-"));
const file = (name) => path.join(directory, "files", name);
const server = spawn(process.argv[2], OPTIONS, { cwd: directory, stdio: ["ignore", "ignore", "pipe"] });
process.on("exit", () => {
  server.kill("SIGKILL");
  rmSync(directory, { recursive: true, force: true });
});
let step = "start";
setTimeout(() => {
  console.error(`the checks take too long: ${step}`);
  process.exit(1);
}, 4 * CHECK_TIMEOUT).unref();

const port = await new Promise((resolve) => {
  let text = "";
  server.stderr.setEncoding("utf8").on("data", (more) => {
    text += more;
    const found = /http:\/\/127\.0\.0\.1:(\d+)\/mcp/.exec(text);
    if (found) resolve(Number(found[1]));
  });
});

// A proxy that can cut all connections, and counts the requests that resume a stream and the responses that are streams.
const connections = new Set();
let resumes = 0;
let streams = 0;
const proxy = net.createServer((client) => {
  const upstream = net.connect(port, "127.0.0.1");
  for (const [from, to] of [[client, upstream], [upstream, client]]) {
    connections.add(from);
    from.on("error", () => to.destroy()).on("close", () => { connections.delete(from); to.destroy(); }).pipe(to);
  }
  client.on("data", (data) => { if (data.toString("latin1").toLowerCase().includes("last-event-id")) resumes += 1; });
  upstream.on("data", (data) => { if (data.toString("latin1").includes("text/event-stream")) streams += 1; });
});
await new Promise((resolve) => proxy.listen(0, "127.0.0.1", resolve));

async function waitFor(condition) {
  for (const end = Date.now() + CHECK_TIMEOUT; !(await condition()); await sleep(20)) {
    assert(Date.now() < end, `the condition stays false: ${condition}`);
  }
}

async function waitForStart() {
  await waitFor(() => existsSync(file("started")));
  rmSync(file("started"));
}

const isIdle = async () => (await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()).includes("toolscript_runs_running 0\n");

const client = new Client({ name: "checks", version: "1" });
const errors = [];
client.onerror = (error) => errors.push(error.message);
await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${proxy.address().port}/mcp`)));
const execute = (script, options) =>
  client.callTool({ name: "execute_script", arguments: { script } }, undefined, { timeout: CHECK_TIMEOUT, ...options });
const value = (result) => result.structuredContent.result;

step = "call";
// List, call, fail. The client validates the structured content.
assert.equal((await client.listTools()).tools[0].name, "execute_script");
const result = await execute("io.open('a.txt', 'w'):write('text'):close() return { answer = 42 }");
assert.deepEqual([result.isError, value(result), result.content.map((block) => block.type)], [false, { answer: 42 }, ["text"]]);
const failed = await execute("error('too bad')");
assert.deepEqual([failed.isError, failed.content[0].text], [true, "Script execution error: script:1: too bad"]);

// A JSON-RPC error. The SDK resumes the stream after it, and must find out that there is nothing more.
await assert.rejects(client.callTool({ name: "none" }), /unknown tool `none`/);

// Progress and cancellation.
step = "cancel";
const received = [];
const abort = new AbortController();
const endless = execute(`${START}progress(1, 2, "half") while true do end`, {
  signal: abort.signal,
  onprogress: (progress) => received.push(progress),
});
const cancelled = assert.rejects(endless);
await waitForStart();
await waitFor(() => received.length > 0);
assert.deepEqual(received, [{ progress: 1, total: 2, message: "half" }]);
abort.abort("enough");
await cancelled;
await waitFor(isIdle);

// The SDK resumes each of the two streams once, and then stops.
await sleep(2 * RESUME_TIME);
assert(resumes <= 2, `${resumes} resumes`);

// A connection that is cut: the run ends before the client comes back.
step = "cut";
const streamsBefore = streams;
const waiting = execute(`${START}repeat until io.exists("go") return 42`);
await waitForStart();
// Without the start of the response, the client cannot know what to resume.
await waitFor(() => streams > streamsBefore);
for (const connection of connections) connection.destroy();
writeFileSync(file("go"), "");
await waitFor(isIdle);
assert.equal(value(await waiting), 42);
assert.equal(value(await execute("return 1")), 1);

console.log("TypeScript SDK: all checks passed");
process.exit(0);
