// Opens the page in a browser and uses it: node check.mjs TESTS [SCREENSHOTS]
//
// TESTS is the folder `tests` of the repository. The browser is `chromium`, or what CHROMIUM names.

import { execFileSync } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { fixtures, hostileFixtures } from "./check-fixtures.mjs";
import { fail, expect, openPage } from "./check-page.mjs";

const PAGE = new URL("dist/index.html", import.meta.url).href;
// Nothing here takes long; whatever hangs is ended.
const MAX_SECONDS = 300;

const OPENING_LOG = "1. Mars\n2. Earth\n3. Venus\n";
const OPENING_RESULT = { moons: 3, first: "Mars,2", files: ["moons.csv"] };

/** Puts a script into the editor as a person would, by the keyboard. */
async function write(page, script) {
  await page.getByRole("textbox", { name: "Script" }).focus();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.insertText(script);
}

const isDone = (page) => page.locator(".status:not([data-state=busy])").waitFor();
const text = (page, selector) => page.locator(selector).textContent();
const outputOf = async (page) => ({
  status: await text(page, "#status"),
  log: await text(page, "#log"),
  kind: await text(page, "#error-kind"),
  message: await text(page, "#error-message"),
});

async function run(page, script, { seconds = 20 } = {}) {
  await write(page, script);
  await page.getByLabel("Seconds").fill(String(seconds));
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await isDone(page);
}

/** How the page itself ran while `work` did: how often it came to its timer, and the longest time in which it did not, in milliseconds. */
async function watch(page, work) {
  await page.evaluate(() => {
    window.beats = { count: 0, longest: 0, last: performance.now() };
    window.beats.timer = setInterval(() => {
      const now = performance.now();
      window.beats.count += 1;
      window.beats.longest = Math.max(window.beats.longest, now - window.beats.last);
      window.beats.last = now;
    }, 10);
  });
  await work();
  return page.evaluate(() => {
    clearInterval(window.beats.timer);
    return { count: window.beats.count, longest: Math.max(window.beats.longest, performance.now() - window.beats.last) };
  });
}

async function expectDownload(page, button, size) {
  const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
  let received = 0;
  for await (const block of await download.createReadStream()) received += block.length;
  expect(received, size, `the size of ${download.suggestedFilename()}`);
}

async function opening(page) {
  expect(await text(page, "#status"), "Ready", "the status at first");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await isDone(page);
  expect(await text(page, "#log"), OPENING_LOG, "the log of the opening script");
  expect(sorted(JSON.parse(await text(page, "#result"))), sorted(OPENING_RESULT), "the result of the opening script");
  expect(await text(page, "#touched"), "write planets/moons.csv (23 bytes)", "the files that the opening script touched");
  expect(await page.locator("#files .name").allTextContents(), ["planets/", "moons.csv"], "the list of files");
  expect(await page.locator("#error-part").isVisible(), false, "an error");

  // Each example as the select has it; with arguments, by the keyboard.
  const names = await page.getByLabel("Example").locator("option").allTextContents();
  expect(names.includes("Hello"), true, `the examples: ${names}`);
  for (const name of names) {
    await page.getByLabel("Example").selectOption(name);
    await page.getByRole("textbox", { name: "Script" }).press("ControlOrMeta+Enter");
    await isDone(page);
    expect((await text(page, "#status")).startsWith("Done in"), true, `${name}: ${JSON.stringify(await outputOf(page))}`);
  }
  await page.getByLabel("Example").selectOption("Hello");
  await page.getByLabel("Arguments").fill(`"Ada Lovelace" second`);
  await page.getByLabel("Arguments").press("Enter");
  await isDone(page);
  expect(await text(page, "#log"), "hello, Ada Lovelace\n", "an argument");
  await page.getByLabel("Arguments").fill("");
  return `the opening script and ${names.length - 1} examples, by button, Enter and Ctrl+Enter`;
}

const sorted = (object) => Object.fromEntries(Object.entries(object).sort());

