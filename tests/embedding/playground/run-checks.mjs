// Runs all checks of examples/playground in a browser. Use the script `run`, which builds the page and installs what the checks need.
//
//     node run-checks.mjs [SCREENSHOTS]
//
// The browser is `chromium`, or the program that CHROMIUM names.

import { execFileSync } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { chromium } from "playwright-core";
import { checkExamples } from "./check-examples.mjs";
import { checkFiles, checkStorageQuota } from "./check-files.mjs";
import { checkOutcomes, checkStopped } from "./check-fixtures.mjs";
import { checkKeyboard, checkLayout } from "./check-layout.mjs";
import { checkNetworkPolicy } from "./check-network-policy.mjs";
import { checkErrors, checkLargeOutputs, checkUntrustedTexts } from "./check-output.mjs";
import { checkRunner } from "./check-runner.mjs";
import { checkStopping } from "./check-stopping.mjs";
import { expect, PAGE_URL } from "./expect.mjs";
import { createRecord, openPage } from "./page-driver.mjs";

const MAX_SECONDS = 300;

// In this order: later checks use files of earlier ones.
const PAGE_CHECKS = [
  checkExamples,
  checkErrors,
  checkStopping,
  checkFiles,
  checkUntrustedTexts,
  checkLargeOutputs,
  checkStorageQuota,
  checkRunner,
  checkKeyboard,
];

function browserPath() {
  return process.env.CHROMIUM ?? execFileSync("which", ["chromium"], { encoding: "utf8" }).trim();
}

async function main([screenshots]) {
  if (screenshots !== undefined) await mkdir(screenshots, { recursive: true });
  // The sandbox of the browser does not work as root, which is common in containers.
  const browser = await chromium.launch({ executablePath: browserPath(), chromiumSandbox: process.getuid() !== 0 });
  try {
    const record = createRecord();
    const page = await openPage(browser, record, { viewport: { width: 1280, height: 800 } });
    for (const check of PAGE_CHECKS) console.log(await check(page));
    console.log(await checkLayout(browser, record, screenshots));
    console.log(await checkOutcomes(page));
    console.log(await checkStopped(page));
    expect(record.errors, [], "errors of the browser");
    expect([...record.requests], [PAGE_URL], "network requests");
    console.log(await checkNetworkPolicy(browser));
    console.log("no request except for the page, no console message, no policy violation");
  } finally {
    await browser.close();
  }
}

const watchdog = setTimeout(() => {
  console.error(`FAILED: not done after ${MAX_SECONDS} s`);
  process.exit(1);
}, MAX_SECONDS * 1000);
try {
  await main(process.argv.slice(2));
  console.log(`all checks passed in ${Math.round(process.uptime())} s`);
} catch (error) {
  console.error(`FAILED: ${error.stack}`);
  process.exitCode = 1;
} finally {
  clearTimeout(watchdog);
}
