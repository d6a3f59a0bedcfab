// Opens the page and operates it as a user would.

import { expect, PAGE_URL } from "./expect.mjs";

/** Returns a record of network requests and browser errors, for `openPage`. */
export const createRecord = () => ({ requests: new Set(), errors: [] });

/** Opens the page and waits until it is ready. */
export async function openPage(browser, record, options) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.on("console", (message) => record.errors.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => record.errors.push(`error: ${error.message}`));
  // Workers have blob URLs, which are no network requests.
  context.on("request", (request) => request.url().startsWith("blob:") || record.requests.add(request.url()));
  await page.exposeFunction("reportViolation", (text) => record.errors.push(`policy: ${text}`));
  await page.addInitScript(() => {
    addEventListener("securitypolicyviolation", (event) => window.reportViolation(`${event.violatedDirective} ${event.blockedURI}`));
  });
  await page.goto(PAGE_URL);
  await page.locator("#run:enabled").waitFor();
  return page;
}

/** Replaces the script in the editor by keyboard. */
export async function writeScript(page, script) {
  await page.getByRole("textbox", { name: "Script" }).focus();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.insertText(script);
}

export const clickRun = (page) => page.getByRole("button", { name: "Run", exact: true }).click();
export const waitUntilDone = (page) => page.locator(".status:not([data-state=busy])").waitFor();
export const textOf = (page, selector) => page.locator(selector).textContent();

export async function runScript(page, script, { timeout = 20 } = {}) {
  await writeScript(page, script);
  await page.getByLabel("Timeout").fill(String(timeout));
  await clickRun(page);
  await waitUntilDone(page);
}

export const outputOf = async (page) => ({
  status: await textOf(page, "#status"),
  log: await textOf(page, "#log"),
  kind: await textOf(page, "#error-kind"),
  message: await textOf(page, "#error-message"),
});

/** Measures the event loop of the page during `work`: the number of timer ticks, and the longest gap between two in milliseconds. */
export async function measureTicks(page, work) {
  await page.evaluate(() => {
    window.ticks = { count: 0, longest: 0, last: performance.now() };
    window.ticks.timer = setInterval(() => {
      const now = performance.now();
      window.ticks.count += 1;
      window.ticks.longest = Math.max(window.ticks.longest, now - window.ticks.last);
      window.ticks.last = now;
    }, 10);
  });
  await work();
  return page.evaluate(() => {
    clearInterval(window.ticks.timer);
    return { count: window.ticks.count, longest: Math.max(window.ticks.longest, performance.now() - window.ticks.last) };
  });
}

/** Clicks a button that saves a file, and checks the size of the file. */
export async function expectDownload(page, button, size) {
  const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
  let received = 0;
  for await (const block of await download.createReadStream()) received += block.length;
  expect(received, size, `size of ${download.suggestedFilename()}`);
}
