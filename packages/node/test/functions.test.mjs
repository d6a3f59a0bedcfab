// JavaScript functions that scripts call.
import assert from "node:assert/strict";
import { test } from "node:test";
import { FunctionError, Sandbox } from "toolscript";

const open = (functions) => Sandbox.open(undefined, { functions });

test("plain and async functions receive the arguments of the call", async () => {
  const box = await open({
    weather: async ({ city }) => ({ city, degrees: 24 }),
    add: (a, b) => a + b,
    "tools.count": (...values) => values.length,
  });
  const { result } = await box.run("return sdk.weather{city='Cairo'}, sdk.add(1, 2), sdk.tools.count(), sdk.tools.count(nil, 1)");
  assert.deepEqual(result, [{ city: "Cairo", degrees: 24 }, 3, 0, 2]);
});

test("concurrent calls are executed at the same time", async () => {
  let waiting = [];
  const meet = () => new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 3) waiting.forEach((resolve) => resolve("met"));
  });
  const box = await open({ meet });
  const script = "return sdk.all({ {sdk.meet}, {sdk.meet}, {sdk.meet} })";
  assert.deepEqual((await box.run(script)).result, ["met", "met", "met"]);
});

test("bytes are buffers in both directions, also in tables", async () => {
  const received = [];
  const box = await open({
    echo: (value) => (received.push(value), value),
    bytes: () => new Uint8Array([0, 255]),
    nested: () => ({ "a/b": [{ "~": Buffer.from([254]) }], text: "x" }),
  });
  const script = `
    local buffer_echo = sdk.echo(buffer.fromstring("\\0\\255"))
    local table_echo = sdk.echo({ deep = { "\\255" }, ok = "ü" })
    local nested = sdk.nested()
    return { #buffer_echo, string.byte(buffer_echo, 2), string.byte(table_echo.deep[1]), table_echo.ok,
      #sdk.bytes(), string.byte(nested["a/b"][1]["~"]), nested.text }`;
  assert.deepEqual((await box.run(script)).result, [2, 255, 255, "ü", 2, 254, "x"]);
  assert.deepEqual(received, [Buffer.from([0, 255]), { deep: [Buffer.from([255])], ok: "ü" }]);
});

