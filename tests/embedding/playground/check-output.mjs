// Checks how errors, untrusted texts and large outputs are shown.

import { expect, fail } from "./expect.mjs";
import { expectDownload, measureTicks, outputOf, runScript, textOf } from "./page-driver.mjs";

export async function checkErrors(page) {
  await runScript(page, `print("so far")\nlocal all = {}\nfunction all.inner(t)\n    return t.x\nend\nfunction all.outer()\n    all.inner(nil)\nend\nall.outer()`);
  const expected = { status: "Failed: runtime", log: "so far\n", kind: "runtime", message: "script:4: attempt to index nil with 'x' (local 't')" };
  expect(await outputOf(page), expected, "runtime error");
  expect(await textOf(page, "#error-traceback"), "script:4 function inner\nscript:7 function outer\nscript:9", "traceback");
  expect(await page.locator("#result-section").isVisible(), false, "visibility of the result");
  await runScript(page, "return +");
  expect((await outputOf(page)).kind, "syntax", "kind of a syntax error");
  return "errors with kind, message and traceback";
}

export async function checkUntrustedTexts(page) {
  const html = `<img src=x onerror="document.title='broken'"><script>document.title='broken'</script>`;
  const name = "<b>bold</b>.txt";
  await runScript(page, `io.open("${name.replace("/", "")}", "w"):close() print([[${html}]]) error([[${html}]], 0)`);
  expect(await textOf(page, "#log"), `${html}\n`, "HTML in a log");
  expect(await textOf(page, "#error-message"), html, "HTML in an error");
  expect(await page.locator("#files .name", { hasText: "<b>bold<b>.txt" }).count(), 1, "HTML in a file name");
  await runScript(page, `return { [ [[${html}]] ] = [[${html}]] }`);
  expect(JSON.parse(await textOf(page, "#result")), { [html]: html }, "HTML in a result");
  expect(await page.locator("main :is(img, b, script)").count(), 0, "number of elements that a script created");
  expect(await page.title(), "toolscript playground", "title of the page");
  return "HTML in logs, errors, results and names is shown as text";
}

export async function checkLargeOutputs(page) {
  const limit = 1024 * 1024;
  let longest = 0;
  const runMeasured = async (script) => {
    longest = Math.max(longest, (await measureTicks(page, () => runScript(page, script))).longest);
  };
  await runMeasured(`for n = 1, 1e5 do print(n) end return true`);
  const note = await textOf(page, "#log-note");
  const [, count] = /^([\d,]+) lines, truncated: more than 1 MiB was printed$/.exec(note) ?? fail(`note of a truncated log: ${note}`);
  const lines = (await textOf(page, "#log")).trimEnd().split("\n");
  expect([lines.length, lines.at(-1)], [Number(count.replace(",", "")), String(lines.length)], "truncated log");
  await runMeasured(`print(("x"):rep(1e6)) return true`);
  const rest = " … (995904 more characters in the saved log)\n";
  expect(await textOf(page, "#log"), "x".repeat(4096) + rest, "long line");
  await expectDownload(page, page.locator("#save-log"), 1e6 + 1);

  await runMeasured(`return ("x"):rep(${limit - 2})`);
  expect((await textOf(page, "#result")).length, 65536 + 2, "length of a large result");
  expect(await textOf(page, "#result-note"), "truncated in this view: 1 MiB in total", "note of a large result");
  await expectDownload(page, page.locator("#save-result"), limit + 1);
  await runMeasured(`local t = {} for n = 1, 1e5 do t[n] = n end return t`);
  expect((await textOf(page, "#result")).startsWith("[\n  1,\n  2,\n"), true, "long array");
  await runMeasured(`local t = {} for n = 1, 2000 do io.open("many/" .. n, "w"):close() end return #io.list("many")`);
  expect(await textOf(page, "#result"), "2000", "number of files");
  expect(await page.locator("#files li").count(), 501, "rows for many files");
  await page.evaluate(() => (window.confirm = () => true));
  await page.getByRole("button", { name: "Delete many", exact: true }).click();
  // The limit is generous, because a browser without a GPU on a busy machine is slow. A frozen page would exceed it.
  expect(longest < 10_000, true, `the page was blocked for ${longest} ms`);
  return `${count} lines, lines and results of 1 MiB and 2,000 files are shown (longest pause ${Math.round(longest)} ms) and saved completely`;
}