async function errors(page) {
  await run(page, `print("so far")\nlocal all = {}\nfunction all.inner(t)\n    return t.x\nend\nfunction all.outer()\n    all.inner(nil)\nend\nall.outer()`);
  const expected = { status: "Failed: runtime", log: "so far\n", kind: "runtime", message: "script:4: attempt to index nil with 'x'" };
  expect(await outputOf(page), expected, "an error");
  expect(await text(page, "#error-traceback"), "script:4 function inner\nscript:7 function outer\nscript:9", "its traceback");
  expect(await page.locator("#result-part").isVisible(), false, "a result beside an error");
  await run(page, "return +");
  expect((await outputOf(page)).kind, "syntax", "a script that is none");
  return "errors with kind, message and traceback";
}

async function stops(page) {
  const script = `io.open("kept.txt", "w"):write("kept"):close() print("before") while true do end`;
  const loop = await watch(page, () => run(page, script, { seconds: 2 }));
  const expected = { status: "Stopped after 2 seconds", log: "before\n", kind: "timeout", message: "the script ran longer than 2 s" };
  expect(await outputOf(page), expected, "a script that loops");
  expect(await text(page, "#touched"), "write kept.txt (4 bytes)", "the files of a script that loops");
  // Of two hundred, on a machine that may be busy.
  expect(loop.count >= 10, true, `the page came to its timer ${loop.count} times while a script looped`);

  await write(page, script.replace("kept", "also").replace("before", "begun"));
  await page.getByLabel("Seconds").fill("60");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.locator("#log", { hasText: "begun" }).waitFor();
  expect(await page.getByRole("button", { name: "New" }).isDisabled(), true, "files can be changed while a script runs");
  await page.getByRole("button", { name: "Stop" }).click();
  await isDone(page);
  const cancelled = { status: "Stopped", log: "begun\n", kind: "cancelled", message: "the run was cancelled" };
  expect(await outputOf(page), cancelled, "a script that was stopped");
  expect(await text(page, "#touched"), "write also.txt (4 bytes)", "the files of a script that was stopped");

  // What is on its way while the page is busy and then stops the script.
  const late = await page.evaluate(async () => {
    const { run, FileStore } = window.toolscript;
    const files = new FileStore();
    const stopper = new AbortController();
    const onLog = (line) => {
      if (line !== "begun") return;
      for (const until = performance.now() + 500; performance.now() < until; );
      stopper.abort();
    };
    const script = `print("begun") local f = io.open("f", "w") for n = 1, 50 do print(n) f:write(n, " "):flush() end while true do end`;
    const { outcome } = await run({ script, files, onLog, signal: stopper.signal, seconds: 60 });
    return [outcome.error.kind, outcome.logs.join(" "), new TextDecoder().decode(files.get("f"))];
  });
  const numbers = Array.from({ length: 50 }, (_, index) => index + 1).join(" ");
  expect(late, ["cancelled", `begun ${numbers}`, `${numbers} `], "what was on its way when a script was stopped");

  // A script that never stops to write: nothing of what was told before the stop is lost, and what there is has no gaps.
  const flood = `local f = io.open("flood.txt", "w") local n = 0 while true do n += 1 f:write(n, "\\n"):flush() if n % 100 == 0 then print(n) end end`;
  const flooded = await watch(page, () => run(page, flood, { seconds: 3 }));
  // Without a pace it would stand still for more than the whole of the three seconds.
  expect(flooded.count >= 10, true, `the page came to its timer ${flooded.count} times while a script wrote`);
  const lines = (await text(page, "#log")).trimEnd().split("\n").map(Number);
  expect(lines.length > 10, true, `only ${lines.length} lines of a script that does nothing but write`);
  expect(lines, lines.map((_, index) => (index + 1) * 100), "the lines of a script that does nothing but write");
  await run(page, `local n = 0 for line in io.lines("flood.txt") do n += 1 assert(line == tostring(n)) end os.remove("flood.txt") return n`);
  const count = Number(await text(page, "#result"));
  expect(count >= lines.at(-1) && count <= lines.at(-1) + 100, true, `${count} lines in the file, ${lines.at(-1)} in the log`);
  return `time and Stop end a loop, its lines and files are kept; the page ran meanwhile (longest pause ${Math.round(Math.max(loop.longest, flooded.longest))} ms)`;
}

