// Builds dist/index.html, a single file without external resources.
//
//     node build.mjs toolscript-core.wasm

import { createHash } from "node:crypto";
import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const resolve = (path) => new URL(path, import.meta.url);

async function bundle(entry, virtual = {}) {
  const result = await build({
    entryPoints: [resolve(entry).pathname],
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

/** Resolves imports of `playground:…`, which are generated during the build. */
function virtualModules(contents) {
  return {
    name: "virtual modules",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^playground:/ }, ({ path }) => ({ path: path.slice("playground:".length), namespace: "playground" }));
      onLoad({ filter: /.*/, namespace: "playground" }, ({ path }) => contents[path]);
    },
  };
}

/** Returns the scripts of the example menu, the first of which is shown at the start. */
async function examples() {
  const names = (await readdir(resolve("../"))).filter((name) => name.endsWith(".luau")).sort();
  const paths = ["src/page/welcome.luau", ...names.map((name) => `../${name}`)];
  return Promise.all(paths.map(async (path) => ({ name: titleOf(path), text: (await readFile(resolve(path), "utf8")).trimEnd() })));
}

/** Returns the title of a script: "Sales report" for `../sales_report.luau`. */
function titleOf(path) {
  const name = path.replace(/^.*\//, "").replace(/\.luau$/, "").replaceAll("_", " ");
  return name[0].toUpperCase() + name.slice(1);
}

const hash = (text) => createHash("sha256").update(text).digest("base64");

async function main([modulePath]) {
  if (modulePath === undefined) throw new Error("usage: node build.mjs toolscript-core.wasm");
  const script = await bundle("src/page/page.js", {
    module: { contents: gzipSync(await readFile(modulePath), { level: 9 }), loader: "binary" },
    worker: { contents: await bundle("src/runner/worker.js"), loader: "text" },
    examples: { contents: JSON.stringify(await examples()), loader: "json" },
  });
  const style = (await build({ entryPoints: [resolve("src/page/style.css").pathname], minify: true, write: false, target: "es2024" })).outputFiles[0].text;
  // The editor needs a nonce for its own style elements. It is derived from the sources, so that builds are reproducible.
  const nonce = hash(style + script).slice(0, 22);
  const policy = [
    "default-src 'none'",
    `script-src 'sha256-${hash(script)}' 'wasm-unsafe-eval'`,
    `style-src 'nonce-${nonce}'`,
    // The browser itself sets style attributes for a moment when text in the editor is replaced.
    "style-src-attr 'unsafe-inline'",
    "worker-src blob:",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const parts = { policy, style, script };
  const page = await readFile(resolve("src/page/index.html"), "utf8");
  const filled = page.replace("<style>", `<style nonce="${nonce}">`).replace(/\{\{(\w+)\}\}/g, (_, name) => parts[name]);
  await mkdir(resolve("dist/"), { recursive: true });
  await writeFile(resolve("dist/index.html"), filled);
  console.log(`dist/index.html: ${Math.round(Buffer.byteLength(filled) / 1024)} KiB`);
}

await main(process.argv.slice(2));
