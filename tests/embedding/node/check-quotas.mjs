// Checks the quotas on bytes, files, handles and path components.

import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

import { expect, withIoDir } from "./expect.mjs";

export async function checkQuotas(sandbox) {
  await withIoDir(async (ioDir) => {
    const script = `
      local f = io.open("a", "w")
      f:write(("x"):rep(600)):flush()
      f:seek("set", 0)
      f:write(("y"):rep(400)):flush()
      return pcall(function() f:write("z"):flush() end)
    `;
    const { result } = await sandbox.run({ script, ioDir, maxBytes: 1000 });
    expect(result, [false, "script:6: I/O write limit exceeded (1000 bytes)"], "overwritten bytes count again");
    expect((await stat(join(ioDir, "a"))).size, 600, "size of the file at the limit");
  });
  await withIoDir(async (ioDir) => {
    const script = `
      local all = {}
      for number = 1, 64 do all[number] = io.open("f" .. number, "w") end
      local ok, message = pcall(io.open, "one-more", "w")
      all[7]:close()
      return ok, message, (pcall(io.open, "one-more", "w"))
    `;
    const { result } = await sandbox.run({ script, ioDir });
    expect(result, [false, "too many open files (max 64)", true], "open handles");
    expect((await readdir(ioDir)).length, 65, "number of created files");
  });
  await withIoDir(async (ioDir) => {
    const { result } = await sandbox.run({ script: "return pcall(io.open, 'a/b/c/d', 'w')", ioDir, maxFiles: 2 });
    expect(result, [false, "too many folders created (max 2)"], "created directories");
    expect(await readdir(ioDir), [], "no directory is created if the quota does not cover all of them");
  });
  await withIoDir(async (ioDir) => {
    const script = `
      local deep = ("d/"):rep(63) .. "f"
      io.open(deep, "w"):write("deep"):close()
      return io.open(deep):read("*a"), (pcall(io.open, "d/" .. deep, "w"))
    `;
    expect((await sandbox.run({ script, ioDir })).result, ["deep", false], "limit of 64 path components");
  });
  return "quotas: bytes, directories, 64 handles, 64 path components";
}
