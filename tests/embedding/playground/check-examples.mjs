// Runs the welcome script and every example of the menu.

import { expect } from "./expect.mjs";
import { clickRun, outputOf, textOf, waitUntilDone } from "./page-driver.mjs";

const WELCOME_LOG = "1. Mars\n2. Earth\n3. Venus\n";
const WELCOME_RESULT = { moons: 3, first: "Mars,2", files: ["moons.csv"] };

const sortKeys = (object) => Object.fromEntries(Object.entries(object).sort());

export async function checkExamples(page) {
  expect(await textOf(page, "#status"), "Ready", "initial status");
  await clickRun(page);
  await waitUntilDone(page);
  expect(await textOf(page, "#log"), WELCOME_LOG, "log of the welcome script");
  expect(sortKeys(JSON.parse(await textOf(page, "#result"))), sortKeys(WELCOME_RESULT), "result of the welcome script");
  expect(await textOf(page, "#touched"), "write planets/moons.csv (23 bytes)", "files that the welcome script touched");
  expect(await page.locator("#files .name").allTextContents(), ["planets/", "moons.csv"], "list of files");
  expect(await page.locator("#error-section").isVisible(), false, "visibility of the error");

  const names = await page.getByLabel("Example").locator("option").allTextContents();
  expect(names.includes("Hello"), true, `names of the examples: ${names}`);
  for (const name of names) {
    await page.getByLabel("Example").selectOption(name);
    await page.getByRole("textbox", { name: "Script" }).press("ControlOrMeta+Enter");
    await waitUntilDone(page);
    expect((await textOf(page, "#status")).startsWith("Done in"), true, `${name}: ${JSON.stringify(await outputOf(page))}`);
  }
  await page.getByLabel("Example").selectOption("Hello");
  await page.getByLabel("Arguments").fill(`"Ada Lovelace" second`);
  await page.getByLabel("Arguments").press("Enter");
  await waitUntilDone(page);
  expect(await textOf(page, "#log"), "hello, Ada Lovelace\n", "quoted argument");
  await page.getByLabel("Arguments").fill("");
  return `the welcome script and ${names.length - 1} examples, started with the button, Enter and Ctrl+Enter`;
}
