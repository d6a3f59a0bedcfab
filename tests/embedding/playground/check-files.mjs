// Checks the list of files and the storage quota.

import { expect } from "./expect.mjs";
import { expectDownload, runScript, textOf } from "./page-driver.mjs";

// Created by the previous checks.
const EXISTING_NAMES = ["also.txt", "kept.txt", "planets", "summary.json", "transactions"];

export async function checkFiles(page) {
  await runScript(page, `return { (io.open("kept.txt"):read("*a")), io.list() }`);
  expect(JSON.parse(await textOf(page, "#result")), ["kept", EXISTING_NAMES], "files of previous runs");

  await page.getByRole("button", { name: "New" }).click();
  await page.getByLabel("Path").fill("../x");
  await page.getByRole("button", { name: "Add" }).click();
  expect(await textOf(page, "#new-problem"), "../x: the path cannot contain an empty name, '.' or '..'", "invalid path");
  await page.getByLabel("Path").fill("made/by hand.txt");
  await page.getByLabel("Contents").fill("one\ntwo");
  await page.getByRole("button", { name: "Add" }).click();
  const bytes = Buffer.from([0, 255, 1, 2]);
  await page.locator("#upload-input").setInputFiles({ name: "bytes.bin", mimeType: "application/octet-stream", buffer: bytes });
  await page.getByRole("button", { name: "View bytes.bin" }).click();
  expect(await textOf(page, "#view"), "00000000  00 ff 01 02", "view of a binary file");
  await expectDownload(page, page.locator("#view-save"), 4);
  await page.getByRole("button", { name: "Close" }).click();
  await runScript(page, `return { (io.open("made/by hand.txt"):read("*a")), (io.open("bytes.bin"):read("*a"):byte(1, -1)) }`);
  expect(JSON.parse(await textOf(page, "#result")), ["one\ntwo", 0], "added files");
  await page.getByRole("button", { name: "View made/by hand.txt" }).click();
  expect(await textOf(page, "#view"), "one\ntwo", "view of a text file");
  await page.keyboard.press("Escape");

  page.once("dialog", (dialog) => dialog.accept());
  await page.getByRole("button", { name: "Delete made", exact: true }).click();
  await page.getByRole("button", { name: "Delete bytes.bin" }).click();
  await runScript(page, "return io.list()");
  expect(JSON.parse(await textOf(page, "#result")), EXISTING_NAMES, "names after files were deleted");
  return "files are kept between runs; files can be added, uploaded, viewed, saved and deleted";
}

/** The limit on all files applies within a run and across runs. */
export async function checkStorageQuota(page) {
  const actual = await page.evaluate(async () => {
    const { run, FileStore } = window.toolscript;
    const files = new FileStore();
    const script = `local name = ... local f = io.open(name, "w") for n = 1, 40 do f:write(("x"):rep(2^20)) end f:close() return true`;
    const first = await run({ script, files, arguments: ["a"], timeout: 20 });
    const second = await run({ script, files, arguments: ["b"], timeout: 20 });
    const third = await run({ script: `os.remove("a") ${script}`, files, arguments: ["b"], timeout: 20 });
    return { outcomes: [first, second, third].map(({ outcome }) => outcome.result ?? outcome.error.message), total: files.total };
  });
  const expected = { outcomes: [true, "script:1: b: No space left on device", true], total: 40 * 1024 * 1024 + 1024 };
  expect(actual, expected, "files of more than 64 MiB");
  return "all files together are limited to 64 MiB";
}
