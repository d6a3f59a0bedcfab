// Ways out of the directory, and what a script may write.

import { execFileSync } from "node:child_process";
import { mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, expectRefusal, withDirectory } from "./expect.mjs";

export const TRY_EVERYTHING = `
  local answers = {}
  local function try(call, ...)
      local ok, message = pcall(call, ...)
      table.insert(answers, ok and "DONE" or message)
  end
  for _, mode in { "r", "w", "a", "r+", "w+", "a+" } do try(io.open, (...), mode) end
  try(os.remove, (...))
  try(io.list, (...))
  return answers
`;

export async function waysOut(box) {
  let attempts = 0;
  await withDirectory(async (folder, outside) => {
    await plant(folder, outside);
    const refuse = async (path, message, messageOfList = message) => {
      const { result } = await box.run({ script: TRY_EVERYTHING, arguments: [path], folder });
      expect(result, [...Array(7).fill(message), messageOfList], `a way out: ${path}`);
      attempts += result.length;
    };
    for (const name of ["link", "relative", "to-inside", "nowhere", "home", "home/secret"]) {
      await refuse(name, `${name}: symbolic links are not followed`);
    }
    await refuse("fifo", "fifo: not a regular file", "fifo: Not a directory");
    for (const path of ["..", "../secret", "a/../../secret", "inside/.."]) await refuse(path, "path cannot contain '..' traversal");
    for (const path of ["/", "/etc/passwd", join(outside, "secret")]) await refuse(path, "path must be relative");
    await refuse(".toolscript-tmp/x", "path cannot contain '.toolscript-tmp', a reserved name");
    const { result: listed } = await box.run({ script: "return io.list()", folder });
    expect(listed, ["fifo", "home", "inside", "link", "nowhere", "relative", "to-inside"], "links are listed by name");
    await expectUntouched(folder, outside);
    for (const link of ["home", "home/"]) {
      const run = () => box.run({ script: "return io.list()", folder: join(folder, link) });
      await expectRefusal(run, "is a link", "a directory that is a link was opened");
    }
    await expectRefusal(() => box.run({ script: "return 1", folder: join(folder, "inside") }), "EEXIST", "a directory that is a file");
    await expectRefusal(() => box.run({ script: "return 1", folder: "" }), "the folder has no name", "the working directory");
  });
  return `ways out that are refused: ${attempts} calls through links, FIFOs, '..' and absolute paths`;
}

/** What lies inside and outside, and every kind of way from the one to the other. */
export async function plant(folder, outside) {
  await mkdir(folder);
  await writeFile(join(outside, "secret"), "secret");
  await mkdir(join(outside, "home"));
  await writeFile(join(outside, "home/secret"), "secret");
  await writeFile(join(folder, "inside"), "inside");
  await symlink(join(outside, "secret"), join(folder, "link"));
  await symlink("../secret", join(folder, "relative"));
  await symlink("inside", join(folder, "to-inside"));
  await symlink("../made", join(folder, "nowhere"));
  await symlink("../home", join(folder, "home"));
  execFileSync("mkfifo", [join(folder, "fifo")]);
}

export async function expectUntouched(folder, outside) {
  const secrets = await Promise.all(["secret", "home/secret"].map((name) => readFile(join(outside, name), "utf8")));
  expect(secrets, ["secret", "secret"], "what lies outside");
  expect((await readdir(outside)).sort(), ["files", "home", "secret"], "what lies outside");
  expect(await readFile(join(folder, "inside"), "utf8"), "inside", "a file behind a link");
}

/** node:wasi tells the names of a folder in blocks, which end in the middle of one. */
export async function longLists(box) {
  const names = Array.from({ length: 2000 }, (_, number) => `${number}${"x".repeat(number % 97)}`).sort();
  await withDirectory(async (folder) => {
    await mkdir(folder);
    await Promise.all(names.map((name) => writeFile(join(folder, name), "")));
    expect((await box.run({ script: "return io.list()", folder })).result, names, "many names in a folder");
  });
  return `a folder of ${names.length} files is listed whole`;
}

export async function quotas(box) {
  await withDirectory(async (folder) => {
    const script = `
      local f = io.open("a", "w")
      f:write(("x"):rep(600)):flush()
      f:seek("set", 0)
      f:write(("y"):rep(400)):flush()
      return pcall(function() f:write("z"):flush() end)
    `;
    const { result } = await box.run({ script, folder, maxBytes: 1000 });
    expect(result, [false, "script:6: I/O write limit exceeded (1000 bytes)"], "bytes count when they are written again");
    expect((await stat(join(folder, "a"))).size, 600, "what the quota let through");
  });
  await withDirectory(async (folder) => {
    const script = `
      local all = {}
      for number = 1, 64 do all[number] = io.open("f" .. number, "w") end
      local ok, message = pcall(io.open, "one-more", "w")
      all[7]:close()
      return ok, message, (pcall(io.open, "one-more", "w"))
    `;
    const { result } = await box.run({ script, folder });
    expect(result, [false, "too many open files (max 64)", true], "handles");
    expect((await readdir(folder)).length, 65, "files that were made");
  });
  await withDirectory(async (folder) => {
    const { result } = await box.run({ script: "return pcall(io.open, 'a/b/c/d', 'w')", folder, maxFiles: 2 });
    expect(result, [false, "too many folders created (max 2)"], "folders");
    expect(await readdir(folder), [], "nothing is made where not all can be");
  });
  await withDirectory(async (folder) => {
    const script = `
      local deep = ("d/"):rep(63) .. "f"
      io.open(deep, "w"):write("deep"):close()
      return io.open(deep):read("*a"), (pcall(io.open, "d/" .. deep, "w"))
    `;
    expect((await box.run({ script, folder })).result, ["deep", false], "64 components, and no more");
  });
  return "quotas: bytes, folders, 64 handles, 64 components";
}