test("values that JSON does not have are converted or rejected", async () => {
  const cycle = {};
  cycle.self = cycle;
  const values = {
    small: 12n, large: 2n ** 60n, date: new Date(0), set: new Set([1]), map: new Map([["k", 1]]), nothing: undefined, null: null,
  };
  const box = await open({ get: () => values, cycle: () => cycle, method: () => ({ f() {} }), proto: (value) => Object.keys(value) });
  const { result } = await box.run("return sdk.get()");
  assert.deepEqual(result, { small: 12, large: "1152921504606846976", date: "1970-01-01T00:00:00.000Z", set: [1], map: { k: 1 } });
  await assert.rejects(box.run("sdk.cycle()"), { message: /cycle: TypeError: a value is nested more than 128 levels deep, or contains itself/ });
  await assert.rejects(box.run("sdk.method()"), { message: /method: TypeError: a function can't be passed to a script \(at \/f\)/ });
  assert.deepEqual((await box.run("return sdk.proto({ __proto__ = '\\255' })")).result, ["__proto__"]);
  assert.equal({}.polluted, undefined);
});

test("a thrown error is an error of the script, and the cause if nothing catches it", async () => {
  const failure = new RangeError("too far");
  const box = await open({ fail: () => { throw failure; }, later: async () => { throw new Error("late"); }, text: () => { throw "plain"; } });
  assert.deepEqual((await box.run("return pcall(sdk.fail)")).result.slice(0, 1), [false]);
  const error = await box.run("sdk.fail()").catch((error) => error);
  assert.deepEqual([error.kind, error.line], ["runtime", 1]);
  assert.match(error.message, /fail: RangeError: too far/);
  assert.equal(error.cause, failure);
  await assert.rejects(box.run("sdk.later()"), { message: /later: late/ });
  const text = await box.run("sdk.text()").catch((error) => error);
  assert.equal(text.cause, "plain");
  const caught = await box.run("pcall(sdk.fail) error('other')").catch((error) => error);
  assert.equal(caught.cause, undefined);
});

test("a FunctionError has fields for the script", async () => {
  const box = await open({
    order() { throw new FunctionError("sold out", { status: 409, headers: { "x-id": "7" }, body: { left: 0 }, retryAfter: 2.5 }); },
  });
  const script = "local ok, e = pcall(sdk.order) return ok, e.status, e.headers['x-id'], e.body.left, e.retry_after, tostring(e)";
  const { result } = await box.run(script);
  assert.deepEqual(result.slice(0, 5), [false, 409, "7", 0, 2.5]);
  assert.match(result[5], /order: sold out/);
});

test("fields of an error that can't be passed to a script are left out", async () => {
  const box = await open({ fail() { throw new FunctionError("no", { status: 500, headers: { "x-id": 7n }, body: () => {} }); } });
  const { result } = await box.run("local ok, e = pcall(sdk.fail) return e.status == nil, tostring(e)");
  assert.equal(result[0], true);
  assert.match(result[1], /fail: no/);
});

test("the signal of a function is aborted when the run ends", async () => {
  let aborted;
  const box = await open({
    wait() {
      return new Promise(() => { aborted = new Promise((resolve) => this.signal.addEventListener("abort", resolve)); });
    },
  });
  await assert.rejects(box.run("sdk.wait()", { limits: { timeoutMs: 50 } }), { kind: "timeout" });
  await aborted;
});

test("a limit on calls ends the run", async () => {
  let calls = 0;
  const box = await open({ tick: () => ++calls });
  await assert.rejects(box.run("while true do pcall(sdk.tick) end", { limits: { apiCalls: 3 } }), { kind: "calls" });
  assert.equal(calls, 3);
});

test("functions have documentation, and can be added later", async () => {
  const box = await open({ weather: { description: "Returns the weather of a city.\nTakes { city }.", execute: () => 1 } });
  box.add("later", () => 2);
  const { result } = await box.run("return sdk.docs('weather'), sdk.search('city weather')[1].name, sdk.later()");
  assert.deepEqual(result, ["sdk.weather(...): any\nReturns the weather of a city.\nTakes { city }.", "weather", 2]);
  const messages = [
    ["a b", "invalid function name 'a b': use letters, digits and underscores, joined by dots"],
    ["docs", "invalid function name 'docs': sdk.all, sdk.docs, sdk.response and sdk.search are reserved"],
    ["weather.x", "invalid function name 'weather.x': it conflicts with 'weather'"],
  ];
  for (const [name, message] of messages) assert.throws(() => box.add(name, () => 0), new TypeError(message));
  assert.throws(() => box.add("x", 7), new TypeError('the function "x" must be a function, or an object with execute'));
  assert.equal((await box.run("return sdk.later()")).result, 2);
});

test("a function can use the sandbox that calls it", async () => {
  const box = await open({});
  box.add("inner", async () => (await box.run("return 'inner'")).result);
  assert.equal((await box.run("return sdk.inner()")).result, "inner");
});

test("the description for a model has functions, limits and files", async () => {
  const box = await open({ weather: { description: "Returns the weather of a city.\nTakes { city }.", execute: () => 1 } });
  const text = box.description();
  assert.match(text, /\n- sdk\.weather\(\.\.\.\): any: Returns the weather of a city\.\n/);
  assert.match(text, /they take the arguments that their documentation names/);
  assert.match(text, /File access is disabled/);
  box.add("later", () => 2);
  assert.match(box.description({ limits: { apiCalls: 7 } }), /Functions, at most 7 calls: [^]*\n- sdk\.later\(\.\.\.\): any\n/);
  assert.throws(() => box.description({ limits: { timeout: 1 } }), new TypeError('unknown limit "timeout"'));
});
