"""Executes the commands in the README of examples/embed-component, and compares their output with the page."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from expect import EXAMPLE, expect

# Commands that `run` has executed already.
INSTALLATION = ("toolscript component ", "pip install ")


def check_example(components: dict[str, Path]) -> str:
    readme = (EXAMPLE / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)```\n\n```text\n(.*?)```", readme, re.DOTALL | re.MULTILINE)
    expect(len(blocks), readme.count("```sh"), "commands that have an output")
    with tempfile.TemporaryDirectory() as temporary:
        for source in EXAMPLE.glob("*.py"):
            shutil.copy(source, temporary)
        for name, component in components.items():
            shutil.copy(component, Path(temporary, name))
        for commands, output in blocks:
            lines = [line for line in commands.splitlines() if not line.startswith(INSTALLATION)]
            script = "\n".join(re.sub(r"^python ", f"'{sys.executable}' ", line) for line in lines)
            done = subprocess.run(["sh", "-ec", script], cwd=temporary, capture_output=True, text=True, timeout=120, check=False)
            expect((done.stdout, done.stderr, done.returncode), (output, "", 0), f"output of {lines[-1]}")
    return f"example: the output of {len(blocks)} programs is that in the README"
