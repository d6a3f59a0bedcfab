// Uses the runner without the controls of the page, as another page would.

import { expect } from "./expect.mjs";

export async function checkRunner(page) {
  const actual = await page.evaluate(async () => {
    const { run, FileStore } = window.toolscript;
    const stores = [1, 2, 3, 4].map((number) => new FileStore({ "in.txt": `${number}` }));
    const script = `local n = io.open("in.txt"):read("*n") io.open("out.txt", "a"):write(n * n) return n, ...`;
    const concurrent = await Promise.all(stores.map((files, index) => run({ script, files, arguments: ["é", `${index}`] })));
    const withoutFiles = await run({ script: "return io == nil and os.remove == nil", files: null });
    const aborted = await run({ script: "return 1", signal: AbortSignal.abort() });
    // Two bytes per character: the shim alone would allocate a buffer that is too small.
    const nonAscii = await run({ script: `return (...) == ("é"):rep(40000)`, arguments: ["é".repeat(40_000)] });
    const large = await run({ script: " ".repeat(2 ** 20 + 1) });
    return {
      concurrent: concurrent.map(({ text }) => text),
      files: stores.map((files) => new TextDecoder().decode(files.get("out.txt"))),
      others: [withoutFiles, nonAscii, aborted, large].map(({ outcome }) => outcome.result ?? outcome.error),
    };
  });
  const expected = {
    concurrent: [1, 2, 3, 4].map(
      (n) => `{"result":[${n},"é","${n - 1}"],"logs":[],"files_touched":[{"name":"out.txt","op":"append","bytes":${n < 4 ? 1 : 2}}]}`,
    ),
    files: ["1", "4", "9", "16"],
    others: [
      true,
      true,
      { kind: "cancelled", message: "the run was cancelled" },
      { kind: "internal", message: "the script is 1048577 bytes; at most 1048576 are allowed" },
    ],
  };
  expect(actual, expected, "outcomes of the runner");
  return "four concurrent runs are isolated; no io without files; invalid options are rejected";
}
