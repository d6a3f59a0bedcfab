// Checks the command line of the module, and that scripts see nothing of the program around it.

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { runInWorker } from "../../../examples/embed-node/run-in-worker.mjs";
import { expect, withIoDir } from "./expect.mjs";

export async function checkCommandLine(module) {
  await withIoDir(async (ioDir) => {
    await mkdir(ioDir);
    await writeFile(join(ioDir, "script.luau"), "return 'file', ...");
    const runCommand = async (argv, options) => {
      const end = await runInWorker(module, { argv: ["toolscript", ...argv], input: "return 'input', ...", ioDir, timeout: 10, ...options });
      return { ...end, stdout: Buffer.from(end.output ?? "").toString(), stderr: Buffer.concat(end.lines).toString() };
    };
    const results = [
      [[], "input"],
      [["-"], "input"],
      [["-", "--", "a", "--b"], ["input", "a", "--b"]],
      [["script.luau", "--", "a"], ["file", "a"]],
      [["-e", "return 'text', ...", "--", "-e"], ["text", "-e"]],
    ];
    for (const [argv, expected] of results) {
      const { code, stdout, stderr } = await runCommand(argv);
      expect([code, stderr, JSON.parse(stdout).result], [0, "", expected], `toolscript ${argv.join(" ")}`);
    }
    const failures = [
      ["error('no')", 1, "runtime"],
      ["return (", 1, "syntax"],
      ["return print", 1, "result"],
      ["return ('x'):rep(1e9)", 3, "memory"],
    ];
    for (const [script, expectedCode, kind] of failures) {
      const { code, stdout } = await runCommand(["-e", script]);
      expect([code, JSON.parse(stdout).error.kind], [expectedCode, kind], script);
    }
    const invalid = [["--what"], ["-e"], ["--errors", "ignore", "-"], ["--max-bytes", "some", "-"], ["--max-files", "-1", "-"], ["not-there.luau"], ["../script.luau"], ["a", "b"]];
    for (const argv of invalid) {
      const { code, stdout, stderr } = await runCommand(argv);
      expect([code, stdout, stderr.startsWith("error: ")], [2, "", true], `toolscript ${argv.join(" ")}: ${stderr}`);
    }
    const noFiles = { code: 0, result: [true, true] };
    for (const [argv, options] of [[["--no-io", "-"], {}], [["-"], { ioDir: undefined }]]) {
      const { code, stdout } = await runCommand(argv, { input: "return io == nil, os.remove == nil", ...options });
      expect({ code, result: JSON.parse(stdout).result }, noFiles, "globals of a run without files");
    }
    expect((await runCommand(["--version"])).stdout.startsWith("toolscript "), true, "--version");
    expect((await runCommand(["--help"])).stdout.includes("--max-files"), true, "--help");
  });
  return "command line: scripts from input, file and text, exit codes, usage errors";
}

/** Returns every string that a script can reach. */
const COLLECT_STRINGS = `
  local seen, texts = {}, {}
  local function visit(value)
      if type(value) == "string" then
          -- A result must be UTF-8, and some strings are not.
          table.insert(texts, (string.gsub(value, "[\\128-\\255]", "?")))
      elseif type(value) == "table" and not seen[value] then
          seen[value] = true
          for key, content in value do visit(key) visit(content) end
          visit(getmetatable(value))
      end
  end
  visit({ ..., io = io, os = os, debug = debug, json = json, string = string, table = table, coroutine = coroutine, utf8 = utf8, _G = _G })
  return texts
`;

export async function checkSurroundings(sandbox, module) {
  process.env.TOOLSCRIPT_CANARY = "canary-in-the-environment";
  await withIoDir(async (ioDir) => {
    const { result } = await sandbox.run({ script: COLLECT_STRINGS, ioDir });
    expect(result.includes("gsub") && result.includes("io"), true, "the script collected strings");
    const secrets = ["canary", ioDir, process.cwd(), process.execPath];
    expect(secrets.filter((secret) => result.some((text) => text.includes(secret))), [], "strings of the program that a script sees");
  });
  delete process.env.TOOLSCRIPT_CANARY;
  const imports = WebAssembly.Module.imports(module).map(({ name }) => name);
  const unwanted = imports.filter((name) => /environ|sock|poll|symlink|link$|exec/.test(name) && name !== "path_unlink_file");
  expect(unwanted, [], "imports of the module that it must not have");
  return `surroundings: scripts see no environment; the module has ${imports.length} imports, none of which reads it`;
}
