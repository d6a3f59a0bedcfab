// Runs the module with node:wasi alone, as another host might. The module itself must not follow symlinks.

import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { WASI } from "node:wasi";

import { createEscapes, expectUnchanged, TRY_EVERY_OPERATION } from "./check-confinement.mjs";
import { expect, withIoDir } from "./expect.mjs";

const IO_DIRECTORY = 3;

export async function checkUnguardedWasi(module) {
  let attempts = 0;
  await withIoDir((ioDir, outside) =>
    withIoDir(async (_, streams) => {
      await createEscapes(ioDir, outside);
      for (const name of ["link", "relative", "to-inside", "nowhere", "home", "home/secret", "home/new"]) {
        const { result } = runUnguarded(module, TRY_EVERY_OPERATION, name, ioDir, streams);
        expect(result, Array(10).fill(`${name}: symbolic links are not followed`), `operations on ${name} with node:wasi alone`);
        attempts += result.length;
      }
      await expectUnchanged(ioDir, outside);
    }),
  );
  return `unguarded node:wasi: the module rejected ${attempts} calls through symlinks`;
}

function runUnguarded(module, script, argument, ioDir, streams) {
  writeFileSync(join(streams, "in"), script);
  const [stdin, stdout, stderr] = [["in", "r"], ["out", "w"], ["err", "w"]].map(([name, mode]) => openSync(join(streams, name), mode));
  const args = ["toolscript", "-", "--", argument];
  const wasi = new WASI({ version: "preview1", args, env: {}, preopens: { "/": ioDir }, stdin, stdout, stderr });
  try {
    wasi.start(new WebAssembly.Instance(module, wasi.getImportObject()));
  } finally {
    wasi.wasiImport.fd_close(IO_DIRECTORY);
    for (const descriptor of [stdin, stdout, stderr]) closeSync(descriptor);
  }
  return JSON.parse(readFileSync(join(streams, "out")));
}
