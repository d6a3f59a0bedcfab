"""Executes the examples of the README, and the example of the repository."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# The tests of the adapters execute the other examples.
README = (ROOT / "README.md").read_text().split("## Agent frameworks")[0]
BLOCKS = re.findall(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```)?", README, re.DOTALL)

SPECIFICATION = """
openapi: 3.1.0
info: { title: Shop, version: '1' }
servers: [{ url: 'https://shop.example' }]
paths: { /pets: { get: { operationId: listPets } } }
"""


@pytest.mark.parametrize(("program", "output"), BLOCKS, ids=range(len(BLOCKS)))
def test_an_example(tmp_path: Path, program: str, output: str) -> None:
    (tmp_path / "shop.yaml").write_text(SPECIFICATION)
    server = f"{sys.executable} {Path(__file__).parent / 'upstream_server.py'}"
    # The other server would be downloaded.
    program = program.replace("npx -y @modelcontextprotocol/server-everything", server)
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (output, "")


def test_the_example_of_the_repository(tmp_path: Path) -> None:
    # The check of the package copies it from examples/.
    example = ROOT / "embed-python"
    output = re.findall(r"```text\n(.*?)```", (example / "README.md").read_text(), re.DOTALL)
    done = subprocess.run([sys.executable, str(example / "demo.py")], cwd=tmp_path, capture_output=True, text=True)
    assert ([done.stdout], done.stderr) == (output, "")


def test_all_examples_are_found() -> None:
    assert len(BLOCKS) == README.count("```python") == 7
    assert sum(1 for _, output in BLOCKS if output) == 6
