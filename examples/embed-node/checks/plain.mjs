// The module with node:wasi alone, as another host may run it: here it is the module itself that does not follow links.

import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { WASI } from "node:wasi";

import { expect, withDirectory } from "./expect.mjs";
import { expectUntouched, plant, TRY_EVERYTHING } from "./files.mjs";

const DIRECTORY = 3;

export async function plain(module) {
  let attempts = 0;
  await withDirectory((folder, outside) =>
    withDirectory(async (_, streams) => {
      await plant(folder, outside);
      for (const name of ["link", "relative", "to-inside", "nowhere", "home", "home/secret", "home/new"]) {
        const { result } = runPlainly(module, TRY_EVERYTHING, name, folder, streams);
        expect(result, Array(8).fill(`${name}: symbolic links are not followed`), `a way out of node:wasi: ${name}`);
        attempts += result.length;
      }
      await expectUntouched(folder, outside);
    }),
  );
  return `the module without the wall: ${attempts} calls through links that it refuses by itself`;
}

function runPlainly(module, script, argument, folder, streams) {
  writeFileSync(join(streams, "in"), script);
  const [stdin, stdout, stderr] = [["in", "r"], ["out", "w"], ["err", "w"]].map(([name, mode]) => openSync(join(streams, name), mode));
  const args = ["toolscript", "-", "--", argument];
  const wasi = new WASI({ version: "preview1", args, env: {}, preopens: { "/": folder }, stdin, stdout, stderr });
  try {
    wasi.start(new WebAssembly.Instance(module, wasi.getImportObject()));
  } finally {
    wasi.wasiImport.fd_close(DIRECTORY);
    for (const descriptor of [stdin, stdout, stderr]) closeSync(descriptor);
  }
  return JSON.parse(readFileSync(join(streams, "out")));
}
