"""Runs `demo.py` as a user would, also with the command in the README."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from expect import EXAMPLE, expect, temporary_io_dir

SCRIPT = """
    local name = ...
    print("for " .. name)
    io.open("notes/a.txt", "w"):write("one\\ntwo\\n"):close()
    local _, message = pcall(function() sdk.weather.today{ city = "Mars" } end)
    return { sdk.weather.today{ city = "Oslo" }.degrees, message, io.list("notes") }
"""


def check_demo(component: Path) -> str:
    with temporary_io_dir() as io_dir:
        script = io_dir.with_name("script.luau")
        script.write_text(SCRIPT)
        command = [sys.executable, str(EXAMPLE / "demo.py"), str(component), str(script), "Ada", "--io-dir", str(io_dir)]
        process = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        lines = process.stdout.splitlines()
        expect((process.returncode, len(lines)), (0, 1), f"exit code and lines of the demo: {process.stderr}")
        expected = {
            "result": [-3, "script:5: weather.today: no weather data for Mars", ["a.txt"]],
            "logs": ["for Ada"],
            "files_touched": [{"name": "notes/a.txt", "op": "write", "bytes": 8}],
        }
        expect(json.loads(lines[0]), expected, "outcome of the demo")
        expect((io_dir / "notes/a.txt").read_text(), "one\ntwo\n", "file that the demo wrote")

        readme = (EXAMPLE / "README.md").read_text(encoding="utf-8")
        shown = re.search(r"^python (demo\.py toolscript\.wasm .*)\n```\n\n```json\n(.*\n)```", readme, re.MULTILINE)
        paths = {"toolscript.wasm": str(component.resolve()), "./files": str(io_dir)}
        command = [sys.executable, *(paths.get(word, word) for word in shown[1].split())]
        process = subprocess.run(command, cwd=EXAMPLE, capture_output=True, text=True, timeout=60, check=False)
        expect(process.stdout, shown[2], f"output in the README: {process.stderr}")
    return "demo: arguments, log, file and function; the command in the README"
