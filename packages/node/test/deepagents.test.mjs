// `toolscript/deepagents` with the real package.
//
// The 91 standard tests of `@langchain/sandbox-standard-tests` 2.0.0 that need no `close` and no `initialize` were run beside these, with
// deepagents 1.14.1:
// - 59 pass as they are.
// - 21 verify or prepare files with a shell command such as `cat`, `wc` or `mkdir`. They pass if the runner performs that command.
// - 7 run other shell commands: `echo`, `exit`, `export` and `sh`. There is no shell.
// - 2 expect paths of `glob` that are relative to the searched directory. The tool `glob` of deepagents promises absolute paths.
// - 1 expects directories in the result of `glob`. `FilesystemBackend` and `StateBackend` return files only, too.
// - 1 expects that an edit that changes nothing succeeds. The sandbox rejects it, so that a model notices the mistake.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { AIMessage } from "@langchain/core/messages";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import { createDeepAgent, isSandboxBackend, isSandboxProtocol } from "deepagents";
import { ToolscriptBackend, ToolscriptBackendV1 } from "toolscript/deepagents";

const directory = mkdtempSync(join(tmpdir(), "toolscript-deepagents-"));
after(() => rmSync(directory, { recursive: true }));
const backend = await ToolscriptBackend.open(join(directory, "v2"), { functions: { double: (x) => 2 * x } });

test("the package recognizes the backend", () => {
  assert.ok(isSandboxBackend(backend));
  assert.ok(isSandboxProtocol(backend));
  assert.match(backend.id, /^toolscript-[0-9a-f]{16}$/);
});

test("the operations of the current protocol", async () => {
  assert.deepEqual(await backend.write("/notes/a.txt", "one\ntwo\nthree\n"), { path: "/notes/a.txt", filesUpdate: null });
  assert.deepEqual(await backend.write("/notes/a.txt", "one\ntwo\n3\n"), { path: "/notes/a.txt", filesUpdate: null });
  assert.deepEqual(await backend.read("/notes/a.txt", 1, 1), {
    content: "two", mimeType: "text/plain", totalLines: 3, startLine: 2, endLine: 2, nextOffset: 2,
  });
  assert.deepEqual(await backend.read("/none"), { error: "File '/none' not found" });
  assert.deepEqual(await backend.edit("/notes/a.txt", "3", "three"), { path: "/notes/a.txt", filesUpdate: null, occurrences: 1 });
  assert.match((await backend.edit("/notes/a.txt", "four", "4")).error, /^String not found: notes\/a\.txt: /);
  assert.match((await backend.edit("/notes/a.txt", "e", "E")).error, /^Multiple occurrences: notes\/a\.txt: .* 3 times/);
  const raw = await backend.readRaw("/notes/a.txt");
  assert.deepEqual([raw.data.content, raw.data.mimeType], ["one\ntwo\nthree\n", "text/plain"]);
  assert.ok(!Number.isNaN(Date.parse(raw.data.modified_at)));
  const { files } = await backend.ls("/");
  assert.deepEqual([files[0].path, files[0].is_dir], ["/notes/", true]);
  assert.deepEqual((await backend.ls("/notes")).files.map((file) => [file.path, file.size]), [["/notes/a.txt", 14]]);
  assert.deepEqual(await backend.grep("two"), { matches: [{ path: "/notes/a.txt", line: 2, text: "two" }], truncated: false });
  assert.equal((await backend.grep("o", "/", "*.txt", 1)).truncated, true);
  const paths = async (...query) => (await backend.glob(...query)).files.map((file) => file.path);
  assert.deepEqual([await paths("**/*.txt"), await paths("*.txt", "/notes"), await paths("/notes/*")], Array(3).fill(["/notes/a.txt"]));
  assert.deepEqual(await paths("*.txt"), []);
  assert.deepEqual(await backend.uploadFiles([["/u.bin", new Uint8Array([0])], ["/../x", new Uint8Array()]]), [
    { path: "/u.bin", error: null },
    { path: "/../x", error: "invalid_path" },
  ]);
  const [found, missing] = await backend.downloadFiles(["/u.bin", "/none"]);
  assert.deepEqual([found.content, missing], [Buffer.from([0]), { path: "/none", content: null, error: "file_not_found" }]);
  assert.deepEqual((await backend.readRaw("/u.bin")).data.content, Buffer.from([0]));
  assert.deepEqual(await backend.delete("/u.bin"), { path: "/u.bin", filesUpdate: null });
});

test("nothing is found in a directory that does not exist", async () => {
  assert.deepEqual(await backend.ls("/none"), { files: [] });
  assert.deepEqual(await backend.grep("x", "/none"), { matches: [], truncated: false });
  assert.deepEqual(await backend.glob("*", "/none"), { files: [], truncated: false });
  assert.match((await backend.ls("/../none")).error, /traversal/);
});

