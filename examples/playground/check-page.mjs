// What the checks share: comparing, and a page that is watched.

import { deepEqual } from "node:assert/strict";

export function fail(message) {
  throw new Error(message);
}

export function expect(actual, expected, what) {
  try {
    deepEqual(actual, expected);
  } catch {
    const shown = (value) => JSON.stringify(value)?.slice(0, 2000);
    fail(`${what}\n  expected: ${shown(expected)}\n  actual:   ${shown(actual)}`);
  }
}

/** @param watch gets the requests that were made, and all that the browser complained of */
export async function openPage(browser, address, watch, options) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.on("console", (message) => watch.wrong.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => watch.wrong.push(`error: ${error.message}`));
  // A worker comes out of the page itself.
  context.on("request", (request) => request.url().startsWith("blob:") || watch.requests.add(request.url()));
  await page.exposeFunction("reportViolation", (text) => watch.wrong.push(`policy: ${text}`));
  await page.addInitScript(() => {
    addEventListener("securitypolicyviolation", (event) => window.reportViolation(`${event.violatedDirective} ${event.blockedURI}`));
  });
  await page.goto(address);
  await page.locator("#run:enabled").waitFor();
  return page;
}
