"""The sandbox of toolscript for the code mode of `FastMCP <https://pypi.org/project/fastmcp/>`_ servers, in which models write Luau.

>>> from fastmcp import FastMCP
>>> from toolscript.fastmcp import ToolscriptCodeMode
>>> server = FastMCP("shop", transforms=[ToolscriptCodeMode()])

A script calls the tools of the server with ``call_tool("name", {city = "Oslo"})``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import _agents
from ._errors import RunRejected, ScriptError
from ._sandbox import Sandbox
from ._toolscript import Engine, Limits

try:
    from fastmcp.exceptions import ToolError
    from fastmcp.experimental.transforms.code_mode import CodeMode
    from fastmcp.server.transforms import GetToolNext
    from fastmcp.tools.base import Tool
    from fastmcp.utilities.versions import VersionSpec
except ImportError as error:
    raise _agents.missing("fastmcp", "fastmcp", error) from error

CALL_TOOL = (
    'A local function calls the tools of the server: call_tool("name", {parameter = value}) returns the result as a table or a string, and '
    "raises an error if the call fails. Return the final answer from one script.\n\n"
)


class ToolscriptSandboxProvider:
    """Runs the code of models in a sandbox, as the protocol ``SandboxProvider`` of FastMCP requires.

    Each run has a sandbox of its own without files. ``inputs`` and ``external_functions`` are local variables of the script.

    :param limits: the limits of each run. ``Limits()`` has the defaults.
    :param engine: the engine that runs the scripts. By default, all sandboxes of the process share one.
    """

    def __init__(self, *, limits: Limits | None = None, engine: Engine | None = None) -> None:
        self._limits = limits
        self._engine = engine

    @property
    def description(self) -> str:
        """A description of the tool that runs the code, for a model."""
        return CALL_TOOL + Sandbox(limits=self._limits, engine=self._engine).description()

    async def run(
        self, code: str, *, inputs: dict[str, Any] | None = None, external_functions: dict[str, Callable[..., Any]] | None = None
    ) -> Any:
        """Runs a script, and returns its result.

        :raises ToolError: if the script fails, or does not start.
        """
        functions: Mapping[str, Callable[..., Any]] = external_functions or {}
        sandbox = Sandbox(limits=self._limits, engine=self._engine, functions=functions)
        try:
            return (await sandbox.arun(_prelude(functions, inputs or {}) + code)).result
        except (ScriptError, RunRejected) as error:
            raise ToolError(str(error)) from error


class ToolscriptCodeMode(CodeMode):
    """Code mode in Luau: the discovery tools of FastMCP, and a tool that runs scripts.

    :param sandbox_provider: the sandbox, by default ``ToolscriptSandboxProvider()``.
    :param options: the other options of ``CodeMode``.
    """

    def __init__(self, sandbox_provider: ToolscriptSandboxProvider | None = None, **options: Any) -> None:
        provider = sandbox_provider or ToolscriptSandboxProvider()
        options.setdefault("execute_description", provider.description)
        super().__init__(sandbox_provider=provider, **options)

    async def transform_tools(self, tools: Sequence[Tool]) -> Sequence[Tool]:
        return [self._in_luau(tool) for tool in await super().transform_tools(tools)]

    async def get_tool(self, name: str, call_next: GetToolNext, *, version: VersionSpec | None = None) -> Tool | None:
        tool = await super().get_tool(name, call_next, version=version)
        return None if tool is None else self._in_luau(tool)

    def _in_luau(self, tool: Tool) -> Tool:
        if tool.name != self.execute_tool_name:
            return tool
        # The description of the parameter speaks of Python.
        properties = {**tool.parameters["properties"], "code": _agents.PARAMETERS["properties"]["script"]}
        return tool.model_copy(update={"parameters": {**tool.parameters, "properties": properties}})


def _prelude(functions: Mapping[str, Any], inputs: Mapping[str, Any]) -> str:
    """Returns statements that define local variables. They have no line break, so that the lines of the script keep their numbers."""
    for name in (*functions, *inputs):
        if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
            raise ValueError(f"the name '{name}' can't be a variable in Luau")
    values = {name: json.dumps(json.dumps(value, ensure_ascii=False), ensure_ascii=False) for name, value in inputs.items()}
    return "".join(
        [*(f"local {name} = sdk.{name}; " for name in functions), *(f"local {name} = json.decode({text}); " for name, text in values.items())]
    )
