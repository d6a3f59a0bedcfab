// Functions from an OpenAPI specification and from an MCP server.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fromOpenapi, mcpServer, Sandbox, SourceError } from "toolscript";

const specification = new URL("fixtures/shop.json", import.meta.url).pathname;
const requests = [];
const server = createServer((request, response) => {
  requests.push([request.url, request.headers.authorization]);
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ name: "Rex" }));
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
after(() => server.close());
const baseUrl = `http://127.0.0.1:${server.address().port}`;

test("scripts call the operations of an API", async () => {
  const shop = await fromOpenapi(specification, { baseUrl, allowPrivate: true, auth: { type: "bearer", token: "secret-token" } });
  assert.deepEqual([shop.name, shop.functions, shop.notes], ["shop", ["get_pet"], []]);
  assert.match(shop.docs("shop.get_pet"), /^sdk\.shop\.get_pet\(params: \{ id: number \}\)/);
  assert.throws(() => shop.docs("none"), TypeError);
  const box = await Sandbox.open(undefined, { functions: { shop, local: () => "own" } });
  assert.deepEqual((await box.run("return sdk.shop.get_pet{id=7}.name, sdk.get_pet{id=8}.name, sdk['local']()")).result, ["Rex", "Rex", "own"]);
  assert.match(box.description(), /\n- sdk\.shop: .*\(get_pet\)/);
  await box.run("sdk.shop.get_pet{id=9}", { credentials: { shop: "of-this-run" } });
  assert.deepEqual(requests, [["/pets/7", "Bearer secret-token"], ["/pets/8", "Bearer secret-token"], ["/pets/9", "Bearer of-this-run"]]);
  assert.match((await box.run("return sdk.search('pet')[1].name")).result, /shop\.get_pet/);
});

test("a specification that can't be loaded is a SourceError", async () => {
  await assert.rejects(fromOpenapi("/nowhere/shop.yaml"), SourceError);
  await assert.rejects(async () => fromOpenapi("/nowhere/openapi.yaml"), new TypeError('the file name of "/nowhere/openapi.yaml" does not name the API; pass the option name'));
  await assert.rejects(async () => fromOpenapi(specification, { baseURL: "x" }), TypeError);
});

test("scripts call the tools of an MCP server", async () => {
  const directory = mkdtempSync(join(tmpdir(), "toolscript-mcp-"));
  const command = ["node_modules/.bin/toolscript", "serve", "--io-dir", join(directory, "files")];
  const tools = await mcpServer(command, { name: "tools" });
  try {
    assert.ok(tools.functions.includes("execute_script"), String(tools.notes));
    const box = await Sandbox.open(undefined, { functions: [tools] });
    const { result } = await box.run("return sdk.tools.execute_script{script='return 6 * 7'}");
    assert.match(JSON.stringify(result), /42/);
  } finally {
    tools.close();
    rmSync(directory, { recursive: true });
  }
});
