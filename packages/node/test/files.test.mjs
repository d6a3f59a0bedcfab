// File operations and commands of a sandbox.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { FileError, Sandbox } from "toolscript";

const directory = mkdtempSync(join(tmpdir(), "toolscript-files-"));
after(() => rmSync(directory, { recursive: true }));
const box = await Sandbox.open(join(directory, "data"));

test("files are written, read, edited, listed and removed", async () => {
  assert.deepEqual(await box.write("notes/a.txt", "one\ntwo\nthree\n"), { name: "notes/a.txt", bytes: 14 });
  assert.deepEqual(await box.edit("notes/a.txt", "two", "2"), { name: "notes/a.txt", count: 1, bytes: 12 });
  const page = await box.read("notes/a.txt", { offset: 2, limit: 1 });
  assert.deepEqual(page, {
    type: "text", text: "2\n", firstLine: 2, lines: 1, totalLines: 3, bytes: 12, truncatedBy: "lines", lineTruncated: false, lossy: false,
    nextLine: 3, numbered: "     2\t2\n",
  });
  assert.equal(await box.readText("notes/a.txt"), "one\n2\nthree\n");
  const [entry] = await box.list("notes");
  assert.deepEqual([entry.name, entry.kind, entry.bytes, entry.modified instanceof Date], ["a.txt", "file", 12, true]);
  assert.equal(readFileSync(join(directory, "data/notes/a.txt"), "utf8"), "one\n2\nthree\n");
  assert.equal(await box.remove("notes/a.txt"), "notes/a.txt");
  assert.deepEqual(await box.delete("notes"), { name: "notes", files: 0, directories: 1 });
});

test("bytes and modes", async () => {
  await box.write("b.bin", new Uint8Array([0, 1]), { mode: "create" });
  await box.write("b.bin", Buffer.from([2]), { mode: "append" });
  assert.deepEqual(await box.readBytes("b.bin"), Buffer.from([0, 1, 2]));
  const read = await box.read("b.bin");
  assert.deepEqual([read.type, read.data, read.mimeType], ["binary", Buffer.from([0, 1, 2]), null]);
  await box.write("p.png", Buffer.from("89504e470d0a1a0a00", "hex"));
  assert.equal((await box.read("p.png")).mimeType, "image/png");
  await box.write("b.bin", "text", { mode: "overwrite" });
  assert.equal(await box.readText("b.bin"), "text");
  await assert.rejects(box.write("b.bin", "x", { mode: "maybe" }), new TypeError('mode must be "create", "overwrite" or "append"'));
  await assert.rejects(box.readText("p.png"), TypeError);
});

test("searches find files and lines", async () => {
  await box.upload({ "s/x.csv": "city\nOslo\nend\n", "s/y.txt": Buffer.from("Oslo\n"), "s/.hidden": "Oslo\n" });
  assert.deepEqual((await box.glob("s/*")).entries.map((entry) => entry.name), ["s/x.csv", "s/y.txt"]);
  assert.deepEqual((await box.glob("**", { path: "s", hidden: true, filesOnly: true, maxResults: 1 })).truncated, true);
  const found = await box.grep("Oslo", { path: "s", glob: "*.csv", context: 1 });
  assert.deepEqual(found, {
    matches: [{ name: "s/x.csv", line: 2, text: "Oslo", truncated: false, before: [{ line: 1, text: "city" }], after: [{ line: 3, text: "end" }] }],
    truncated: false, files: 1, binary: 0, skipped: 0,
  });
  assert.equal((await box.grep("^O.l", { regex: true, maxMatches: 1 })).matches.length, 1);
});

test("uploads and downloads have a result for each file", async () => {
  const [written, failed] = await box.upload([["u.txt", "u"], ["../u.txt", "u"]]);
  assert.deepEqual(written, { name: "u.txt", bytes: 1 });
  assert.ok(failed instanceof FileError && failed.code === "invalid_path");
  const [missing, read] = await box.download(["none.txt", "u.txt"]);
  assert.deepEqual([missing.code, missing.errno, missing.message], ["file_not_found", 2, "none.txt: No such file or directory"]);
  assert.deepEqual(read, Buffer.from("u"));
});

test("file errors have codes", async () => {
  writeFileSync(join(directory, "secret"), "secret");
  symlinkSync(join(directory, "secret"), join(directory, "data/link"));
  const code = (operation) => operation.then(() => "none", (error) => (assert.ok(error instanceof FileError), error.code));
  assert.equal(await code(box.read("link")), "invalid_path");
  assert.equal(await code(box.read("../secret")), "invalid_path");
  assert.equal(await code(box.read("none")), "file_not_found");
  assert.equal(await code(box.write("u.txt", "x")), "file_exists");
  assert.equal(await code(box.readBytes("s")), "is_directory");
  assert.equal(await code(box.edit("u.txt", "nothing", "x")), "invalid_argument");
  assert.equal(await code(box.write(".git/config", "x")), "permission_denied");
  assert.equal(await code(box.grep("x", { signal: AbortSignal.abort() })), "interrupted");
  const small = await Sandbox.open(join(directory, "small"), { maxBytes: 10, diskQuota: "1MiB" });
  assert.equal(await code(small.write("x", "x".repeat(11))), "limit_exceeded");
  const without = await Sandbox.open();
  await assert.rejects(without.read("x"), {
    code: "no_directory", message: 'this sandbox has no directory; open it with one, as in Sandbox.open("./data")',
  });
});

test("a script uses the files, and the run lists those it changed", async () => {
  const { filesTouched } = await box.run("io.open('made.txt', 'w'):write('12345'):close() os.remove('u.txt')");
  assert.deepEqual(filesTouched, [
    { name: "made.txt", op: "write", bytes: 5, truncated: false },
    { name: "u.txt", op: "remove", truncated: false },
  ]);
  const returning = await Sandbox.open(join(directory, "data"), { ioErrors: "return", workingDirectory: "s" });
  assert.deepEqual((await returning.run("return select('#', io.open('none')), io.exists('x.csv')")).result, [3, true]);
  assert.equal(returning.workingDirectory, "s");
});

test("commands have output and an exit code", async () => {
  box.add("shout", (text) => text.toUpperCase());
  const done = await box.exec("print(sdk.shout(env.PLACE), ...) error('no such street', 0)", { env: { PLACE: "Oslo" }, arguments: ["a"] });
  assert.deepEqual([done.stdout, done.exitCode, done.truncated, done.output], ["OSLO\ta\n", 1, false, done.stdout + done.stderr]);
  assert.match(done.stderr, /^error: runtime: no such street\n/);
  await box.write("cmd/main.luau", "return ...");
  const executed = await box.execute("luau main.luau 'a b'", { workingDirectory: "cmd" });
  assert.deepEqual([executed.output, executed.exitCode, executed.filesTouched], ['"a b"\n', 0, []]);
  assert.equal((await box.execute("ls")).exitCode, 2);
  assert.equal((await box.exec("while true do end", { limits: { timeoutMs: 20 } })).exitCode, 3);
  assert.equal((await box.exec("return 1", { signal: AbortSignal.abort() })).exitCode, 130);
});
