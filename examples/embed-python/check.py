"""Runs the example for real, and compares it with what the Rust host does.

    python check.py toolscript.wasm toolscript-wasi.wasm ../../tests
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from toolscript_host import Box
from wasi_host import Command

FOLDERS = ("language", "results", "errors", "io")

# Fixtures that can't apply to the component with our contract, each with its reason. All apply to the WASI flavour.
LEFT_OUT = {
    "io/write_limit_of_a_large_block": "passes 5 MiB in one write; wasmtime makes a value of 48 bytes of each byte, a call may "
    "have 128 MiB of them, and the package can't raise that",
    "stopped/memory_in_a_coroutine": "the guest tells of a runtime error, as the text was raised anew; the Rust host knows that it "
    "refused memory, and the package does not tell its host",
}


class Wrong(Exception):
    """Something is not as it should be."""


def expect(actual: Any, expected: Any, what: str) -> None:
    # As JSON: to Python, 1, 1.0 and True are equal.
    actual_text, expected_text = json.dumps(actual), json.dumps(expected)
    if actual_text != expected_text:
        raise Wrong(f"{what}\n  expected: {expected_text[:2000]}\n  actual:   {actual_text[:2000]}")


@contextmanager
def directory() -> Iterator[Path]:
    """A directory for scripts, which does not exist yet, in one of its own."""
    with tempfile.TemporaryDirectory() as outside:
        yield Path(outside, "files")


def demo(component: Path) -> str:
    script = """
        local name = ...
        print("for " .. name)
        io.open("notes/a.txt", "w"):write("one\\ntwo\\n"):close()
        local _, message = pcall(function() sdk.weather.today{ city = "Mars" } end)
        return { sdk.weather.today{ city = "Oslo" }.degrees, message, io.list("notes") }
    """
    with directory() as folder:
        path = folder.with_name("script.luau")
        path.write_text(script)
        program = Path(__file__).with_name("demo.py")
        command = [sys.executable, str(program), str(component), str(path), "somebody", "--folder", str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        lines = done.stdout.splitlines()
        expect((done.returncode, len(lines)), (0, 1), f"the demo: {done.stderr}")
        expected = {
            "result": [-3, "script:5: weather.today: there is no weather in Mars", ["a.txt"]],
            "logs": ["for somebody"],
            "files_touched": [{"name": "notes/a.txt", "op": "write", "bytes": 8}],
        }
        expect(json.loads(lines[0]), expected, "the demo")
        expect((folder / "notes/a.txt").read_text(), "one\ntwo\n", "the demo's file")
    return "the demo: arguments, log, a file, a function"


def settings_of(source: bytes) -> dict[str, Any]:
    lines = source.decode("utf-8", "replace").splitlines()
    return tomllib.loads("\n".join(line[4:] for line in lines if line.startswith("--# ")))


def run_fixture(box: Box | Command, path: Path, with_files: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    source = path.read_bytes()
    settings = settings_of(source)
    options = {name: settings[name] for name in ("fuel", "max_bytes", "max_files", "errors") if name in settings}
    with directory() as folder:
        for name, content in settings.get("files", {}).items():
            folder.mkdir(exist_ok=True)
            (folder / name).write_text(content)
        outcome = box.run(source, settings.get("arguments", []), folder if with_files else None, **options)
    return outcome, settings


def is_left_out(box: Box | Command, name: str) -> bool:
    return isinstance(box, Box) and name in LEFT_OUT


def fixtures(box: Box | Command, tests: Path) -> str:
    counts: dict[str, int] = {}
    for folder in FOLDERS:
        for path in sorted((tests / "scripts" / folder).glob("*.luau")):
            name = f"{folder}/{path.stem}"
            if is_left_out(box, name):
                continue
            outcome, _ = run_fixture(box, path, folder == "io")
            expect(outcome, json.loads(path.with_suffix(".json").read_bytes()), name)
            counts[folder] = counts.get(folder, 0) + 1
    expect(sorted(counts), sorted(FOLDERS), "a folder without fixtures")
    listed = ", ".join(f"{count} {folder}" for folder, count in counts.items())
    return f"fixtures with the same outcome as in the Rust host: {listed}"


def stopped(box: Box | Command, tests: Path) -> str:
    count = 0
    for path in sorted((tests / "scripts/stopped").glob("*.luau")):
        if is_left_out(box, f"stopped/{path.stem}"):
            continue
        outcome, settings = run_fixture(box, path, False)
        error = outcome.get("error", {"kind": "none", "message": ""})
        expect((outcome["logs"][:1], error["kind"]), (["started"], settings["error"]), f"stopped/{path.stem}: {error['message']}")
        expect(settings.get("message", "") in error["message"], True, f"stopped/{path.stem}: {error['message']}")
        count += 1
    return f"hostile scripts that end as they should: {count}"


def fuel(box: Box) -> str:
    for source in (
        "print('begun') while true do end",
        "print('begun') while true do pcall(function() while true do end end) end",
        "print('begun') pcall(function() while true do end end) return 'caught'",
        # A call to the host costs fuel too.
        "print('begun') while true do os.clock() end",
    ):
        outcome = box.run(source, fuel=50_000_000)
        expect(outcome["error"], {"kind": "fuel", "message": "the script used up its fuel (50000000)"}, source)
        expect(outcome["logs"], ["begun"], source)
    with directory() as folder:
        # One call that takes all the fuel, without coming by where bytes are written.
        source = "local large = ('x'):rep(1e7) local f = io.open('f', 'w') f:write('1') f:write('2') return #large:upper()"
        outcome = box.run(source, folder=folder, fuel=100_000_000)
        expect(outcome["files_touched"], [{"name": "f", "op": "write", "bytes": 1, "cut": True}], "a file that was cut")
    outcome = box.run("print(('x'):rep(2^20 + 1)) print(1)")
    expect((len(outcome["logs"]), outcome["truncated"]), (1, ["logs"]), "logs that are cut")
    expect(box.run("return ('x'):rep(2^20)")["error"]["kind"], "result", "a result that is too large")
    return "fuel ends endless loops, pcall can't catch it; logs and results have their limits"


def ways_out(box: Box | Command) -> str:
    script = """
        local answers = {}
        local function try(call, ...)
            local ok, message = pcall(call, ...)
            table.insert(answers, ok and "DONE" or message)
        end
        for _, mode in { "r", "w", "a", "r+", "w+", "a+" } do try(io.open, (...), mode) end
        try(os.remove, (...))
        try(io.list, (...))
        return answers
    """
    attempts = 0

    def refuse(path: str, message: str, message_of_list: str | None = None) -> None:
        nonlocal attempts
        result = box.run(script, [path], folder)["result"]
        expect(result, [message] * 7 + [message_of_list or message], f"a way out: {path}")
        attempts += len(result)

    with directory() as folder:
        folder.mkdir()
        outside = folder.parent
        (outside / "secret").write_text("secret")
        (outside / "home").mkdir()
        (outside / "home/secret").write_text("secret")
        (folder / "inside").write_text("inside")
        (folder / "link").symlink_to(outside / "secret")
        (folder / "relative").symlink_to("../secret")
        (folder / "to-inside").symlink_to("inside")
        (folder / "nowhere").symlink_to("../made")
        (folder / "home").symlink_to("../home")
        os.mkfifo(folder / "fifo")
        for name in ("link", "relative", "to-inside", "nowhere", "home", "home/secret"):
            refuse(name, f"{name}: symbolic links are not followed")
        refuse("fifo", "fifo: not a regular file", "fifo: Not a directory")
        for path in ("..", "../secret", "a/../../secret", "inside/.."):
            refuse(path, "path cannot contain '..' traversal")
        for path in ("/", "/etc/passwd", str(outside / "secret")):
            refuse(path, "path must be relative")
        refuse(".toolscript-tmp/x", "path cannot contain '.toolscript-tmp', a reserved name")
        listed = box.run("return io.list()", folder=folder)["result"]
        expect(listed, ["fifo", "home", "inside", "link", "nowhere", "relative", "to-inside"], "links are listed by name")
        expect((outside / "secret").read_text() + (outside / "home/secret").read_text(), "secretsecret", "what lies outside")
        expect(sorted(path.name for path in outside.iterdir()), ["files", "home", "secret"], "what lies outside")
        expect((folder / "inside").read_text(), "inside", "a file behind a link")
        try:
            box.run("return io.list()", folder=folder / "home")
            raise Wrong("a directory that is a link was opened")
        except OSError:
            pass
        try:
            box.run("return io.list()", folder="")
            raise Wrong("the working directory was opened, which nobody named")
        except OSError:
            pass
    return f"ways out that are refused: {attempts} calls through links, FIFOs, '..' and absolute paths"


def quotas(box: Box | Command) -> str:
    with directory() as folder:
        script = """
            local f = io.open("a", "w")
            f:write(("x"):rep(600)):flush()
            f:seek("set", 0)
            f:write(("y"):rep(400)):flush()
            return pcall(function() f:write("z"):flush() end)
        """
        outcome = box.run(script, folder=folder, max_bytes=1000)
        expected = [False, "script:6: I/O write limit exceeded (1000 bytes)"]
        expect(outcome["result"], expected, "bytes count when they are written again")
        expect(os.path.getsize(folder / "a"), 600, "what the quota let through")
    with directory() as folder:
        script = """
            local all = {}
            for number = 1, 64 do all[number] = io.open("f" .. number, "w") end
            local ok, message = pcall(io.open, "one-more", "w")
            all[7]:close()
            return ok, message, (pcall(io.open, "one-more", "w"))
        """
        result = box.run(script, folder=folder)["result"]
        expect(result, [False, "too many open files (max 64)", True], "handles")
        expect(len(list(folder.iterdir())), 65, "files that were made")
    with directory() as folder:
        result = box.run("return pcall(io.open, 'a/b/c/d', 'w')", folder=folder, max_files=2)["result"]
        expect(result, [False, "too many folders created (max 2)"], "folders")
        expect(list(folder.glob("*")), [], "nothing is made where not all can be")
    with directory() as folder:
        # Files that are open when there is no room for more names are told all the same.
        folder.mkdir()
        for number in range(1, 6):
            (folder / f"old{number}").write_text("old")
        script = """
            local open = {}
            for number = 1, 5 do open[number] = io.open("old" .. number, "r+") end
            local long, count = ("n"):rep(250), 0
            while pcall(function() io.open(long .. count, "w"):close() end) do count += 1 end
            for _, file in open do file:write("new"):close() end
            return select(2, pcall(io.open, long .. count, "w"))
        """
        outcome = box.run(script, folder=folder)
        message = "too many files touched (max 20000, with 1048576 bytes of names)"
        expect(outcome["result"], message, "names of files that are touched")
        told = [file for file in outcome["files_touched"] if file["name"].startswith("old")]
        expected = [{"name": f"old{number}", "op": "write", "bytes": 3} for number in range(1, 6)]
        expect(told, expected, "files that were open when names ran out")
    return "quotas: bytes, folders, 64 handles, names"


def functions(box: Box) -> str:
    def fail() -> None:
        raise RuntimeError("it is broken")

    callables = {
        "add": lambda first, second: first + second,
        "deep.echo": lambda value: value,
        "reverse": lambda data: data[::-1],
        "fail": fail,
        "odd": lambda: object(),
        "large": lambda: "x" * (8 << 20),
    }

    def message(call: str) -> Any:
        return box.run(f"return (select(2, pcall(function() {call} end)))", functions=callables)["result"]

    def result(source: str) -> Any:
        return box.run(source, functions=callables)["result"]

    expect(result("return sdk.add(40, 2)"), 42, "a function")
    echoed = result("return sdk.deep.echo{ a = { 1, 'ä\\0' }, b = json.null }")
    expect(echoed, {"a": [1, "ä\0"], "b": None}, "JSON there and back")
    expect(result("return sdk.reverse(buffer.fromstring('\\1\\2\\255')):byte(1, 3)"), [255, 2, 1], "bytes there and back")
    expect(message("sdk.fail()"), "script:1: fail: it is broken", "an exception")
    expect(message("sdk.odd()"), "script:1: odd: the result can't be written as JSON", "a result that is not JSON")
    expect(message("sdk.large()"), "script:1: the response is 8388610 bytes; at most 8388608 are allowed at once", "a large answer")
    expect(message("sdk.nope()"), "script:1: there is no function 'nope'", "a function that is not there")
    expect(message("sdk.docs('add')"), "script:1: add: there is no documentation", "a function that says nothing of itself")

    def told() -> None:
        """Tells a story.

        A long one."""

    functions = {"old.told": told}
    docs = box.run("return sdk.docs('old.told'), sdk.search('story'), #sdk.search('other')", functions=functions)["result"]
    expect(docs, ["Tells a story.\n\nA long one.", [{"name": "old.told", "summary": "Tells a story."}], 0], "documentation")
    several = box.run("return sdk.all{ { sdk.old.told }, { sdk.old.told } }", functions=functions)["result"]
    expect(several, [[], []], "several calls at once")
    outcome = box.run("sdk.fail()", functions=callables)
    expect(outcome["error"]["message"], "script:1: fail: it is broken", "an exception that nobody catches")
    script = "local n = 0 while pcall(sdk.add, 1, 2) do n += 1 end return n"
    expect(box.run(script, functions=callables, max_calls=3)["result"], 3, "calls are counted")
    expect(box.run("return sdk == nil, io == nil, os.remove == nil")["result"], [True] * 3, "nothing that was not given")
    for names in (["a b"], ["all"], ["a", "a.b"]):
        try:
            box.run("return 1", functions=dict.fromkeys(names, print))
            raise Wrong(f"such names of functions: {names}")
        except ValueError:
            pass

    def interrupt() -> None:
        raise KeyboardInterrupt

    try:
        box.run("pcall(sdk.interrupt) return 'caught'", functions={"interrupt": interrupt})
        raise Wrong("an interrupt did not end the run")
    except KeyboardInterrupt:
        pass
    return "functions: results, bytes, exceptions, limits, no sdk without them"


def wasi(command: Command) -> str:
    expect([name for name in command.imports() if not name.startswith("wasi:")], [], "imports that are not WASI's")
    expect(command.run("return io == nil, sdk == nil")["result"], [True, True], "nothing that was not given")
    try:
        command.run("x" * ((1 << 20) + 1))
        raise Wrong("a script that is too large was run")
    except ValueError as error:
        expect(str(error), "error: the script is larger than 1048576 bytes", "a script that is too large")
    expect(command.run("return #(...)", ["x" * 50_000])["result"], 50_000, "a long argument")
    try:
        command.run("return 1", ["x" * 60_000])
        raise Wrong("a command line that is too long was passed")
    except ValueError as error:
        expect(str(error), "the arguments are 60008 bytes; at most 57344 are allowed", "a command line that is too long")
    return f"the WASI flavour wants {len(command.imports())} interfaces of WASI's, and no others"


def open_descriptors() -> int:
    # Some are held by objects of the package that wait for the collector.
    gc.collect()
    return len(os.listdir("/dev/fd"))


def main() -> int:
    parser = argparse.ArgumentParser(description="Checks this example.")
    parser.add_argument("component", type=Path, help="the file that `toolscript component -o` writes")
    parser.add_argument("wasi", type=Path, help="the file that `toolscript component --wasi -o` writes")
    parser.add_argument("tests", type=Path, help="the folder `tests` of the repository")
    options = parser.parse_args()
    box = Box(options.component)
    box.run("return 1")
    command = Command(options.wasi)
    command.run("return 1")
    descriptors = open_descriptors()
    try:
        for name in LEFT_OUT:
            expect((options.tests / "scripts" / f"{name}.luau").is_file(), True, f"{name} is left out, and is not there")
        print(demo(options.component))
        print(fixtures(box, options.tests))
        print(stopped(box, options.tests))
        print(fuel(box))
        print(ways_out(box))
        print(quotas(box))
        print(functions(box))
        print(wasi(command))
        print(fixtures(command, options.tests))
        print(stopped(command, options.tests))
        print(ways_out(command))
        print(quotas(command))
        expect(open_descriptors(), descriptors, "descriptors that stayed open")
    except Wrong as wrong:
        print(f"WRONG: {wrong}", file=sys.stderr)
        return 1
    print(f"all is well; left out without WASI: {', '.join(LEFT_OUT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
