// The module's own command line, and what a script sees of the program around it.

import { mkdir, writeFile } from "node:fs/promises";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

import { runCommand } from "../run.mjs";
import { expect, withDirectory } from "./expect.mjs";

const run = promisify(execFile);

export async function demo(modulePath) {
  const script = `
    local name = ...
    print("for " .. name)
    io.open("notes/a.txt", "w"):write("one\\ntwo\\n"):close()
    return { #io.open("notes/a.txt"):read("*a"), io.list("notes"), sdk == nil }
  `;
  await withDirectory(async (folder, outside) => {
    const path = join(outside, "script.luau");
    await writeFile(path, script);
    const program = join(import.meta.dirname, "../demo.mjs");
    const { stdout, stderr } = await run(process.execPath, [program, modulePath, path, "somebody", "--folder", folder], { timeout: 60_000 });
    expect([stdout.trimEnd().split("\n").length, stderr], [1, ""], "the demo prints one line");
    const expected = {
      result: [8, ["a.txt"], true],
      logs: ["for somebody"],
      files_touched: [{ name: "notes/a.txt", op: "write", bytes: 8 }],
    };
    expect(JSON.parse(stdout), expected, "the demo");
  });
  return "the demo: arguments, log, a file, no sdk";
}

export async function commandLine(module) {
  await withDirectory(async (folder) => {
    await mkdir(folder);
    await writeFile(join(folder, "script.luau"), "return 'file', ...");
    const command = async (argv, options) => {
      const end = await runCommand(module, { argv: ["toolscript", ...argv], input: "return 'input', ...", folder, timeout: 10, ...options });
      return { ...end, text: Buffer.from(end.output ?? "").toString(), errors: Buffer.concat(end.lines).toString() };
    };
    const results = [
      [[], "input"],
      [["-"], "input"],
      [["-", "--", "a", "--b"], ["input", "a", "--b"]],
      [["script.luau", "--", "a"], ["file", "a"]],
      [["-e", "return 'text', ...", "--", "-e"], ["text", "-e"]],
    ];
    for (const [argv, expected] of results) {
      const { code, text, errors } = await command(argv);
      expect([code, errors, JSON.parse(text).result], [0, "", expected], `toolscript ${argv.join(" ")}`);
    }
    const failures = [
      ["error('no')", 1, "runtime"],
      ["return (", 1, "syntax"],
      ["return print", 1, "result"],
      ["return ('x'):rep(1e9)", 3, "memory"],
    ];
    for (const [script, expectedCode, kind] of failures) {
      const { code, text } = await command(["-e", script]);
      expect([code, JSON.parse(text).error.kind], [expectedCode, kind], script);
    }
    const wrong = [["--what"], ["-e"], ["--errors", "ignore", "-"], ["--max-bytes", "some", "-"], ["--max-files", "-1", "-"], ["not-there.luau"], ["../script.luau"], ["a", "b"]];
    for (const argv of wrong) {
      const { code, text, errors } = await command(argv);
      expect([code, text, errors.startsWith("error: ")], [2, "", true], `toolscript ${argv.join(" ")}: ${errors}`);
    }
    const noFiles = { code: 0, result: [true, true] };
    for (const [argv, options] of [[["--no-io", "-"], {}], [["-"], { folder: undefined }]]) {
      const { code, text } = await command(argv, { input: "return io == nil, os.remove == nil", ...options });
      expect({ code, result: JSON.parse(text).result }, noFiles, "no files");
    }
    expect((await command(["--version"])).text.startsWith("toolscript "), true, "--version");
    expect((await command(["--help"])).text.includes("--max-files"), true, "--help");
  });
  return "the command line: scripts from input, file and text, exit codes, wrong usage";
}

/** Collects every string that a script can reach. */
const REACH_EVERYTHING = `
  local seen, texts = {}, {}
  local function reach(value)
      if type(value) == "string" then
          -- Some are not UTF-8, and could not be returned.
          table.insert(texts, (string.gsub(value, "[\\128-\\255]", "?")))
      elseif type(value) == "table" and not seen[value] then
          seen[value] = true
          for key, content in value do reach(key) reach(content) end
          reach(getmetatable(value))
      end
  end
  reach({ ..., io = io, os = os, debug = debug, json = json, string = string, table = table, coroutine = coroutine, utf8 = utf8, _G = _G })
  return texts
`;

export async function surroundings(box, module) {
  process.env.TOOLSCRIPT_CANARY = "canary-in-the-environment";
  await withDirectory(async (folder) => {
    const { result } = await box.run({ script: REACH_EVERYTHING, folder });
    expect(result.includes("gsub") && result.includes("io"), true, "the script reached something");
    const secrets = ["canary", folder, process.cwd(), process.execPath];
    expect(secrets.filter((secret) => result.some((text) => text.includes(secret))), [], "what a script sees of the program");
  });
  delete process.env.TOOLSCRIPT_CANARY;
  const imports = WebAssembly.Module.imports(module).map(({ name }) => name);
  const unwanted = imports.filter((name) => /environ|sock|poll|symlink|link$|rename|exec/.test(name) && name !== "path_unlink_file");
  expect(unwanted, [], "what the module asks for");
  return `surroundings: nothing of the environment, ${imports.length} imports, none to read it`;
}
