"""The adapters for agent frameworks import their framework only when they are imported, and name the command that installs it."""

from __future__ import annotations

import subprocess
import sys

import pytest

FRAMEWORKS = {
    "deepagents": ("deepagents", "deepagents", "deepagents"),
    "langchain": ("langchain", "langchain", "langchain"),
    "pydantic_ai": ("pydantic_ai", "pydantic-ai", "pydantic-ai"),
    "openai_agents": ("agents", "openai-agents", "openai-agents"),
    "fastmcp": ("fastmcp", "fastmcp", "fastmcp"),
    "mcp": ("mcp", "mcp", "mcp"),
}


@pytest.mark.parametrize("adapter", FRAMEWORKS)
def test_a_missing_framework_is_named(adapter: str) -> None:
    module, framework, extra = FRAMEWORKS[adapter]
    program = f"import sys\nsys.modules[{module!r}] = None\ntry:\n  import toolscript.{adapter}\nexcept ImportError as error:\n  print(error)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (f"toolscript.{adapter} needs {framework}: pip install 'toolscript[{extra}]'\n", "")


def test_the_package_imports_no_framework() -> None:
    modules = [module for module, _, _ in FRAMEWORKS.values()]
    program = f"import sys, toolscript; print([name for name in {modules} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "[]\n"
