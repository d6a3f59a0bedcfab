// `toolscript/sandbox`.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { FileError } from "toolscript";
import { AgentSandbox } from "toolscript/sandbox";

const directory = mkdtempSync(join(tmpdir(), "toolscript-agent-"));
after(() => rmSync(directory, { recursive: true }));
const homeDir = join(directory, "home");
const sandbox = await AgentSandbox.open(homeDir, { workingDir: join(homeDir, "desktop") });

test("the directories are absolute paths", () => {
  assert.deepEqual([sandbox.homeDir, sandbox.workingDir], [homeDir, join(homeDir, "desktop")]);
});

test("paths are relative to the working directory, begin with ~, or are below the home directory", async () => {
  assert.deepEqual(await sandbox.write({ path: "a.txt", content: "1\n2\n3\n" }), { bytes: 6, resolvedPath: join(homeDir, "desktop/a.txt") });
  assert.deepEqual(await sandbox.write({ path: "~/b.txt", content: "b" }), { bytes: 1, resolvedPath: join(homeDir, "b.txt") });
  assert.deepEqual(await sandbox.write({ path: join(homeDir, "b.txt"), content: "c", append: true }), { bytes: 1, resolvedPath: join(homeDir, "b.txt") });
  assert.equal((await sandbox.read({ path: "~/b.txt" })).content, "bc");
  for (const path of ["/etc/passwd", "../../x", "~/../x", `${homeDir}-other/x`]) {
    await assert.rejects(sandbox.read({ path }), (error) => error instanceof FileError && error.code === "invalid_path");
  }
});

test("a text is read in pages, and an image as a whole", async () => {
  assert.deepEqual(await sandbox.read({ path: "a.txt", offset: 2, limit: 1 }), {
    type: "text", content: "2\n", bytes: 6, totalLines: 3, outputLines: 1, truncated: true, truncatedBy: "lines", resolvedPath: join(homeDir, "desktop/a.txt"),
  });
  const image = Buffer.from("89504e470d0a1a0a00", "hex");
  await sandbox.write({ path: "p.png", content: image });
  assert.deepEqual(await sandbox.read({ path: "p.png" }), {
    type: "image", content: image, bytes: 9, mimeType: "image/png", resolvedPath: join(homeDir, "desktop/p.png"),
  });
});

test("commands run in a directory, with an environment, a timeout and a signal", async () => {
  await sandbox.write({ path: "~/bin/main.luau", content: "print(env.NAME, ...) return io.exists('main.luau')" });
  const done = await sandbox.exec({ command: "luau main.luau x", cwd: "~/bin", env: { NAME: "n" } });
  assert.deepEqual(done, { stdout: "n\tx\ntrue\n", stderr: "", exitCode: 0, signal: null, failed: false });
  const failed = await sandbox.exec({ command: "luau -e 'error(1)'" });
  assert.deepEqual([failed.exitCode, failed.failed], [1, true]);
  assert.equal((await sandbox.exec({ command: "luau -e 'while true do end'", timeoutMs: 20 })).exitCode, 3);
  const stopped = await sandbox.exec({ command: "luau -e 'while true do end'", signal: AbortSignal.abort() });
  assert.deepEqual([stopped.exitCode, stopped.signal, stopped.failed], [null, "SIGINT", true]);
});
