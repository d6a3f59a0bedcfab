"""Executes the examples, and those of the README. Scripted models stand in for ``model``."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
SECTION = (ROOT / "README.md").read_text().split("## Agent frameworks")[1]
BLOCKS = dict(re.findall(r"### ([^\n]+)\n.*?(```python\n.*?```\n\n```text\n.*?```)", SECTION, re.DOTALL))

LANGCHAIN = """
import sys
sys.path.insert(0, {helpers!r})
from scripted import scripted, tool_call
model = scripted(tool_call({call}))
"""
MODELS = {
    "deepagents": LANGCHAIN.replace(
        "{call}", """"execute", command="luau -e 'io.open([[numbers.txt]], [[w]]):write([[1 2 3]]):close()'" """
    ),
    "LangChain": LANGCHAIN.replace("{call}", """"execute_script", script="return sdk.get_weather('Oslo').degrees" """),
    "Pydantic AI": """
import json
from pydantic_ai import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
def answer(messages, info):
    if len(messages) == 1:
        return ModelResponse([ToolCallPart("execute_script", {"script": "return sdk.get_weather('Oslo').degrees"})])
    return ModelResponse([TextPart(f"It has {json.loads(messages[-1].parts[0].content)['result']} degrees.")])
model = FunctionModel(answer)
""",
    "OpenAI Agents SDK": """
import json
from agents import set_tracing_disabled
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call
set_tracing_disabled(True)
def answer(call):
    return ModelStep(output=[assistant_message(f"It has {json.loads(call.input[-1]['output'])['result']} degrees.")])
script = {"script": "return sdk.get_weather('Oslo').degrees"}
model = ScriptedModel([{"output": [function_call("execute_script", script, call_id="1")]}, {"responder": answer}])
""",
    "FastMCP": "",
    "MCP SDK": "",
}


def execute(arguments: list[str], directory: Path) -> str:
    done = subprocess.run([sys.executable, *arguments], cwd=directory, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_an_example_prints_its_output(tmp_path: Path, example: Path) -> None:
    expected = example.read_text().split("\n# Output:\n")[1]
    printed = execute([str(example)], tmp_path)
    assert "".join(f"# {line}".rstrip() + "\n" for line in printed.splitlines()) == expected


@pytest.mark.parametrize("framework", BLOCKS)
def test_an_example_of_the_readme(tmp_path: Path, framework: str) -> None:
    block = re.fullmatch(r"```python\n(.*)```\n\n```text\n(.*)```", BLOCKS[framework], re.DOTALL)
    assert block is not None
    model = MODELS[framework].replace("{helpers!r}", repr(str(Path(__file__).parent)))
    assert execute(["-c", model + block[1]], tmp_path) == block[2]


def test_all_examples_are_found() -> None:
    assert len(EXAMPLES) == SECTION.count("```python") == SECTION.count("```text") == 6
    assert set(BLOCKS) == set(MODELS)
