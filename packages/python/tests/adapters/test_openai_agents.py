"""``toolscript.openai_agents``: the tool in agents."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from agents import Agent, RunContextWrapper, Runner, ToolCallOutputItem, function_tool, set_tracing_disabled
from agents.testing import ScriptedModel, assistant_message, function_call

from toolscript import Sandbox
from toolscript.openai_agents import create_script_tool

set_tracing_disabled(True)


@function_tool(failure_error_function=None)
def add(a: int, b: int = 1, c: int | None = None) -> int:
    """Adds numbers."""
    if a < 0:
        raise ValueError("a is negative")
    return a + b + (c or 0)


@function_tool
async def owner(context: RunContextWrapper[str], suffix: str) -> dict[str, str]:
    """Returns the owner."""
    return {"owner": context.context + suffix}


def run(arguments: dict[str, Any], **options: Any) -> dict[str, Any]:
    """Runs an agent whose model calls the tool, and returns the outcome of the script."""
    model = ScriptedModel([{"output": [function_call("execute_script", arguments, call_id="1")]}, {"output": [assistant_message("done")]}])
    agent = Agent[str]("assistant", model=model, tools=[create_script_tool(**options)])
    result = asyncio.run(Runner.run(agent, "Go.", context="Ann"))
    assert result.final_output == "done"
    (output,) = [item.output for item in result.new_items if isinstance(item, ToolCallOutputItem)]
    outcome: dict[str, Any] = json.loads(output)
    return outcome


def test_scripts_call_tools() -> None:
    script = "return { sdk.add(1), sdk.add({ a = 2, b = 3, c = 4 }), sdk.owner('!') }"
    assert run({"script": script}, tools=[add, owner]) == {"result": [2, 9, {"owner": "Ann!"}], "logs": [], "files_touched": []}
    description = create_script_tool(tools=[add]).description
    assert "\n- sdk.add(a: number, b: number?, c: number?): any: Adds numbers." in description


def test_errors() -> None:
    assert run({"script": "return tostring(select(2, pcall(sdk.add, -1)))"}, tools=[add])["result"] == "add: ValueError: a is negative"
    assert run({"script": "error('no', 0)"})["error"]["message"] == "no"
    assert run({"code": "return 1"})["error"] == {
        "kind": "invalid_argument",
        "message": "the arguments must be an object with the text script",
    }


def test_tools_that_need_approval_are_rejected() -> None:
    @function_tool(needs_approval=True)
    def pay() -> None:
        """Pays."""

    with pytest.raises(ValueError, match="the tool 'pay' has guardrails, needs approval or can be disabled; pass it to the agent instead"):
        create_script_tool(tools=[pay])


def test_files_of_the_sandbox(box: Sandbox) -> None:
    outcome = run({"script": "io.open('a.txt', 'w'):write('x'):close()"}, sandbox=box)
    assert outcome["files_touched"] == [{"name": "a.txt", "op": "write", "bytes": 1}]
