"""``toolscript.pydantic_ai``: the toolset in agents."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from pydantic_ai import Agent, FunctionToolset, ModelMessage, ModelResponse, ModelRetry, RunContext, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.toolsets import AbstractToolset

from toolscript import Sandbox
from toolscript.pydantic_ai import ToolscriptToolset


def run(script: str, toolset: AbstractToolset[Any], deps: Any = None, seen: list[Any] | None = None) -> dict[str, Any]:
    """Runs an agent whose model executes a script, and returns the outcome of the script."""
    return asyncio.run(arun(script, toolset, deps, [] if seen is None else seen))


async def arun(script: str, toolset: AbstractToolset[Any], deps: Any, seen: list[Any]) -> dict[str, Any]:
    outcomes: list[dict[str, Any]] = []

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.append(info.function_tools)
        if len(messages) == 1:
            return ModelResponse([ToolCallPart("execute_script", {"script": script})])
        part: Any = messages[-1].parts[0]
        outcomes.append(json.loads(part.content))
        return ModelResponse([TextPart("done")])

    agent = Agent(FunctionModel(answer), toolsets=[toolset], deps_type=type(deps))
    assert (await agent.run("Go.", deps=deps)).output == "done"
    return outcomes[0]


def toolset() -> FunctionToolset[Any]:
    tools = FunctionToolset[Any]()

    @tools.tool_plain
    def add(a: int, b: int = 1) -> int:
        """Adds numbers."""
        return a + b

    @tools.tool
    async def owner(ctx: RunContext[str], suffix: str) -> dict[str, str | None]:
        """Returns the owner."""
        return {"owner": f"{ctx.deps}{suffix}", "tool": ctx.tool_name}

    @tools.tool_plain
    def strict(number: int) -> int:
        """Rejects numbers."""
        raise ModelRetry(f"{number} is too small")

    return tools


def test_scripts_call_tools() -> None:
    seen: list[Any] = []
    script = "return { sdk.add(1), sdk.add({ a = 2, b = 3 }), sdk.owner('!') }"
    assert run(script, ToolscriptToolset(toolset()), "Ann", seen)["result"] == [2, 5, {"owner": "Ann!", "tool": "owner"}]
    (definition,) = seen[0]
    assert definition.name == "execute_script"
    assert "\n- sdk.add(a: number, b: number?): any: Adds numbers." in definition.description


def test_arguments_are_validated_and_retries_are_errors() -> None:
    script = "return { tostring(select(2, pcall(sdk.strict, 3))), (pcall(sdk.add, 'x')) }"
    assert run(script, ToolscriptToolset(toolset()))["result"] == ["strict: ModelRetry: 3 is too small", False]


def test_tools_that_need_approval_stay_visible() -> None:
    tools = toolset()

    @tools.tool_plain(requires_approval=True)
    def pay(amount: int) -> int:
        """Pays."""
        return amount

    seen: list[Any] = []
    assert run("return (pcall(function() return sdk.pay end))", ToolscriptToolset(tools), seen=seen)["result"] is False
    assert sorted(tool.name for tool in seen[0]) == ["execute_script", "pay"]


def test_each_run_has_its_own_tools() -> None:
    class PerRun(FunctionToolset[Any]):
        async def for_run(self, ctx: RunContext[Any]) -> AbstractToolset[Any]:
            tools = FunctionToolset[Any]()
            tools.add_function(lambda: f"of {ctx.deps}", name="whose")
            return tools

    shared = ToolscriptToolset(PerRun())

    async def both() -> list[Any]:
        return await asyncio.gather(*(arun("sleep(0.01) return sdk.whose()", shared, name, []) for name in ("Ann", "Bob")))

    assert [outcome["result"] for outcome in asyncio.run(both())] == ["of Ann", "of Bob"]


def test_a_failed_script_is_reported() -> None:
    outcome = run("error('no', 0)", ToolscriptToolset())
    assert outcome["error"]["kind"] == "runtime"
    assert outcome["error"]["message"] == "no"


def test_files_of_the_sandbox(box: Sandbox) -> None:
    outcome = run("io.open('a.txt', 'w'):write('x'):close()", ToolscriptToolset(sandbox=box))
    assert outcome["files_touched"] == [{"name": "a.txt", "op": "write", "bytes": 1}]