async function files(page) {
  await run(page, `return { (io.open("kept.txt"):read("*a")), io.list() }`);
  expect(JSON.parse(await text(page, "#result")), ["kept", ["also.txt", "kept.txt", "planets", "summary.json", "transactions"]], "files of runs before");

  await page.getByRole("button", { name: "New" }).click();
  await page.getByLabel("Path").fill("../x");
  await page.getByRole("button", { name: "Add" }).click();
  expect(await text(page, "#new-problem"), "../x: the path has an empty name, '.' or '..' in it", "a bad path");
  await page.getByLabel("Path").fill("made/by hand.txt");
  await page.getByLabel("Contents").fill("one\ntwo");
  await page.getByRole("button", { name: "Add" }).click();
  const bytes = Buffer.from([0, 255, 1, 2]);
  await page.locator("#upload-input").setInputFiles({ name: "bytes.bin", mimeType: "application/octet-stream", buffer: bytes });
  await page.getByRole("button", { name: "View bytes.bin" }).click();
  expect(await text(page, "#view"), "00000000  00 ff 01 02", "bytes as they are shown");
  await expectDownload(page, page.locator("#view-download"), 4);
  await page.getByRole("button", { name: "Close" }).click();
  await run(page, `return { (io.open("made/by hand.txt"):read("*a")), (io.open("bytes.bin"):read("*a"):byte(1, -1)) }`);
  expect(JSON.parse(await text(page, "#result")), ["one\ntwo", 0], "files that were added");
  await page.getByRole("button", { name: "View made/by hand.txt" }).click();
  expect(await text(page, "#view"), "one\ntwo", "a text as it is shown");
  await page.keyboard.press("Escape");

  page.once("dialog", (dialog) => dialog.accept());
  await page.getByRole("button", { name: "Delete made", exact: true }).click();
  await page.getByRole("button", { name: "Delete bytes.bin" }).click();
  await run(page, "return io.list()");
  expect(JSON.parse(await text(page, "#result")), ["also.txt", "kept.txt", "planets", "summary.json", "transactions"], "files that were deleted");
  return "files stay from run to run; new, uploaded, viewed, downloaded and deleted ones";
}

async function hostileTexts(page) {
  const html = `<img src=x onerror="document.title='broken'"><script>document.title='broken'</script>`;
  const name = "<b>bold</b>.txt";
  await run(page, `io.open("${name.replace("/", "")}", "w"):close() print([[${html}]]) error([[${html}]], 0)`);
  expect(await text(page, "#log"), `${html}\n`, "HTML in a log");
  expect(await text(page, "#error-message"), html, "HTML in an error");
  expect(await page.locator("#files .name", { hasText: "<b>bold<b>.txt" }).count(), 1, "HTML in the name of a file");
  await run(page, `return { [ [[${html}]] ] = [[${html}]] }`);
  expect(JSON.parse(await text(page, "#result")), { [html]: html }, "HTML in a result");
  expect(await page.locator("main :is(img, b, script)").count(), 0, "elements that a script made");
  expect(await page.title(), "toolscript playground", "the title of the page");
  return "HTML in logs, errors, results and names is shown as text";
}

async function largeOutputs(page) {
  const limit = 1024 * 1024;
  let longest = 0;
  const measured = async (script) => {
    longest = Math.max(longest, (await watch(page, () => run(page, script))).longest);
  };
  await measured(`for n = 1, 1e5 do print(n) end return true`);
  const [, count] = /^([\d,]+) lines, cut: more than 1 MiB was printed$/.exec(await text(page, "#log-note")) ?? fail(await text(page, "#log-note"));
  const lines = (await text(page, "#log")).trimEnd().split("\n");
  expect([lines.length, lines.at(-1)], [Number(count.replace(",", "")), String(lines.length)], "a log that is cut");
  await measured(`print(("x"):rep(1e6)) return true`);
  const note = " … (995904 more characters, in the saved log)\n";
  expect(await text(page, "#log"), "x".repeat(4096) + note, "a long line");
  await expectDownload(page, page.locator("#save-log"), 1e6 + 1);

  await measured(`return ("x"):rep(${limit - 2})`);
  expect((await text(page, "#result")).length, 65536 + 2, "a large result");
  expect(await text(page, "#result-note"), "cut in this view: 1 MiB in all", "a large result");
  await expectDownload(page, page.locator("#save-result"), limit + 1);
  await measured(`local t = {} for n = 1, 1e5 do t[n] = n end return t`);
  expect((await text(page, "#result")).startsWith("[\n  1,\n  2,\n"), true, "a long array");
  await measured(`local t = {} for n = 1, 2000 do io.open("many/" .. n, "w"):close() end return #io.list("many")`);
  expect(await text(page, "#result"), "2000", "many files");
  expect(await page.locator("#files li").count(), 501, "rows for many files");
  await page.evaluate(() => (window.confirm = () => true));
  await page.getByRole("button", { name: "Delete many", exact: true }).click();
  // A page that is frozen. A browser that draws by the processor alone, on a machine with other work, is slow.
  expect(longest < 10_000, true, `the page stood still for ${longest} ms`);
  return `${count} lines, lines and results of 1 MiB and 2,000 files, shown (longest pause ${Math.round(longest)} ms) and saved whole`;
}

