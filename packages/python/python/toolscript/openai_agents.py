"""A tool for agents of the `OpenAI Agents SDK <https://pypi.org/project/openai-agents/>`_ whose scripts call other tools.

>>> from agents import Agent
>>> from toolscript.openai_agents import create_script_tool
>>> agent = Agent("assistant", tools=[create_script_tool(tools=[get_weather])])

The model sees one tool, ``execute_script``, and its scripts call ``sdk.get_weather{city = "Oslo"}``.
"""

from __future__ import annotations

import contextvars
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from . import _agents
from ._sandbox import Sandbox

try:
    from agents import FunctionTool
    from agents.tool_context import ToolContext
except ImportError as error:
    raise _agents.missing("openai-agents", "openai_agents", error) from error

_context: contextvars.ContextVar[ToolContext[Any]] = contextvars.ContextVar("toolscript_context")


def create_script_tool(sandbox: Sandbox | None = None, *, tools: Sequence[FunctionTool] = (), name: str = _agents.NAME) -> FunctionTool:
    """Returns a tool that runs scripts in a sandbox.

    :param sandbox: the sandbox, by default one without files.
    :param tools: tools that scripts call as ``sdk.name(...)``. They are added to the sandbox. The errors of a tool are those of its
        ``failure_error_function``: by default a text, and with ``None`` an error of the script.
    :raises ValueError: if a tool needs approval, has guardrails or can be disabled, which the calls of scripts would bypass.
    """
    sandbox = Sandbox() if sandbox is None else sandbox
    _agents.check_names(tool.name for tool in tools)
    for tool in tools:
        if tool.is_enabled is not True or tool.needs_approval or tool.tool_input_guardrails or tool.tool_output_guardrails:
            raise ValueError(f"the tool '{tool.name}' has guardrails, needs approval or can be disabled; pass it to the agent instead")
        sandbox.add(_agents.function(tool.name, tool.description, _optional(tool.params_json_schema), _caller(tool)))

    async def execute_script(context: ToolContext[Any], arguments: str) -> str:
        try:
            script = json.loads(arguments)["script"]
        except (ValueError, KeyError, TypeError):
            return json.dumps({"error": {"kind": "invalid_argument", "message": "the arguments must be an object with the text script"}})
        token = _context.set(context)
        try:
            return (await _agents.arun_script(sandbox, str(script))).text
        finally:
            _context.reset(token)

    return FunctionTool(name, sandbox.description(), _agents.PARAMETERS, execute_script)


def _caller(tool: FunctionTool) -> Callable[[dict[str, Any]], Awaitable[Any]]:
    async def call(arguments: dict[str, Any]) -> Any:
        outer, text = _context.get(), json.dumps(arguments)
        context = ToolContext(
            outer.context, outer.usage, tool_name=tool.name, tool_call_id=outer.tool_call_id, tool_arguments=text, agent=outer.agent
        )
        return await tool.on_invoke_tool(context, text)

    return call


def _optional(schema: dict[str, Any]) -> dict[str, Any]:
    """Returns a schema whose parameters with a default are optional. The strict mode of OpenAI requires all."""
    properties = schema.get("properties", {})
    has_default = {
        name for name, about in properties.items() if "default" in about or {"type": "null"} in about.get("anyOf", ())
    }
    return {**schema, "required": [name for name in schema.get("required", ()) if name not in has_default]}
