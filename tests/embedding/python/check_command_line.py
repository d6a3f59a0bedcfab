"""Checks the command line of the WASI command, as a core module, and that it can't reach the program around it."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from expect import expect, temporary_io_dir
from toolscript_host import DEFAULT_FUEL, new_engine
from wasmtime import ExitTrap, Linker, Module, Store, WasiConfig

RESULTS = [
    ([], "input"),
    (["-"], "input"),
    (["-", "--", "a", "--b"], ["input", "a", "--b"]),
    (["script.luau", "--", "a"], ["file", "a"]),
    (["-e", "return 'text', ...", "--", "-e"], ["text", "-e"]),
    (["--no-io", "-e", "return io == nil, os.remove == nil"], [True, True]),
]
FAILURES = [
    ("error('no')", 1, "runtime"),
    ("return (", 1, "syntax"),
    ("return print", 1, "result"),
    ("return ('x'):rep(1e9)", 3, "memory"),
]
INVALID = [
    ["--what"],
    ["-e"],
    ["--errors", "ignore", "-"],
    ["--max-bytes", "some", "-"],
    ["--max-files", "-1", "-"],
    ["not-there.luau"],
    ["../script.luau"],
    ["a", "b"],
]
# Functions of WASI that read the environment, create links, wait or use the network.
UNWANTED = re.compile(r"environ|sock|poll|path_(sym)?link$|exec")


class Command:
    """Runs the module with a directory."""

    def __init__(self, path: Path) -> None:
        self._engine = new_engine()
        self.module = Module.from_file(self._engine, path)
        self._linker = Linker(self._engine)
        self._linker.define_wasi()

    def run(self, arguments: list[str], io_dir: Path) -> tuple[int, str, str]:
        """Returns the exit code, standard output and standard error."""
        streams = io_dir.parent
        (streams / "input").write_text("return 'input', ...")
        wasi = WasiConfig()
        wasi.argv = ["toolscript", *arguments]
        wasi.stdin_file, wasi.stdout_file, wasi.stderr_file = (str(streams / name) for name in ("input", "output", "error"))
        wasi.preopen_dir(str(io_dir), "/")
        code = 0
        with Store(self._engine) as store:
            store.set_wasi(wasi)
            store.set_fuel(DEFAULT_FUEL)
            try:
                self._linker.instantiate(store, self.module).exports(store)["_start"](store)
            except ExitTrap as exit:
                code = exit.code
        return code, (streams / "output").read_text(), (streams / "error").read_text()


def check_command_line(path: Path) -> str:
    command = Command(path)
    imports = [imported.name for imported in command.module.imports]
    expect([name for name in imports if UNWANTED.search(name)], [], "imports that the module must not have")
    with temporary_io_dir() as io_dir:
        io_dir.mkdir()
        (io_dir / "script.luau").write_text("return 'file', ...")
        for arguments, result in RESULTS:
            code, output, error = command.run(arguments, io_dir)
            expect((code, error, output and json.loads(output)["result"]), (0, "", result), f"toolscript {arguments}")
        for script, expected, kind in FAILURES:
            code, output, _ = command.run(["-e", script], io_dir)
            expect((code, json.loads(output)["error"]["kind"]), (expected, kind), script)
        for arguments in INVALID:
            code, output, error = command.run(arguments, io_dir)
            expect((code, output, error[:7]), (2, "", "error: "), f"toolscript {arguments}")
        code, output, _ = command.run(["-e", "return #(...)", "--", "x" * ((1 << 20) - 16)], io_dir)
        expect((code, json.loads(output)["result"]), (0, (1 << 20) - 16), "large argument")
        printed = command.run(["-e", "print('one') print('\\27[1m')"], io_dir)[2]
        expect(printed, "one\n\\u{1b}[1m\n", "log lines on standard error, with control characters escaped")
        expect(command.run(["--version"], io_dir)[1].startswith("toolscript "), True, "--version")
        expect("--max-files" in command.run(["--help"], io_dir)[1], True, "--help")
        expect(os.listdir(io_dir), ["script.luau"], "files after all runs")
    return f"command line: scripts from input, file and text, exit codes, usage errors; the module has {len(imports)} imports"
