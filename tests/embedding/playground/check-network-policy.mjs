// Tries to access the network from the page, a worker and an image. The content security policy must block all of them.

import { expect, PAGE_URL } from "./expect.mjs";
import { createRecord, openPage } from "./page-driver.mjs";

export async function checkNetworkPolicy(browser) {
  const record = createRecord();
  const page = await openPage(browser, record, {});
  const results = await page.evaluate(async () => {
    const url = "https://example.com/";
    const resultOf = (promise) => promise.then(() => "fetched", (error) => error.name);
    const source = `(${resultOf})(fetch("${url}")).then(postMessage)`;
    const worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
    const image = new Image();
    return Promise.all([
      resultOf(fetch(url)),
      new Promise((resolve) => (worker.onmessage = ({ data }) => resolve(data))),
      new Promise((resolve) => ((image.onload = () => resolve("loaded")), (image.onerror = () => resolve("blocked")), (image.src = url))),
    ]);
  });
  expect(results, ["TypeError", "TypeError", "blocked"], "results of network requests");
  const violations = record.errors.filter((text) => text.startsWith("policy:")).sort();
  expect(violations, ["policy: connect-src https://example.com/", "policy: img-src https://example.com/"], "reported violations");
  // The browser also reports blocked requests, so the other checks would have noticed any attempt.
  expect([...record.requests], [PAGE_URL, "https://example.com/"], "reported requests");
  await page.context().close();
  return "the policy blocks network requests of the page, a worker and an image";
}
