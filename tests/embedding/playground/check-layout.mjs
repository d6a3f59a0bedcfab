// Checks the layout at several sizes, and that the editor can be left with the keyboard.

import { expect } from "./expect.mjs";
import { clickRun, openPage, runScript, waitUntilDone, writeScript } from "./page-driver.mjs";

export async function checkKeyboard(page) {
  await writeScript(page, "x");
  await page.keyboard.press("Tab");
  expect(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), "Script", "focus after Tab in the editor");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Tab");
  expect(await page.evaluate(() => document.activeElement.id), "arguments", "focus after Escape and Tab");
  return "the editor can be left with the keyboard";
}

export async function checkLayout(browser, record, screenshots) {
  let count = 0;
  for (const [name, width, height] of [["wide", 1280, 800], ["narrow", 390, 844]]) {
    for (const colorScheme of ["light", "dark"]) {
      const page = await openPage(browser, record, { viewport: { width, height }, colorScheme, deviceScaleFactor: 1 });
      const checkView = async (state) => {
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        expect(overflow, 0, `horizontal overflow: ${state}, ${width} px, ${colorScheme}`);
        const small = await page.evaluate(() =>
          [...document.querySelectorAll("button, input, select")]
            .filter((element) => element.checkVisibility() && element.getBoundingClientRect().height < 40)
            .map((element) => element.id || element.className),
        );
        expect(small, [], `controls below 40 px: ${state}, ${width} px`);
        count += 1;
      };
      await checkView("initial");
      await clickRun(page);
      await waitUntilDone(page);
      await checkView("after a run");
      if (screenshots !== undefined) {
        await page.screenshot({ path: `${screenshots}/${name}${colorScheme === "dark" ? "-dark" : ""}.png`, fullPage: name === "narrow" });
      }
      const wide = `("wide"):rep(100)`;
      await runScript(page, `io.open(("w"):rep(200), "w"):close() print(${wide}, "a b " .. ${wide}) error(${wide})`);
      await checkView("with long words");
      await page.getByRole("button", { name: /^View w+$/ }).click();
      await checkView("with a dialog");
      await page.context().close();
    }
  }
  return `no horizontal scrolling and no control below 40 px: ${count} views at 1280 and 390 px, light and dark`;
}
