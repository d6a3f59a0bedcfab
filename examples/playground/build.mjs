// Makes dist/index.html, one file that needs nothing else: node build.mjs toolscript-core.wasm

import { createHash } from "node:crypto";
import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const here = (path) => new URL(path, import.meta.url);

async function bundle(entry, virtual = {}) {
  const result = await build({
    entryPoints: [here(entry).pathname],
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2024",
    charset: "utf8",
    write: false,
    plugins: [virtualModules(virtual)],
  });
  return result.outputFiles[0].text;
}

/** Modules named `playground:…`, which are made here and are no files. */
function virtualModules(contents) {
  return {
    name: "virtual modules",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^playground:/ }, ({ path }) => ({ path: path.slice("playground:".length), namespace: "playground" }));
      onLoad({ filter: /.*/, namespace: "playground" }, ({ path }) => contents[path]);
    },
  };
}

async function examples() {
  const names = (await readdir(here("../"))).filter((name) => name.endsWith(".luau")).sort();
  const paths = ["src/opening.luau", ...names.map((name) => `../${name}`)];
  return Promise.all(paths.map(async (path) => ({ name: titleOf(path), text: (await readFile(here(path), "utf8")).trimEnd() })));
}

/** `../sales_report.luau` is called "Sales report". */
function titleOf(path) {
  const name = path.replace(/^.*\//, "").replace(/\.luau$/, "").replaceAll("_", " ");
  return name[0].toUpperCase() + name.slice(1);
}

const hash = (text) => createHash("sha256").update(text).digest("base64");

async function main([modulePath]) {
  if (modulePath === undefined) throw new Error("usage: node build.mjs toolscript-core.wasm");
  const script = await bundle("src/page.js", {
    module: { contents: gzipSync(await readFile(modulePath), { level: 9 }), loader: "binary" },
    worker: { contents: await bundle("src/worker.js"), loader: "text" },
    examples: { contents: JSON.stringify(await examples()), loader: "json" },
  });
  const style = (await build({ entryPoints: [here("src/style.css").pathname], minify: true, write: false, target: "es2024" })).outputFiles[0].text;
  // The editor adds style elements of its own, and marks them with this. It is the same for the same sources, so that builds are, too.
  const nonce = hash(style + script).slice(0, 22);
  const policy = [
    "default-src 'none'",
    `script-src 'sha256-${hash(script)}' 'wasm-unsafe-eval'`,
    `style-src 'nonce-${nonce}'`,
    // When text is replaced in the editor, the browser itself puts such attributes there for a moment.
    "style-src-attr 'unsafe-inline'",
    "worker-src blob:",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const parts = { policy, style, script };
  const page = await readFile(here("src/index.html"), "utf8");
  const filled = page.replace("<style>", `<style nonce="${nonce}">`).replace(/\{\{(\w+)\}\}/g, (_, name) => parts[name]);
  await mkdir(here("dist/"), { recursive: true });
  await writeFile(here("dist/index.html"), filled);
  console.log(`dist/index.html: ${Math.round(Buffer.byteLength(filled) / 1024)} KiB`);
}

await main(process.argv.slice(2));
