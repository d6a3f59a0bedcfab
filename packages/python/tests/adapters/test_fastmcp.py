"""``toolscript.fastmcp``: the sandbox provider, and code mode in a server."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fastmcp import Client, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.experimental.transforms.code_mode import CodeMode, SandboxProvider

from toolscript import Limits
from toolscript.fastmcp import ToolscriptCodeMode, ToolscriptSandboxProvider


def server(**options: Any) -> FastMCP[Any]:
    server: FastMCP[Any] = FastMCP("test", transforms=[ToolscriptCodeMode(**options)])

    @server.tool
    def add(a: int, b: int) -> dict[str, int]:
        """Adds numbers."""
        return {"sum": a + b}

    return server


async def execute(server: FastMCP[Any], code: str) -> Any:
    async with Client(server) as client:
        return (await client.call_tool("execute", {"code": code})).structured_content


def test_the_provider_passes_inputs_and_functions() -> None:
    provider: SandboxProvider = ToolscriptSandboxProvider()

    async def double(number: int) -> int:
        return number * 2

    inputs = {"names": ["a\n\"b\"", "\x01ü\\"], "count": 3}
    result = asyncio.run(
        provider.run("return { names, double(count), shout('x') }", inputs=inputs, external_functions={"double": double, "shout": str.upper})
    )
    assert result == [inputs["names"], 6, "X"]


def test_the_lines_of_the_script_keep_their_numbers() -> None:
    with pytest.raises(ToolError, match="runtime: script:2: no"):
        asyncio.run(ToolscriptSandboxProvider().run("\nerror('no')", inputs={"a": {"b": "c\nd"}}))


def test_names_that_luau_does_not_have_are_rejected() -> None:
    with pytest.raises(ValueError, match="the name 'a b' can't be a variable in Luau"):
        asyncio.run(ToolscriptSandboxProvider().run("return 1", inputs={"a b": 1}))


def test_limits_stop_a_script() -> None:
    with pytest.raises(ToolError, match="timeout: the script ran longer than 0.1 s"):
        asyncio.run(ToolscriptSandboxProvider(limits=Limits(timeout=0.1)).run("while true do end"))


def test_the_provider_works_with_the_code_mode_of_fastmcp() -> None:
    plain: FastMCP[Any] = FastMCP("plain", transforms=[CodeMode(sandbox_provider=ToolscriptSandboxProvider())])

    @plain.tool
    def greet(name: str) -> str:
        """Greets."""
        return f"hello, {name}"

    assert asyncio.run(execute(plain, "return call_tool('greet', { name = 'Ann' })")) == {"result": "hello, Ann"}


def test_scripts_call_tools_of_the_server() -> None:
    script = "return { total = call_tool('add', { a = 1, b = 2 }).sum + call_tool('add', { a = 3, b = 4 }).sum }"
    assert asyncio.run(execute(server(), script)) == {"total": 10}


def test_the_model_reads_about_luau() -> None:
    async def tools() -> dict[str, Any]:
        async with Client(server()) as client:
            return {tool.name: tool for tool in await client.list_tools()}

    found = asyncio.run(tools())
    assert sorted(found) == ["execute", "get_schema", "search"]
    assert found["execute"].description.startswith("A local function calls the tools of the server: call_tool(")
    assert "Luau is Lua 5.1 with" in found["execute"].description
    assert "Python" not in str(found["execute"])


def test_failed_calls_are_errors() -> None:
    script = "return { message = tostring(select(2, pcall(call_tool, 'missing', {}))) }"
    assert "Unknown tool: missing" in asyncio.run(execute(server(), script))["message"]
    with pytest.raises(ToolError, match="runtime: script:1: call_tool: "):
        asyncio.run(execute(server(), "call_tool('add', { a = 'x' })"))
    with pytest.raises(ToolError, match="Tool call limit exceeded"):
        asyncio.run(execute(server(max_tool_calls=1), "for i = 1, 2 do call_tool('add', { a = 1, b = i }) end"))