test("a full page has no newline at its end", async () => {
  await backend.write("/two.txt", "one\ntwo\n");
  assert.deepEqual(await backend.read("/two.txt", 0, 2), { content: "one\ntwo", mimeType: "text/plain", totalLines: 2, startLine: 1, endLine: 2 });
  assert.equal((await backend.read("/two.txt", 0, 3)).content, "one\ntwo\n");
  assert.match((await backend.read("/two.txt", 2)).error, /past the end; the file has 2 lines/);
  await backend.write("/empty.txt", "");
  assert.deepEqual(await backend.read("/empty.txt"), { content: "", mimeType: "text/plain", totalLines: 0 });
});

test("searches find names that begin with a dot", async () => {
  const hidden = await ToolscriptBackend.open(join(directory, "hidden"));
  await hidden.write("/.data/.settings", "needle\n");
  assert.deepEqual((await hidden.grep("needle")).matches.map((match) => match.path), ["/.data/.settings"]);
  assert.deepEqual((await hidden.glob("**/*")).files.map((file) => file.path), ["/.data/.settings"]);
  const first = await ToolscriptBackendV1.open(join(directory, "hidden"));
  assert.deepEqual(await first.grepRaw("needle"), [{ path: "/.data/.settings", line: 1, text: "needle" }]);
  assert.deepEqual((await first.globInfo(".data/*")).map((file) => file.path), ["/.data/.settings"]);
});

test("a range of lines can have any numbers", async () => {
  await backend.write("/range.txt", "one\ntwo\nthree");
  assert.equal((await backend.read("/range.txt", -5)).content, "one\ntwo\nthree");
  assert.equal((await backend.read("/range.txt", -1, 1)).startLine, 1);
  assert.equal((await backend.read("/range.txt", 1.5, 1.5)).startLine, 2);
  assert.equal((await backend.read("/range.txt", Number.NaN, Infinity)).totalLines, 3);
  assert.equal((await backend.read("/range.txt", 0, -1)).content, "");
  const first = await ToolscriptBackendV1.open(join(directory, "v2"));
  assert.equal(await first.read("/range.txt", -5, 1), "     1\tone\n");
});

test("commands run scripts with functions and absolute paths", async () => {
  await backend.write("/main.luau", "return sdk.double(...)");
  assert.deepEqual(await backend.execute("luau /main.luau 21"), { output: "42\n", exitCode: 0, truncated: false });
  assert.equal((await backend.execute("rm -rf /")).exitCode, 2);
});

test("the operations of the first protocol", async () => {
  const first = await ToolscriptBackendV1.open(join(directory, "v1"));
  assert.deepEqual(await first.write("/a.txt", "x"), { path: "/a.txt", filesUpdate: null });
  assert.deepEqual(await first.write("/a.txt", "one\ntwo"), { path: "/a.txt", filesUpdate: null });
  assert.equal(await first.read("/a.txt", 1, 1), "     2\ttwo");
  assert.equal(await first.read("/none"), "Error: File '/none' not found");
  assert.deepEqual((await first.readRaw("/a.txt")).content, ["one", "two"]);
  assert.deepEqual((await first.lsInfo("/")).map((file) => file.path), ["/a.txt"]);
  assert.deepEqual(await first.lsInfo("/none"), []);
  assert.deepEqual(await first.grepRaw("two"), [{ path: "/a.txt", line: 2, text: "two" }]);
  assert.deepEqual(await first.grepRaw("two", "/none"), []);
  assert.match(await first.grepRaw("two", "/../none"), /^Error: .*traversal/);
  assert.deepEqual((await first.globInfo("*.txt")).map((file) => file.path), ["/a.txt"]);
  assert.deepEqual(await first.edit("/a.txt", "two", "2"), { path: "/a.txt", filesUpdate: null, occurrences: 1 });
  assert.equal((await first.execute("luau -e 'return 1'")).output, "1\n");
  assert.match(first.id, /^toolscript-/);
});

/** A model that answers with prepared messages. */
class ScriptedModel extends FakeListChatModel {
  constructor(messages) {
    super({ responses: ["unused"] });
    this.messages = messages;
  }
  bindTools() {
    return this;
  }
  async _generate() {
    const message = this.messages.shift();
    return { generations: [{ message, text: message.text }] };
  }
}

test("an agent writes a script, executes it and reads a file", async () => {
  const call = (name, args) => new AIMessage({ content: "", tool_calls: [{ id: name, name, args, type: "tool_call" }] });
  const model = new ScriptedModel([
    call("write_file", { file_path: "/agent.luau", content: "io.open('out.txt', 'w'):write(tostring(sdk.double(21))):close()" }),
    call("execute", { command: "luau /agent.luau" }),
    call("read_file", { file_path: "/out.txt" }),
    new AIMessage("finished"),
  ]);
  const agent = createDeepAgent({ model, backend });
  const { messages } = await agent.invoke({ messages: [{ role: "user", content: "go" }] });
  const tools = Object.fromEntries(messages.filter((message) => message.getType() === "tool").map((message) => [message.name, message]));
  assert.match(String(tools.execute.content), /exit code 0|succeeded/i);
  assert.match(JSON.stringify(tools.read_file.content), /42/);
  assert.equal(messages.at(-1).text, "finished");
  assert.equal(await backend.sandbox.readText("out.txt"), "42");
});