/** The limit on all files, which no run may pass, nor two that follow each other. */
async function space(page) {
  const outcomes = await page.evaluate(async () => {
    const { run, FileStore } = window.toolscript;
    const files = new FileStore();
    const script = `local name = ... local f = io.open(name, "w") for n = 1, 40 do f:write(("x"):rep(2^20)) end f:close() return true`;
    const first = await run({ script, files, arguments: ["a"], seconds: 20 });
    const second = await run({ script, files, arguments: ["b"], seconds: 20 });
    const third = await run({ script: `os.remove("a") ${script}`, files, arguments: ["b"], seconds: 20 });
    return { outcomes: [first, second, third].map(({ outcome }) => outcome.result ?? outcome.error.message), total: files.total };
  });
  const expected = { outcomes: [true, "script:1: b: No space left on device", true], total: 40 * 1024 * 1024 + 1024 };
  expect(outcomes, expected, "files of more than 64 MiB");
  return "64 MiB are all that files may have together";
}

/** The module behind the page, as another page would use it. */
async function seam(page) {
  const answers = await page.evaluate(async () => {
    const { run, FileStore } = window.toolscript;
    const stores = [1, 2, 3, 4].map((number) => new FileStore({ "in.txt": `${number}` }));
    const script = `local n = io.open("in.txt"):read("*n") io.open("out.txt", "a"):write(n * n) return n, ...`;
    const many = await Promise.all(stores.map((files, index) => run({ script, files, arguments: ["é", `${index}`] })));
    const none = await run({ script: "return io == nil and os.remove == nil", files: null });
    const aborted = await run({ script: "return 1", signal: AbortSignal.abort() });
    // Two bytes a character: a buffer for one of each would be far too small.
    const foreign = await run({ script: `return (...) == ("é"):rep(40000)`, arguments: ["é".repeat(40_000)] });
    const large = await run({ script: " ".repeat(2 ** 20 + 1) });
    return {
      many: many.map(({ text }) => text),
      files: stores.map((files) => new TextDecoder().decode(files.get("out.txt"))),
      others: [none, foreign, aborted, large].map(({ outcome }) => outcome.result ?? outcome.error),
    };
  });
  const expected = {
    many: [1, 2, 3, 4].map(
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
  expect(answers, expected, "runs without the page's controls");
  return "four runs at once keep apart; no io without files; what is refused";
}

async function keyboard(page) {
  await write(page, "x");
  await page.keyboard.press("Tab");
  expect(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), "Script", "where Tab in the editor leads");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Tab");
  expect(await page.evaluate(() => document.activeElement.id), "arguments", "where Escape and Tab lead");
  return "the editor can be left by the keyboard";
}

/** That nothing was asked for does not show that nothing could be: here the page and a worker try. */
async function policy(browser) {
  const watch = { requests: new Set(), wrong: [] };
  const page = await openPage(browser, PAGE, watch, {});
  const answers = await page.evaluate(async () => {
    const address = "https://example.com/";
    const tell = (promise) => promise.then(() => "fetched", (error) => error.name);
    const source = `(${tell})(fetch("${address}")).then(postMessage)`;
    const worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
    const image = new Image();
    return Promise.all([
      tell(fetch(address)),
      new Promise((resolve) => (worker.onmessage = ({ data }) => resolve(data))),
      new Promise((resolve) => ((image.onload = () => resolve("loaded")), (image.onerror = () => resolve("refused")), (image.src = address))),
    ]);
  });
  expect(answers, ["TypeError", "TypeError", "refused"], "what the page could fetch");
  const breaches = watch.wrong.filter((text) => text.startsWith("policy:")).sort();
  expect(breaches, ["policy: connect-src https://example.com/", "policy: img-src https://example.com/"], "what the policy refused");
  // The browser tells of those too that it then refuses, so the other checks would have noticed.
  expect([...watch.requests], [PAGE, "https://example.com/"], "requests of a page that tries to make some");
  await page.context().close();
  return "the policy refuses what the page, a worker or an image asks the network for";
}

async function layout(browser, watch, screenshots) {
  let count = 0;
  for (const [name, width, height] of [["wide", 1280, 800], ["narrow", 390, 844]]) {
    for (const colorScheme of ["light", "dark"]) {
      const page = await openPage(browser, PAGE, watch, { viewport: { width, height }, colorScheme, deviceScaleFactor: 1 });
      const check = async (when) => {
        const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        expect(over, 0, `pixels that the page is too wide: ${when}, ${width} px, ${colorScheme}`);
        const small = await page.evaluate(() =>
          [...document.querySelectorAll("button, input, select")]
            .filter((element) => element.checkVisibility() && element.getBoundingClientRect().height < 40)
            .map((element) => element.id || element.className),
        );
        expect(small, [], `controls of less than 40 px: ${when}, ${width} px`);
        count += 1;
      };
      await check("at first");
      await page.getByRole("button", { name: "Run", exact: true }).click();
      await isDone(page);
      await check("after a run");
      if (screenshots !== undefined) {
        await page.screenshot({ path: `${screenshots}/${name}${colorScheme === "dark" ? "-dark" : ""}.png`, fullPage: name === "narrow" });
      }
      const wide = `("wide"):rep(100)`;
      await run(page, `io.open(("w"):rep(200), "w"):close() print(${wide}, "a b " .. ${wide}) error(${wide})`);
      await check("with long words");
      await page.getByRole("button", { name: /^View w+$/ }).click();
      await check("with a dialog");
      await page.context().close();
    }
  }
  return `no sideways scrolling and no control below 40 px: ${count} views at 1280 and 390 px, light and dark`;
}

function browserPath() {
  return process.env.CHROMIUM ?? execFileSync("which", ["chromium"], { encoding: "utf8" }).trim();
}

async function main([tests, screenshots]) {
  if (tests === undefined) fail("usage: node check.mjs TESTS [SCREENSHOTS]");
  if (screenshots !== undefined) await mkdir(screenshots, { recursive: true });
  // The browser's own sandbox can't be had by root, as in many a container.
  const browser = await chromium.launch({ executablePath: browserPath(), chromiumSandbox: process.getuid() !== 0 });
  try {
    const watch = { requests: new Set(), wrong: [] };
    const page = await openPage(browser, PAGE, watch, { viewport: { width: 1280, height: 800 } });
    for (const part of [opening, errors, stops, files, hostileTexts, largeOutputs, space, seam, keyboard]) console.log(await part(page));
    console.log(await layout(browser, watch, screenshots));
    console.log(await fixtures(page, tests));
    console.log(await hostileFixtures(page, tests));
    expect(watch.wrong, [], "what the browser complained of");
    expect([...watch.requests], [PAGE], "requests");
    console.log(await policy(browser));
    console.log("no request but for the page, no complaint in the console, no breach of the policy");
  } finally {
    await browser.close();
  }
}

const watchdog = setTimeout(() => {
  console.error(`WRONG: not done after ${MAX_SECONDS} s`);
  process.exit(1);
}, MAX_SECONDS * 1000);
try {
  await main(process.argv.slice(2).map((path) => fileURLToPath(new URL(path, `file://${process.cwd()}/`))));
  console.log(`all is well, after ${Math.round(process.uptime())} s`);
} catch (error) {
  console.error(`WRONG: ${error.stack}`);
  process.exitCode = 1;
} finally {
  clearTimeout(watchdog);
}
