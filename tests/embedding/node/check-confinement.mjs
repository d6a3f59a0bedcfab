// Tries to leave the io directory through symlinks, FIFOs, '..' and absolute paths.

import { execFileSync } from "node:child_process";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, expectRejected, withIoDir } from "./expect.mjs";

export const TRY_EVERY_OPERATION = `
  local answers = {}
  local function try(call, ...)
      local ok, message = pcall(call, ...)
      table.insert(answers, ok and "DONE" or message)
  end
  for _, mode in { "r", "w", "a", "r+", "w+", "a+" } do try(io.open, (...), mode) end
  try(os.remove, (...))
  try(os.rename, (...), "renamed")
  try(os.rename, "inside", (...))
  try(io.list, (...))
  return answers
`;

export async function checkConfinement(sandbox) {
  let attempts = 0;
  await withIoDir(async (ioDir, outside) => {
    await createEscapes(ioDir, outside);
    const expectOperationsRejected = async (path, message, listMessage = message) => {
      const { result } = await sandbox.run({ script: TRY_EVERY_OPERATION, arguments: [path], ioDir });
      expect(result, [...Array(9).fill(message), listMessage], `operations on ${path}`);
      attempts += result.length;
    };
    for (const name of ["link", "relative", "to-inside", "nowhere", "home", "home/secret"]) {
      await expectOperationsRejected(name, `${name}: symbolic links are not followed`);
    }
    await expectOperationsRejected("fifo", "fifo: not a regular file", "fifo: Not a directory");
    for (const path of ["..", "../secret", "a/../../secret", "inside/.."]) {
      await expectOperationsRejected(path, "path cannot contain '..' traversal");
    }
    for (const path of ["/", "/etc/passwd", join(outside, "secret")]) await expectOperationsRejected(path, "path must be relative");
    await expectOperationsRejected(".toolscript-tmp/x", "path cannot contain '.toolscript-tmp', a reserved name");
    const { result: names } = await sandbox.run({ script: "return io.list()", ioDir });
    expect(names, ["fifo", "home", "inside", "link", "nowhere", "relative", "to-inside"], "symlinks are listed by name");
    await expectUnchanged(ioDir, outside);
    for (const link of ["home", "home/"]) {
      const run = () => sandbox.run({ script: "return io.list()", ioDir: join(ioDir, link) });
      await expectRejected(run, "is a symlink", "io directory that is a symlink");
    }
    await expectRejected(() => sandbox.run({ script: "return 1", ioDir: join(ioDir, "inside") }), "EEXIST", "io directory that is a file");
    await expectRejected(() => sandbox.run({ script: "return 1", ioDir: "" }), "cannot be an empty path", "io directory that is an empty path");
  });
  return `confinement: ${attempts} calls through symlinks, FIFOs, '..' and absolute paths were rejected`;
}

/** Creates files inside and outside of the io directory, and every kind of entry that could lead outside. */
export async function createEscapes(ioDir, outside) {
  await mkdir(ioDir);
  await writeFile(join(outside, "secret"), "secret");
  await mkdir(join(outside, "home"));
  await writeFile(join(outside, "home/secret"), "secret");
  await writeFile(join(ioDir, "inside"), "inside");
  await symlink(join(outside, "secret"), join(ioDir, "link"));
  await symlink("../secret", join(ioDir, "relative"));
  await symlink("inside", join(ioDir, "to-inside"));
  await symlink("../made", join(ioDir, "nowhere"));
  await symlink("../home", join(ioDir, "home"));
  execFileSync("mkfifo", [join(ioDir, "fifo")]);
}

export async function expectUnchanged(ioDir, outside) {
  const secrets = await Promise.all(["secret", "home/secret"].map((name) => readFile(join(outside, name), "utf8")));
  expect(secrets, ["secret", "secret"], "files outside are unchanged");
  expect((await readdir(outside)).sort(), ["files", "home", "secret"], "no file was created outside");
  expect(await readFile(join(ioDir, "inside"), "utf8"), "inside", "target of a symlink is unchanged");
}

/** node:wasi lists a directory in blocks that can end in the middle of a name. */
export async function checkLongList(sandbox) {
  const names = Array.from({ length: 2000 }, (_, number) => `${number}${"x".repeat(number % 97)}`).sort();
  await withIoDir(async (ioDir) => {
    await mkdir(ioDir);
    await Promise.all(names.map((name) => writeFile(join(ioDir, name), "")));
    expect((await sandbox.run({ script: "return io.list()", ioDir })).result, names, "list of a directory with many files");
  });
  return `a directory of ${names.length} files is listed completely`;
}
