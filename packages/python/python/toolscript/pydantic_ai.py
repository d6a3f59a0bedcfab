"""A toolset for agents of `Pydantic AI <https://pypi.org/project/pydantic-ai/>`_ whose scripts call the tools of another toolset.

>>> from pydantic_ai import Agent, FunctionToolset
>>> from toolscript.pydantic_ai import ToolscriptToolset
>>> agent = Agent(model, toolsets=[ToolscriptToolset(FunctionToolset([get_weather]))])

The model sees one tool, ``execute_script``, and its scripts call ``sdk.get_weather{city = "Oslo"}``.
"""

from __future__ import annotations

import contextvars
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

from . import _agents
from ._errors import FunctionError
from ._sandbox import Sandbox

try:
    from pydantic_ai import RunContext, ToolDefinition
    from pydantic_ai.exceptions import ApprovalRequired, CallDeferred
    from pydantic_ai.tools import AgentDepsT
    from pydantic_ai.toolsets import FunctionToolset, ToolsetTool, WrapperToolset
    from pydantic_core import SchemaValidator, core_schema
except ImportError as error:
    raise _agents.missing("pydantic-ai", "pydantic_ai", error) from error

_run: contextvars.ContextVar[tuple[ToolscriptToolset[Any], RunContext[Any], dict[str, ToolsetTool[Any]]]] = contextvars.ContextVar(
    "toolscript_run"
)
_arguments = core_schema.typed_dict_schema({"script": core_schema.typed_dict_field(core_schema.str_schema())}, extra_behavior="forbid")


@dataclass
class ToolscriptToolset(WrapperToolset[AgentDepsT]):
    """Replaces the tools of a toolset by ``execute_script``, whose scripts call them as ``sdk.name(...)``.

    Tools that are external or need approval stay visible to the model, and scripts can't call them. ``ModelRetry`` is an error of the
    script.

    :param wrapped: the toolset, by default one without tools.
    :param sandbox: the sandbox, by default one without files. The tools are added to it, so use one sandbox for one agent.
    """

    wrapped: Any = field(default_factory=FunctionToolset)
    sandbox: Sandbox = field(default_factory=Sandbox)
    _known: dict[str, ToolDefinition] = field(default_factory=dict, init=False, repr=False)

    async def get_tools(self, ctx: RunContext[AgentDepsT]) -> dict[str, ToolsetTool[AgentDepsT]]:
        tools: dict[str, ToolsetTool[AgentDepsT]] = await self.wrapped.get_tools(ctx)
        shown = {name: tool for name, tool in tools.items() if tool.tool_def.kind != "function"}
        _agents.check_names(name for name in tools if name not in shown)
        for name, tool in tools.items():
            definition = tool.tool_def
            if name not in shown and self._known.get(name) != definition:
                self.sandbox.add(_agents.function(name, definition.description or "", definition.parameters_json_schema, _caller(name)))
                self._known[name] = definition
        definition = ToolDefinition(name=_agents.NAME, parameters_json_schema=_agents.PARAMETERS, description=self.sandbox.description())
        tool = _ScriptTool(
            toolset=self, tool_def=definition, max_retries=ctx.max_retries, args_validator=SchemaValidator(_arguments), tools=tools
        )
        return {**shown, _agents.NAME: tool}

    async def call_tool(self, name: str, tool_args: dict[str, Any], ctx: RunContext[AgentDepsT], tool: ToolsetTool[AgentDepsT]) -> Any:
        if not isinstance(tool, _ScriptTool):
            return await self.wrapped.call_tool(name, tool_args, ctx, tool)
        token = _run.set((self, ctx, tool.tools))
        try:
            return (await _agents.arun_script(self.sandbox, tool_args["script"])).text
        finally:
            _run.reset(token)


@dataclass(kw_only=True)
class _ScriptTool(ToolsetTool[AgentDepsT]):
    """``execute_script``, with the tools that scripts can call in this step."""

    tools: dict[str, ToolsetTool[AgentDepsT]]


def _caller(name: str) -> Callable[[dict[str, Any]], Awaitable[Any]]:
    async def call(arguments: dict[str, Any]) -> Any:
        toolset, ctx, tools = _run.get()
        tool = tools.get(name)
        if tool is None:
            raise FunctionError("the tool is not available now")
        ctx = replace(ctx, tool_name=name)
        validated = tool.args_validator.validate_python(arguments, context=ctx.validation_context)
        if tool.args_validator_func is not None:
            checked = tool.args_validator_func(ctx, **validated)
            if inspect.isawaitable(checked):
                await checked
        try:
            return await toolset.wrapped.call_tool(name, validated, ctx, tool)
        except (ApprovalRequired, CallDeferred) as error:
            raise FunctionError("the tool is executed later, and a script can't wait for it") from error

    return call
