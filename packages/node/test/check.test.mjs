// The check of scripts before they run.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fromOpenapi, RunRejected, Sandbox, ScriptError } from "toolscript";

const specification = new URL("fixtures/shop.json", import.meta.url).pathname;
const source = (name) => fromOpenapi(specification, { name, baseUrl: "http://127.0.0.1:9", allowPrivate: true });
const shop = await source("shop");
const messages = async (box, script, options) => (await box.check(script, options)).map(({ message }) => message.split(";")[0]);

test("a script with a mistake does not run", async () => {
  const box = await Sandbox.open();
  const script = "print('started')\nreturn totl + string.trim(' ')";
  const error = await box.run(script, { check: "errors" }).catch((error) => error);
  assert.ok(error instanceof ScriptError);
  assert.deepEqual([error.kind, error.line, error.logs], ["check", 2, []]);
  assert.match(error.message, /unknown global 'totl'/);
  assert.deepEqual(error.diagnostics[0], { severity: "error", line: 2, column: 8, length: 4, message: "unknown global 'totl'" });
  assert.deepEqual([error.diagnostics[1].column, error.diagnostics.length], [22, 2]);
  assert.deepEqual(await box.check(script), error.diagnostics);
});

test("a script runs with its mistakes as diagnostics, and is not checked by default", async () => {
  const box = await Sandbox.open();
  const warned = await box.run("return totl", { check: "warn" });
  assert.deepEqual([warned.result, warned.diagnostics.map((found) => found.message)], [null, ["unknown global 'totl'"]]);
  for (const options of [undefined, {}, { check: "off" }]) assert.deepEqual((await box.run("return totl", options)).diagnostics, []);
  const failed = await box.run("error('x')", { check: "errors" }).catch((error) => error);
  assert.deepEqual([failed.kind, failed.diagnostics], ["runtime", []]);
  const both = await box.run("print(1)\nerror(totl)", { check: "warn" }).catch((error) => error);
  assert.deepEqual([both.kind, both.logs, both.diagnostics.map((found) => found.line)], ["runtime", ["1"], [2]]);
});

test("notes are returned by a check only", async () => {
  const box = await Sandbox.open();
  const script = "pcall(function() return totl.x end)";
  assert.deepEqual((await box.check(script)).map((found) => found.severity), ["note"]);
  assert.deepEqual((await box.run(script, { check: "errors" })).diagnostics, []);
});

test("a syntax error is reported alone, with its position", async () => {
  const box = await Sandbox.open();
  const [found, ...others] = await box.check("totl()\nreturn +");
  assert.deepEqual([found.severity, found.line, others], ["error", 2, []]);
  assert.match(found.message, /^Expected identifier/);
});

test("files and env are known if a script has them", async () => {
  const directory = mkdtempSync(join(tmpdir(), "toolscript-check-"));
  after(() => rmSync(directory, { recursive: true }));
  const script = "return io.list(), env.NAME";
  assert.deepEqual((await messages(await Sandbox.open(), script)).length, 2);
  assert.deepEqual(await messages(await Sandbox.open(directory), script, { env: {} }), []);
  const box = await Sandbox.open(directory);
  assert.equal((await box.run("return env.NAME", { check: "errors", env: { NAME: "n" } })).result, "n");
});

test("functions of the sandbox can be called with any arguments", async () => {
  const box = await Sandbox.open(undefined, { functions: { add: (a, b) => a + b, "math.twice": (x) => 2 * x } });
  const script = "return sdk.add(1, 2), sdk.math.twice(4), sdk.docs and true, sdk['add'](3, 4)";
  assert.deepEqual((await box.run(script, { check: "errors" })).result, [3, 8, true, 7]);
  assert.deepEqual(await messages(box, "sdk.ad(1) sdk.math.thrice(1)"), ["there is no function 'ad'", "there is no function 'math.thrice'"]);
  box.add("later", () => "later");
  assert.equal((await box.run("return sdk.later()", { check: "errors" })).result, "later");
});

test("functions of an API are checked with their parameters, beside those of the sandbox", async () => {
  for (const functions of [{ shop }, { shop, own: () => 1, "shop.extra": () => 2 }]) {
    const box = await Sandbox.open(undefined, { functions });
    assert.deepEqual(await messages(box, "sdk.shop.get_pet{id=7} sdk.get_pet{id=8} sdk.shop.getPet{id=9}"), []);
    assert.deepEqual(await messages(box, "sdk.shop.get_pat{id=7}"), ["there is no function 'shop.get_pat'"]);
  }
  const box = await Sandbox.open(undefined, { functions: { shop, own: () => 1 } });
  assert.deepEqual(await messages(box, "sdk.shop.get_pet{name='x'}"), ["shop.get_pet: the parameter 'id' is missing", "shop.get_pet: there is no parameter 'name'"]);
  assert.equal((await box.run("return sdk.own('x', {})", { check: "errors" })).result, 1);
});

test("a function of the sandbox hides the types of an operation", async () => {
  for (const name of ["get_pet", "getPet"]) {
    const box = await Sandbox.open(undefined, { functions: { shop, [name]: (a, b) => a + b } });
    assert.equal((await box.run(`return sdk.${name}(1, 2)`, { check: "errors" })).result, 3);
  }
});

test("the functions of several APIs are known", async () => {
  const box = await Sandbox.open(undefined, { functions: { shop, bank: await source("bank"), own: () => 1 } });
  assert.deepEqual(await messages(box, "sdk.shop.get_pet{id=1} sdk.bank.get_pet{id=1} sdk.bank.getPet{id=1} sdk.own()"), []);
  assert.deepEqual(await messages(box, "sdk.bank.get_pat{id=1}"), ["there is no function 'bank.get_pat'"]);
});

test("a script that is too large is not checked, and invalid options are type errors", async () => {
  const box = await Sandbox.open(undefined, { limits: { script: 100 } });
  const error = await box.check("-".repeat(200)).catch((error) => error);
  assert.ok(error instanceof RunRejected);
  assert.equal(error.code, "script_too_large");
  const stopped = await Sandbox.open(undefined, { limits: { fuel: 10 } });
  await assert.rejects(stopped.check("return totl"), { name: "RunRejected", code: "not_checked" });
  await assert.rejects(box.run("return 1", { check: "on" }), new TypeError('check must be "off", "errors" or "warn"'));
  await assert.rejects(box.check("return 1", { check: "warn" }), new TypeError('unknown option "check"'));
  await assert.rejects(box.check(7), new TypeError("script must be a string or a Uint8Array"));
});
