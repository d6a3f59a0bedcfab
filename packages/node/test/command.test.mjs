// The `toolscript` program: streams, signals and exit codes.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "node:test";

const { version } = JSON.parse(readFileSync("node_modules/toolscript/package.json", "utf8"));
const program = resolve("node_modules/.bin/toolscript");
const cwd = mkdtempSync(join(tmpdir(), "toolscript-command-"));
after(() => rmSync(cwd, { recursive: true }));
const run = (args, options = {}) => spawnSync(program, args, { cwd, encoding: "utf8", ...options });
const ended = (child) => new Promise((resolve) => child.on("close", (code, signal) => resolve({ code, signal })));

test("run prints the log and the result", () => {
  const { status, stdout, stderr } = run(["run", "-e", "print('log') return { ... }", "--", "a"]);
  assert.deepEqual([status, stdout, stderr], [0, '["a"]\n', "log\n"]);
  assert.equal(run(["run", "-"], { input: "return 1" }).stdout, "1\n");
});

test("npx starts the program", () => {
  const { status, stdout } = spawnSync("npx", ["--no-install", "toolscript", "--version"], { encoding: "utf8" });
  assert.deepEqual([status, stdout], [0, `toolscript ${version}\n`]);
});

test("install prints the command that starts the program", () => {
  const cached = join(cwd, "_npx/1/node_modules/.bin/toolscript");
  mkdirSync(dirname(cached), { recursive: true });
  symlinkSync(program, cached);
  const script = resolve("node_modules/toolscript/dist/cli.js");
  for (const [command, args, start] of [
    [program, [], [program]],
    [process.execPath, [script], [process.execPath, script]],
    [cached, [], ["npx", "-y", "toolscript"]],
  ]) {
    const env = { ...process.env, PATH: dirname(process.execPath) };
    const { stdout, stderr } = spawnSync(command, [...args, "install", "claude", "--io-dir", "files"], { cwd, encoding: "utf8", env });
    const entry = JSON.parse(stdout).mcpServers.toolscript;
    assert.deepEqual([entry.command, ...entry.args], [...start, "serve", "--io-dir", join(cwd, "files")], stderr);
  }
});

test("exit codes are those of the program", () => {
  assert.equal(run(["run", "-e", "error('x')"]).status, 1);
  assert.equal(run(["run", "--no-such-flag"]).status, 2);
  assert.equal(run(["run", "--timeout", "0.05", "-e", "while true do end"]).status, 3);
});

for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 130]]) {
  test(`${signal} stops a run, which still reports what it did`, async () => {
    const child = spawn(program, ["run", "-e", "io.open('x', 'w'):write('1'):close() print('started') while true do end"], { cwd });
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text) => {
      const isFirst = !stderr.includes("started");
      stderr += text;
      if (isFirst && stderr.includes("started")) child.kill(signal);
    });
    assert.deepEqual(await ended(child), { code, signal: null });
    assert.match(stderr, /^started\nerror: cancelled: /);
    assert.match(stderr, /write x \(1 byte/);
  });
}

test("a second signal ends the program at once", async () => {
  const child = spawn(program, ["run", "-e", "print(string.rep('x', 900000)) while true do end"], { cwd, stdio: ["ignore", "ignore", "pipe"] });
  // The pipe of the log is full, so the program can't report its end.
  child.stderr.pause();
  await new Promise((resolve) => child.stderr.once("readable", resolve));
  const interrupt = setInterval(() => child.kill("SIGINT"), 50);
  const exit = new Promise((resolve) => child.on("exit", (code, signal) => resolve({ code, signal })));
  assert.deepEqual(await exit, { code: 130, signal: null });
  clearInterval(interrupt);
  child.stderr.destroy();
});

test("a closed pipe ends the program without a message", async () => {
  const child = spawn(program, ["run", "-e", "return string.rep('x', 900000)"], { cwd });
  let stderr = "";
  child.stderr.on("data", (text) => (stderr += text));
  child.stdout.once("data", () => child.stdout.destroy());
  assert.deepEqual(await ended(child), { code: 0, signal: null });
  assert.equal(stderr, "");
});

test("serve speaks MCP over stdio, and ends with its input", async () => {
  const child = spawn(program, ["serve", "--io-dir", join(cwd, "served")], { cwd, stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const request = async (message) => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    return message.id === undefined ? undefined : JSON.parse((await lines.next()).value);
  };
  const clientInfo = { name: "test", version: "1" };
  const initialized = await request({ id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } });
  assert.equal(initialized.result.serverInfo.name, "toolscript");
  await request({ method: "notifications/initialized" });
  const called = await request({ id: 2, method: "tools/call", params: { name: "execute_script", arguments: { script: "return 6 * 7" } } });
  assert.equal(called.result.structuredContent.result, 42);
  child.stdin.end();
  assert.deepEqual(await ended(child), { code: 0, signal: null });
});

test("serve ends at SIGTERM", async () => {
  const child = spawn(program, ["serve", "--transport", "http", "--port", "0"], { cwd, stdio: ["ignore", "ignore", "pipe"] });
  await new Promise((resolve) => child.stderr.once("data", resolve));
  child.kill("SIGTERM");
  assert.deepEqual(await ended(child), { code: 0, signal: null });
});
